// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals of the columns of rows in memory, on the host: those of a few batches of
/// neighbouring columns stay in registers from row to row.

#include <concepts>
#include <topos/kernels/detail/running_lanes.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

/// Rows in memory, each so many elements after the one before.
template <class T>
struct spaced_rows {
  T* at;
  index_t step;

  [[nodiscard]] spaced_rows from(index_t row) const { return {at + row * step, step}; }
};

/// Instead of rows to write: totals alone are wanted.
struct no_rows {
  [[nodiscard]] no_rows from(index_t /*row*/) const { return {}; }
};

/// Adds rows to running totals, which are of type Total.
template <class Op, class Total>
class running_columns {
 public:
  /// How many elements whole batches take past so many columns.
  template <class T>
  [[nodiscard]] static index_t past_columns(index_t columns) {
    return whole_batches<T>(columns) * batch<T> - columns;
  }

  /// Adds `count` rows of so many columns to totals and writes down what each comes to. Of totals
  /// and of each row whole batches are read and written: what is past the columns is there, and is
  /// the next row's, which is written later, or nobody's.
  template <class T, class To>
  static void add(const Op& op, Total* totals, spaced_rows<const T> from, To to, index_t count,
                  index_t columns) {
    if constexpr (runs_by_lanes<Op, Total, T>) {
      // The last columns of all rows first: they write over the first ones of the next.
      index_t left = whole_batches<T>(columns);
      const auto add_batches = [&]<int Count>(std::integral_constant<int, Count> /*n*/) {
        left -= Count;
        const index_t c = left * batch<T>;
        add_lanes<Count>(op, totals + c, moved(from, c), moved(to, c), count);
      };
      if (left % 2 != 0) add_batches(std::integral_constant<int, 1>{});
      if (left % 4 != 0) add_batches(std::integral_constant<int, 2>{});
      while (left != 0) add_batches(std::integral_constant<int, 4>{});
    } else {
      for (index_t i = 0; i < count; ++i) add_row(op, totals, from.from(i), to.from(i), columns);
    }
  }

 private:
  template <class T>
  static constexpr index_t batch = [] {
    if constexpr (runs_by_lanes<Op, Total, T>)
      return lane::width<Total>;
    else
      return index_t{1};
  }();
  template <class T>
  [[nodiscard]] static index_t whole_batches(index_t columns) {
    return (columns + batch<T> - 1) / batch<T>;
  }

  template <class T>
  static spaced_rows<T> moved(const spaced_rows<T>& rows, index_t columns) {
    return {rows.at + columns, rows.step};
  }
  static no_rows moved(const no_rows& /*rows*/, index_t /*columns*/) { return {}; }

  template <int Count, class T, class To>
  [[gnu::noinline]] static void add_lanes(const Op& op, Total* totals, spaced_rows<const T> from,
                                          To to, index_t count) {
    constexpr index_t width = batch<T>;
    lane::of<Total> total[Count];
    for (int k = 0; k < Count; ++k) total[k] = lane::load(totals + k * width);
    for (index_t i = 0; i < count; ++i, from = from.from(1), to = to.from(1)) {
      for (int k = 0; k < Count; ++k) {
        total[k] = op.lanes(total[k], totals_from<Total>(from.at + k * width));
        if constexpr (!std::same_as<To, no_rows>)
          store_totals<std::decay_t<decltype(*to.at)>, Total>(to.at + k * width, total[k]);
      }
    }
    for (int k = 0; k < Count; ++k) lane::store(totals + k * width, total[k]);
  }

  template <class T, class To>
  static void add_row(const Op& given, Total* totals, spaced_rows<const T> from, To to,
                      index_t columns) {
    const Op op = given;
    TOPOS_INDEPENDENT_STEPS
    for (index_t j = 0; j < columns; ++j) {
      totals[j] = op(totals[j], static_cast<Total>(from.at[j]));
      if constexpr (!std::same_as<To, no_rows>)
        to.at[j] = static_cast<std::decay_t<decltype(*to.at)>>(totals[j]);
    }
  }
};

}  // namespace topos::detail::host_rows
