// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sequences of mixed lengths, laid end to end: a batch without padding.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <topos/tensor/creation.hpp>
#include <vector>

namespace topos::nn {

/// Where each sequence of a batch begins: sequence s is the rows [offsets[s], offsets[s + 1]) of
/// whatever tensor holds the batch.
class sequences {
 public:
  /// From the number of rows of each sequence. Throws `invalid_argument` if one is negative or
  /// their sum does not fit 31 bits.
  explicit sequences(std::span<const index_t> lengths, device d = default_device::current(),
                     std::source_location where = std::source_location::current()) {
    std::vector<std::int32_t> starts{0};
    starts.reserve(lengths.size() + 1);
    for (const index_t length : lengths) {
      if (length < 0 || length > std::numeric_limits<std::int32_t>::max() - rows_) {
        throw invalid_argument(
            topos::detail::concat("sequences: a length of ", length, " after ", rows_, " rows"),
            where);
      }
      rows_ += length;
      longest_ = std::max(longest_, length);
      starts.push_back(static_cast<std::int32_t>(rows_));
    }
    const auto entries = static_cast<index_t>(starts.size());
    offsets_ = from_host<std::int32_t, 1>(starts, {entries}, d, where);
  }

  /// How many sequences there are.
  [[nodiscard]] index_t count() const noexcept { return offsets_.size() - 1; }
  /// How many rows they have in all.
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  /// The rows of the longest.
  [[nodiscard]] index_t longest() const noexcept { return longest_; }
  /// The first row of each, and the number of rows in all: (count + 1).
  [[nodiscard]] const tensor<std::int32_t, 1>& offsets() const noexcept { return offsets_; }

 private:
  index_t rows_ = 0;
  index_t longest_ = 0;
  tensor<std::int32_t, 1> offsets_;
};

}  // namespace topos::nn
