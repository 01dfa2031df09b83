// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows combined with each other, column by column, on the host.

#include <algorithm>
#include <topos/expr/detail/found_rows.hpp>
#include <topos/kernels/rows.hpp>
#include <utility>

namespace topos::detail {

/// Rows that a piece of a reduction down the columns combines.
inline constexpr index_t rows_of_piece = 128;

/// Columns of such a piece, at least, where there are so many: what lies in memory in one run.
inline constexpr index_t columns_of_piece = 1024;

/// Bytes of what columns are combined to, at most, where lanes are: the first cache. The longer its
/// runs, the nearer a piece comes to the memory's speed.
inline constexpr index_t bytes_of_columns = 1 << 15;

/// More lanes than any batch has.
inline constexpr index_t most_lanes = 64;

namespace host_rows {

/// Whether columns of T are combined by lanes, four rows at a time.
template <class Op, class Row, class T>
constexpr bool adds_column_lanes() {
  if constexpr (gains_lanes<Row>) {
    return adds_column_lanes<Op, memory_row<typename Row::value_type>, T>();
  } else if constexpr (Row::width != 0 && lane::element<T>) {
    return std::is_same_v<lanes_t<Row>, lane::of<T>> &&
           has_lanes<on_elements_t<Op>, lanes_t<Row>, lanes_t<Row>>;
  } else {
    return false;
  }
}

/// Whether rows that are short are combined in fours: the elements of each, and such rows as
/// columns.
template <class Op, class Rows>
constexpr bool combines_in_fours() {
  using given = std::decay_t<decltype(std::declval<const Rows&>().row(0))>;
  using T = typename given::value_type;
  using row = std::conditional_t<gains_lanes<given>, memory_row<T>, given>;
  using dense = std::decay_t<decltype(std::declval<const row&>().dense())>;
  return reduces_lanes<Op, row>() && reduces_lanes<Op, dense>() &&
         adds_column_lanes<Op, row, T>() && adds_column_lanes<Op, dense, T>();
}

/// Columns of a piece at most; those of several rows are then in the first cache.
template <class Op, class Rows, class T>
constexpr index_t most_columns() {
  if constexpr (combines_in_fours<Op, Rows>())
    return std::max<index_t>(columns_of_piece, bytes_of_columns / sizeof(T));
  else
    return columns_of_piece;
}

/// A batch of the combination of one row, or of four: always in this order.
template <class Op, class B>
[[nodiscard, gnu::always_inline]] inline auto joined(const Op& /*op*/, const B& a) {
  return a;
}
template <class Op, class B>
[[nodiscard, gnu::always_inline]] inline auto joined(const Op& op, const B& a, const B& b,
                                                     const B& c, const B& d) {
  return op.lanes(op.lanes(a, b), op.lanes(c, d));
}

// Some batches of columns, from j on, of rows that lie anywhere: what they are combined to stays in
// registers, and what will be loaded is fetched.
template <index_t... Batches, class Op, class T, class Count>
[[gnu::always_inline]] inline void add_batches(const Op& op, T* to, bool first,
                                               const T* const* rows, index_t n, index_t j,
                                               Count some) {
  constexpr index_t width = memory_row<T>::width;
  const auto fetch = [&](index_t i) {
    if (i < n) (__builtin_prefetch(rows[i] + j + Batches * width), ...);
  };
  lane::of<T> all[sizeof...(Batches)];
  const auto put = [&](index_t i, const auto& of_batch) {
    if (first && i == 0)
      ((all[Batches] = of_batch(Batches)), ...);
    else
      ((all[Batches] = op.lanes(all[Batches], of_batch(Batches))), ...);
  };
  const auto load = [&](index_t i, index_t batch) {
    return memory_row<T>{{rows[i]}}.lanes(j + batch * width, some);
  };
  for (index_t i = 0; i < rows_ahead; ++i) fetch(i);
  if (!first) ((all[Batches] = lane::load(to + Batches * width)), ...);
  index_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (index_t k = 0; k < 4; ++k) fetch(i + rows_ahead + k);
    put(i, [&](index_t b) {
      return joined(op, load(i, b), load(i + 1, b), load(i + 2, b), load(i + 3, b));
    });
  }
  for (; i < n; ++i) put(i, [&](index_t b) { return load(i, b); });
  (lane::store(to + Batches * width, all[Batches]), ...);
}

/// to[k] = column c + k of n rows in memory, in the order in which `column_reducer` combines them;
/// of those and to[k], if they are not the first.
template <class Op, class T>
void add_found(const Op& op, T* to, bool first, const T* const* rows, index_t n, index_t c,
               index_t past) {
  constexpr index_t width = memory_row<T>::width;
  for (; c + 4 * width <= past; c += 4 * width, to += 4 * width)
    add_batches<0, 1, 2, 3>(op, to, first, rows, n, c, lane::all{});
  for (; c + width <= past; c += width, to += width)
    add_batches<0>(op, to, first, rows, n, c, lane::all{});
  if (c < past) add_batches<0>(op, to, first, rows, n, c, past - c);
}

/// Combines columns of rows into an array, which has room for a whole batch after its end.
template <class Op, class Rows, class T>
class column_reducer {
 public:
  column_reducer(const Op& op, const Rows& rows, T* to) : op_(op), rows_(rows), to_(to) {}

  /// to[k] = column c + k of `count` rows, r, r + step, ...; of those and to[k], where more are
  /// added.
  void run(index_t r, index_t step, index_t count, index_t c, index_t past, bool more = false) {
    constexpr bool by_lanes = adds_column_lanes<Op, row_type, T>();
    if constexpr (by_lanes && are_named<Rows, T>) {
      if (step == 1 && rows_.can_name(r, count)) return add_named(!more, c, past, r, count);
    } else if constexpr (by_lanes && having_named<Rows>) {
      if (step == 1 && c == 0 && are_found(rows_, past, r, count)) {
        return use_found(rows_, r, r + count, past,
                         [&](const auto& rows, index_t first, index_t past_found) {
                           column_reducer<Op, std::decay_t<decltype(rows)>, T>(op_, rows, to_)
                               .run(first, 1, past_found - first, 0, past, more || first != r);
                         });
      }
    }
    const row_type row = rows_.row(r);
    if constexpr (lie_in_runs<Rows>) is_run_ = step == 1 && count <= rows_.run_from(r);
    // Four rows at a time: what is combined so far is read and written less often.
    const auto run_all = [&](const auto& how) {
      index_t i = 0;
      for (; i + 4 <= count; i += 4, r += 4 * step)
        add_rows<0, 1, 2, 3>(how, i == 0 && !more, c, past, r, step);
      for (; i < count; ++i, r += step) add_rows<0>(how, i == 0 && !more, c, past, r, step);
    };
    if constexpr (by_lanes && may_have_common_parts<row_type>) {
      if (have_common_parts(past - c, row)) return run_all(written_rows{});
    }
    if constexpr (by_lanes && gains_lanes<row_type>)
      run_all(written_rows{});
    else if (row.is_dense())
      run_all(dense_rows{});
    else if constexpr (!by_lanes || !may_lie_apart<row_type>)
      run_all(any_rows{});
    else if (is_level(row))
      run_all(level_rows{});
    else
      run_all(written_rows{});
  }

 private:
  using row_type = decltype(std::declval<const Rows&>().row(0));
  struct dense_rows {};
  struct level_rows {};
  struct written_rows {};
  struct any_rows {};

  // Adds rows r + Steps * step. They are this function's own: what it stores could change any
  // other, and steps of theirs would be read and looked at for each batch. They are put together
  // here: what is copied in larger parts than it was stored in has to reach the cache before.
  template <index_t... Steps>
  [[gnu::noinline]] void add_rows(dense_rows /*how*/, bool first, index_t c, index_t past,
                                  index_t r, index_t step) const {
    const row_type row = rows_.row(r);
    add(to_, first, c, past, row_below(row, r, Steps, step).dense()...);
  }
  template <index_t... Steps>
  [[gnu::noinline]] void add_rows(any_rows /*how*/, bool first, index_t c, index_t past, index_t r,
                                  index_t step) const {
    add(to_, first, c, past, rows_.row(r + Steps * step)...);
  }
  template <index_t... Steps>
  [[gnu::noinline]] void add_rows(level_rows /*how*/, bool first, index_t c, index_t past,
                                  index_t r, index_t step) const {
    level_block<row_type> memory[sizeof...(Steps)];
    const row_type row = rows_.row(r);
    add(to_, first, c, past, looped(row_below(row, r, Steps, step), c, memory[Steps])...);
  }
  // The row n steps below row r.
  [[nodiscard, gnu::always_inline]] row_type row_below(const row_type& row, index_t r, index_t n,
                                                       index_t step) const {
    if constexpr (lie_in_runs<Rows>) {
      if (is_run_) return rows_.below(row, n);
    }
    return rows_.row(r + n * step);
  }
  // Some columns at a time.
  template <index_t... Steps>
  [[gnu::noinline]] void add_rows(written_rows /*how*/, bool first, index_t c, index_t past,
                                  index_t r, index_t step) const {
    constexpr index_t most = 512;
    T values[sizeof...(Steps)][most];
    for (index_t j = c; j < past; j += most) {
      const index_t n = std::min(most, past - j);
      (assign(values[Steps], 1, rows_.row(r + Steps * step), j, j + n), ...);
      add(to_ + (j - c), first, 0, n, memory_row<T>{{values[Steps]}}...);
    }
  }

  // Rows in memory that indices name: where they are is found before.
  void add_named(bool first, index_t c, index_t past, index_t r, index_t count) const {
    constexpr index_t at_once = 32;
    const T* rows[at_once];
    for (index_t n = 0; count > 0; r += n, count -= n, first = false) {
      n = std::min(at_once, count);
      rows_.name(r, n, rows);
      add_found(op_, to_, first, rows, n, c, past);
    }
  }

  template <class Row, class... More>
  [[gnu::always_inline]] void add(T* to, bool first, index_t c, index_t past, const Row& row,
                                  const More&... more) const {
    if constexpr (adds_column_lanes<Op, Row, T>()) {
      index_t j = c;
      for (; j + Row::width <= past; j += Row::width, to += Row::width)
        put(first, to, joined(op_, lanes(row, j, lane::all{}), lanes(more, j, lane::all{})...));
      if (j < past)
        put(first, to, joined(op_, lanes(row, j, past - j), lanes(more, j, past - j)...));
    } else {
      add_values(to, first, c, past, row);
      (add_values(to, false, c, past, more), ...);
    }
  }

  template <class Row, class Count>
  [[nodiscard, gnu::always_inline]] static auto lanes(const Row& row, index_t j, Count count) {
    return by_itself<Row>(row.lanes(j, count));
  }

  template <class B>
  void put(bool first, T* to, const B& values) const {
    lane::store(to, first ? values : op_.lanes(lane::load(to), values));
  }

  template <class Row>
  void add_values(T* to, bool first, index_t c, index_t past, const Row& row) const {
    if (first) return assign(to, 1, row, c, past);
    if constexpr (std::is_same_v<Row, memory_row<T>>)
      return combine(to, row.elements.data + row.base + c, past - c);
    T values[columns_of_piece];
    assign(values, 1, row, c, past);
    combine(to, values, past - c);
  }
  void combine(T* to, const T* values, index_t count) const {
    const Op op = op_;
    TOPOS_INDEPENDENT_STEPS
    for (index_t k = 0; k < count; ++k) to[k] = op(to[k], values[k]);
  }

  const Op& op_;
  const Rows& rows_;
  T* to_;
  bool is_run_ = false;  // the rows lie equally far apart
};

}  // namespace host_rows
}  // namespace topos::detail
