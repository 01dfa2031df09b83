// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of two places of a row at once, where elements of another row of the expression cost less
/// so.

#include <limits>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>

namespace topos::detail {

/// The lanes from j and from j + distance on, each made by itself.
template <class Row>
struct row_pairs {
  Row row;
  index_t distance;

  /// Where it ends: nowhere.
  [[nodiscard]] index_t end() const { return std::numeric_limits<index_t>::max(); }
  [[nodiscard, gnu::always_inline]] auto operator()(index_t j) const {
    using batch = decltype(row.lanes(j, lane::all{}));
    lane::pairs<batch> result;
    for (int b = 0; b < lane::pair_batches; ++b) {
      result.at[b] = row.lanes(j + b * Row::width, lane::all{});
      result.at[lane::pair_batches + b] = row.lanes(j + distance + b * Row::width, lane::all{});
    }
    return result;
  }
};

}  // namespace topos::detail
