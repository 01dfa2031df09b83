// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of few columns combined with each other, on the host.

#include <algorithm>
#include <topos/kernels/rows.hpp>
#include <topos/kernels/short_rows.hpp>

namespace topos::detail::host_rows {

/// Rows of fewer columns are narrow: of wider ones the column reducer is as fast.
inline constexpr index_t narrow_columns = 24;

/// Combines rows of few columns as halves of one long row: what is left of some of them in half as
/// many, until one is left. So lanes are full, and the error of a sum grows with the logarithm of
/// their number.
template <class Op, class Rows, class T>
class narrow_reducer {
 public:
  /// Whether it takes so many rows, one after another, of so many columns.
  [[nodiscard]] static bool takes(index_t count, index_t columns) {
    return count >= least_rows && columns < narrow_columns;
  }

  narrow_reducer(const Op& op, const Rows& rows, const short_rows& together, index_t columns)
      : op_(op), rows_(rows), together_(together), columns_(columns) {}

  /// to[k] = column k of `count` rows from r on.
  void run(index_t r, index_t count, T* to) const {
    T made[at_once * narrow_columns];
    for (index_t i = 0; i < count; i += at_once) {
      const index_t n = std::min(at_once, count - i);
      compute(made, r + i, r + i + n);
      fold(made, n);
      if (i == 0)
        std::copy_n(made, columns_, to);
      else
        combine(to, made, columns_);
    }
  }

 private:
  static constexpr index_t at_once = 64;
  static constexpr index_t least_rows = 16;

  void compute(T* to, index_t r, index_t past) const {
    if (together_.any()) {
      together_.for_each(rows_, r, past, [&](const auto& row, flat_block& block) {
        assign(to + (block.first - r) * columns_, 1, row, 0, block.size());
      });
    } else {
      for (; r < past; ++r, to += columns_) assign(to, 1, rows_.row(r), 0, columns_);
    }
  }

  void fold(T* values, index_t rows) const {
    while (rows > 1) {
      const index_t left = (rows + 1) / 2;
      combine(values, values + left * columns_, (rows - left) * columns_);
      rows = left;
    }
  }

  void combine(T* to, const T* from, index_t count) const {
    TOPOS_INDEPENDENT_STEPS
    for (index_t k = 0; k < count; ++k) to[k] = op_(to[k], from[k]);
  }

  const Op& op_;
  const Rows& rows_;
  const short_rows& together_;
  index_t columns_;
};

}  // namespace topos::detail::host_rows
