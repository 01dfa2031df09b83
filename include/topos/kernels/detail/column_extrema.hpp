// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the first extrema lie down columns, on the host.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/first_of_two.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>

namespace topos::detail::host_rows {

/// What is found down the columns of a piece.
template <class Before, class T>
class column_extrema {
 public:
  /// Of a piece of a kernel.
  template <class Kernel>
  column_extrema(const Kernel& kernel, const reduction_pieces::down& at) : of_(at.of) {
    std::fill_n(numbers_, of_.past_c - of_.c, 0);
    const auto row_of = [&](index_t n) { return kernel.row_of(at.group, n, at.t); };
    assign(best_, 1, kernel.rows.row(row_of(of_.r)), of_.c, of_.past_c);
    if (kernel.short_on_host.any() && kernel.inner == 1) {
      compare_short(kernel, row_of(0));
      return;
    }
    T values[columns_of_piece];
    for (index_t n = of_.r + 1; n < of_.past_r; ++n) {
      assign(values, 1, kernel.rows.row(row_of(n)), of_.c, of_.past_c);
      compare(values, n);
    }
  }

  [[nodiscard]] numbered<T> operator[](index_t j) const {
    return {best_[j - of_.c], of_.r + numbers_[j - of_.c]};
  }

 private:
  template <class Kernel>
  void compare_short(const Kernel& kernel, index_t group) {
    const auto compare_block = [&](const auto& row, flat_block& block) {
      auto* const all = block.take<T>();
      assign(all, 1, row, 0, block.size());
      for (index_t i = 0; i < block.rows; ++i)
        compare(all + i * block.columns, block.first - group + i);
    };
    kernel.short_on_host.for_each(kernel.rows, group + of_.r + 1, group + of_.past_r,
                                  compare_block);
  }

  void compare(const T* with, index_t n) {
    const auto number = static_cast<std::int32_t>(n - of_.r);
    const index_t count = of_.past_c - of_.c;
    TOPOS_INDEPENDENT_STEPS
    for (index_t j = 0; j < count; ++j) {
      const bool better = Before{}(with[j], best_[j]);
      best_[j] = better ? with[j] : best_[j];
      numbers_[j] = better ? number : numbers_[j];
    }
  }

  reduction_pieces::range of_;
  T best_[columns_of_piece];
  std::int32_t numbers_[columns_of_piece];
};

}  // namespace topos::detail::host_rows
