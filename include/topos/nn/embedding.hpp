// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A table of vectors, looked up by index.

#include <cstdint>
#include <topos/expr/gather.hpp>
#include <topos/nn/parameter.hpp>

namespace topos::nn {

/// A vector for each index.
class embedding {
 public:
  /// Without vectors, until it is loaded.
  embedding(index_t count, index_t columns, device d = default_device::current())
      : weight_({count, columns}, d) {}

  /// The vectors of `indices`, (m), as an expression (m, columns): it fuses with what follows.
  /// Indices outside are clamped, as those of `take`. Throws `device_mismatch`, and
  /// `invalid_argument` before it is loaded.
  [[nodiscard]] auto operator()(
      const tensor<std::int32_t, 1>& indices,
      std::source_location where = std::source_location::current()) const {
    return take(weight_.value(where), indices, 0, where);
  }

  /// The vector of one index, without a copy. Throws `out_of_range`, and `invalid_argument` before
  /// it is loaded.
  [[nodiscard]] tensor<float, 1> row(
      index_t index, std::source_location where = std::source_location::current()) const {
    return weight_.value(where).row(index, where);
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("weight", weight_);
  }

 private:
  parameter<2> weight_;
};

}  // namespace topos::nn
