// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows that are softened column by column, on the host: exp(x - largest) / sum of those, or the
/// logarithm of that.

#include <algorithm>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>

namespace topos::detail::host_rows {

/// Rows of floating-point numbers in a cache: whole batches, of which the last one may hold more
/// than their columns.
template <class T>
class softened_strip {
 public:
  static constexpr index_t width = lane::width<T>;

  /// How far apart rows of so many columns lie.
  [[nodiscard]] static index_t pitch_of(index_t columns) {
    return (columns + width - 1) / width * width;
  }

  softened_strip(T* data, index_t rows, index_t columns)
      : data_(data), rows_(rows), columns_(columns), pitch_(pitch_of(columns)) {}

  [[nodiscard]] index_t columns() const { return columns_; }
  [[nodiscard]] T* at(index_t r) const { return data_ + r * pitch_; }
  [[nodiscard]] memory_row<T> row(index_t r) const { return {{data_}, r * pitch_}; }

  /// Fills what the rows hold beyond their columns: it is computed with, and left out.
  void fill_rest() const {
    for (index_t r = 0; r < rows_; ++r) std::fill(at(r) + columns_, at(r) + pitch_, T(0));
  }

  /// Softens its columns, `columns_of_piece` at most: `put(function)` has function(lanes, column)
  /// make results of the lanes of each row.
  template <class Put>
  void soften(bool log, const Put& put) const {
    room most;
    room all;  // of each column
    column_reducer(maximum_op{}, *this, most.values).run(0, 1, rows_, 0, pitch_);
    const auto shifted = [&](const auto& x, index_t k) { return x - lane::load(most.values + k); };
    if (log) {
      sum(0, rows_, all, [&](const auto& x, index_t k) { return lane::exp(shifted(x, k)); });
      for (index_t k = 0; k < pitch_; ++k) all.values[k] = Kokkos::log(all.values[k]);
      put([&](const auto& x, index_t k) { return shifted(x, k) - lane::load(all.values + k); });
    } else {
      change([&](const auto& x, index_t k) { return lane::exp(shifted(x, k)); });
      sum(0, rows_, all, [](const auto& x, index_t /*k*/) { return x; });
      for (index_t k = 0; k < pitch_; ++k) all.values[k] = T(1) / all.values[k];
      put([&](const auto& x, index_t k) { return x * lane::load(all.values + k); });
    }
  }

  /// What a function makes of the lanes, in their place.
  template <class Function>
  [[gnu::noinline, gnu::flatten]] void change(const Function& function) const {
    for (index_t r = 0; r < rows_; ++r) {
      T* const x = at(r);
      for (index_t k = 0; k < pitch_; k += width)
        lane::store(x + k, function(lane::load(x + k), k));
    }
  }

 private:
  struct room {
    T values[columns_of_piece + most_lanes];
  };

  // Columns of what a function makes of rows [r, past), by halves of whole pieces of a reduction.
  template <class Function>
  [[gnu::noinline]] void sum(index_t r, index_t past, room& to, const Function& function) const {
    if (past - r <= rows_of_piece) return sum_piece(r, past, to, function);
    const index_t pieces = (past - r + rows_of_piece - 1) / rows_of_piece;
    const index_t middle = r + (pieces + 1) / 2 * rows_of_piece;
    room others;
    sum(r, middle, to, function);
    sum(middle, past, others, function);
    for (index_t k = 0; k < pitch_; ++k) to.values[k] += others.values[k];
  }
  template <class Function>
  [[gnu::noinline, gnu::flatten]] void sum_piece(index_t r, index_t past, room& to,
                                                 const Function& function) const {
    std::fill_n(to.values, pitch_, T(0));
    const auto add = [&](const auto&... rows_at) {
      for (index_t k = 0; k < pitch_; k += width)
        lane::store(to.values + k,
                    lane::load(to.values + k) + in_pairs(function(lane::load(rows_at + k), k)...));
    };
    for (; r + 4 <= past; r += 4) add(at(r), at(r + 1), at(r + 2), at(r + 3));
    for (; r < past; ++r) add(at(r));
  }
  template <class B>
  static B in_pairs(const B& a) {
    return a;
  }
  template <class B>
  static B in_pairs(const B& a, const B& b, const B& c, const B& d) {
    return (a + b) + (c + d);
  }

  T* data_;
  index_t rows_;
  index_t columns_;
  index_t pitch_;
};

}  // namespace topos::detail::host_rows
