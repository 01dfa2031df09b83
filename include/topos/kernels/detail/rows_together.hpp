// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions of rows that are too short for several chains of operations: the host combines some
/// of them at once, each in the order that it has alone, so that one does not wait for another.

#include <algorithm>
#include <topos/kernels/rows.hpp>

namespace topos::detail::host_rows {

/// Rows that are combined at once.
inline constexpr int rows_together = 4;

// Of a whole batch at least. Inlined, so that the rows stay in registers: to write them to memory
// and read them again takes longer than a short row itself.
template <class Op, class Row>
[[gnu::always_inline]] inline void reduce_together(
    const Op& op, const Row (&rows)[rows_together], index_t count,
    typename Row::value_type (&results)[rows_together]) {
  const auto at = [&](int r, index_t j, auto some) {
    return by_itself<Row>(rows[r].lanes(j, some));
  };
  lanes_t<Row> totals[rows_together];
  for (int r = 0; r < rows_together; ++r) totals[r] = at(r, 0, lane::all{});
  index_t j = Row::width;
  for (; j + Row::width <= count; j += Row::width) {
    for (int r = 0; r < rows_together; ++r) totals[r] = op.lanes(totals[r], at(r, j, lane::all{}));
  }
  if (j < count) {
    for (int r = 0; r < rows_together; ++r)
      totals[r] = blended(count - j, op.lanes(totals[r], at(r, j, count - j)), totals[r]);
  }
  for (int r = 0; r < rows_together; ++r) results[r] = join_lanes<Row>(op, totals[r]);
}

// The rows from r on that are combined some at a time; says where the others begin.
template <class Op, class RowOf, class Use>
[[gnu::always_inline]] inline index_t reduce_by_some(const Op& op, const RowOf& row_at, index_t r,
                                                     index_t past, index_t columns,
                                                     const Use& use) {
  using row = std::decay_t<decltype(row_at(r))>;
  if constexpr (reduces_lanes<Op, row>()) {
    if (columns < std::max(short_row, row::width) || columns >= chained_row<row>) return r;
    for (; r + rows_together <= past; r += rows_together) {
      static_assert(rows_together == 4);
      const row some[] = {row_at(r), row_at(r + 1), row_at(r + 2), row_at(r + 3)};
      typename row::value_type values[rows_together];
      reduce_together(op, some, columns, values);
      for (int i = 0; i < rows_together; ++i) use(r + i, values[i]);
    }
  }
  return r;
}

// The same of all rows.
template <class Op, class RowOf, class Use>
[[gnu::always_inline]] inline void reduce_all(const Op& op, const RowOf& row_at, index_t r,
                                              index_t past, index_t columns, const Use& use) {
  r = reduce_by_some(op, row_at, r, past, columns, use);
  for (; r < past; ++r) use(r, reduce_rest(op, row_at(r), 0, columns));
}

// A dense row whose floats and integers are not fetched ahead, which takes short rows longer: where
// these have several axes, most are loaded again and again, and are in a cache.
template <class Row>
[[nodiscard]] const Row& unfetched(const Row& row) {
  return row;
}
template <class T>
[[nodiscard]] auto unfetched(const dense_row<fetched_elements<T>>& row) {
  return memory_row<T>{{row.elements.data}, row.base};
}
template <std::size_t... I, class Op, class... Rows>
[[nodiscard, gnu::always_inline]] inline auto unfetched(
    const operation_row_of<std::index_sequence<I...>, Op, Rows...>& row) {
  using plain =
      operation_row<Op, std::decay_t<decltype(unfetched(std::declval<const Rows&>()))>...>;
  return plain{{unfetched(static_cast<const part<I, Rows>&>(row).value)}..., row.op};
}

/// Calls `use(r, value)` with what each of the rows [r, past), of so many columns, is combined to.
template <class Op, class Rows, class Use>
void reduce_each(const Op& op, const Rows& rows, index_t r, index_t past, index_t columns,
                 const Use& use) {
  if (r >= past) return;
  const auto first = rows.row(r);
  using row = std::decay_t<decltype(first)>;
  const bool is_dense = first.is_dense();
  const bool as_it_is =
      !gains_lanes<row> && (is_dense || (!widens_as_it_reduces<Op, row> && is_level(first)));
  if (have_common_parts(columns, first) || !as_it_is) {
    for (; r < past; ++r) use(r, reduce(op, rows.row(r), 0, columns));
  } else if (is_dense) {
    reduce_all(
        op, [&](index_t i) { return rows.row(i).dense(); }, r, past, columns, use);
  } else if constexpr (may_lie_apart<row> && reduces_lanes<Op, row>()) {
    level_block<row> memory[rows_together];
    reduce_all(
        op, [&](index_t i) { return looped(rows.row(i), 0, memory[i % rows_together]); }, r, past,
        columns, use);
  } else {
    reduce_all(
        op, [&](index_t i) { return rows.row(i); }, r, past, columns, use);
  }
}

/// The same of dense rows of a run, of which nothing is common: each is found from the first,
/// which is row r. By its number it would take as long as to combine a short one.
template <class Op, class Rows, class Row, class Use>
[[gnu::noinline]] void reduce_run(const Op& op, const Rows& rows, Row first, index_t r,
                                  index_t past, index_t columns, const Use& use) {
  const index_t from = r;
  const auto row_at = [&](index_t i) { return unfetched(rows.below(first, i - from).dense()); };
  reduce_all(op, row_at, r, past, columns, use);
}

/// Whether rows are short, or some of what they are of is in a cache, and runs of them are long
/// enough to begin one by one.
template <class Rows>
[[nodiscard]] bool are_combined_by_runs(const Rows& rows, index_t columns) {
  const bool in_cache = columns < chained_row<row_of<Rows>> || rows.repeat_in_runs();
  return in_cache && rows.run_from(0) >= 2 * rows_together;
}

/// Columns [c, past_c) of rows [r, past_r), combined by halves.
template <class Op, class Rows>
auto combine_rows(const Op& op, const Rows& rows, index_t r, index_t past_r, index_t c,
                  index_t past_c) {
  using T = typename std::decay_t<decltype(rows.row(r))>::value_type;
  if (past_r - r == 1) return T(reduce(op, rows.row(r), c, past_c));
  const index_t middle = r + (past_r - r + 1) / 2;
  const T left = combine_rows(op, rows, r, middle, c, past_c);
  return T(op(left, combine_rows(op, rows, middle, past_r, c, past_c)));
}

}  // namespace topos::detail::host_rows
