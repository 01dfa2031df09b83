// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows written to memory by one thread of the host: by the loops for what they are of, what is
/// common in them once, and what costs less by two with its partners.

#include <algorithm>
#include <topos/kernels/detail/common_subexpressions.hpp>
#include <topos/kernels/detail/lane_parts.hpp>
#include <topos/kernels/detail/row_loops.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

// A row of which parts are written down for functions in it to have lanes.
template <class T, class Row, class Past>
[[gnu::noinline]] void assign_by_parts(T* out, index_t step, const Row& row, index_t first,
                                       index_t last, Past past_caches) {
  with_lane_parts(row, first, last, [&](const auto& made, index_t from, index_t past) {
    assign_itself(out + (from - first) * step, step, made, from, past, past_caches);
  });
}

// To elements that do not lie side by side: operations by lanes, some at a time.
template <class T, class Row>
void assign_apart(T* out, index_t step, const Row& row, index_t first, index_t last) {
  if constexpr (has_row_lanes<Row> && !(has_elements<Row> && Row::is_quick)) {
    constexpr index_t most = 256;
    T values[most];
    for (; first < last; first += most, out += most * step) {
      const index_t count = std::min(most, last - first);
      assign_itself(values, 1, row, first, first + count, std::false_type{});
      put_apart(out, step, values, count);
    }
  } else {
    assign_each(out, step, row, first, last);
  }
}

// A row as it is.
template <class T, class Row, class Past>
void assign_itself(T* out, index_t step, const Row& row, index_t first, index_t last,
                   Past past_caches) {
  if constexpr (gains_lanes<Row>)
    assign_by_parts(out, step, row, first, last, past_caches);
  else if (step != 1)
    assign_apart(out, step, row, first, last);
  else if (row.is_dense())
    assign_dense_row(out, row.dense(), first, last, past_caches);
  else if constexpr (is_strided<Row> || may_lie_apart<Row>)
    assign_levelled(out, row, first, last, past_caches);
  else
    assign_dense(out, row, first, last);
}

/// Where a row is to be written: the element of the first column, and how far the next are from it;
/// past the caches where that is wanted and can be.
template <class T, class Row, class Past>
struct row_target {
  T* out;
  index_t step;
  const Row& row;
  Past past_caches;

  void assign(index_t first, index_t last) const {
    assign_itself(out, step, row, first, last, past_caches);
  }
  // With what is kept of it; goes on to the columns after those.
  template <class Parts>
  void assign_with(Parts& parts, index_t first, index_t last) {
    assign_itself(out, step, parts.with_kept(row), first, last, past_caches);
    out += (last - first) * step;
  }
};
template <class T, class Row, class Past>
[[nodiscard]] row_target<T, Row, Past> to_row(T* out, index_t step, const Row& row,
                                              Past past_caches) {
  return {out, step, row, past_caches};
}

template <class Parts, class... Targets>
[[gnu::noinline]] void assign_with_common(Parts& parts, index_t first, index_t last,
                                          Targets... targets) {
  for (; first < last; first += Parts::columns) {
    const index_t past = std::min(first + Parts::columns, last);
    parts.go_to(first, past);
    (targets.assign_with(parts, first, past), ...);
  }
}

/// Columns [first, last) of rows. What is common in them is computed once.
template <class... T, class... Row, class... Past>
void assign_rows(index_t first, index_t last, const row_target<T, Row, Past>&... targets) {
  if constexpr (may_have_common_parts<Row...>) {
    common_parts<Row...> parts(last - first, targets.row...);
    if (parts.pay()) return assign_with_common(parts, first, last, targets...);
  }
  (targets.assign(first, last), ...);
}
template <class T, class Row, class Past>
void assign_row(T* out, index_t step, const Row& row, index_t first, index_t last,
                Past past_caches) {
  assign_rows(first, last, to_row(out, step, row, past_caches));
}

template <class T, class Row>
inline void assign(T* out, index_t step, const Row& row, index_t first, index_t last) {
  assign_row(out, step, row, first, last, std::false_type{});
}

/// Whether elements that cost less together lie side by side: the batches from one place end where
/// the other's begin.
template <class Row>
[[nodiscard]] constexpr bool are_neighbours(index_t distance) {
  return distance == lane::pair_batches * Row::width;
}

// Pairs of whole batches; says where the others begin.
template <class T, class Row>
[[gnu::noinline]] index_t assign_pairs(T* out, T* partners, const Row& row, index_t first,
                                       index_t last, index_t distance, bool past_caches) {
  constexpr int batches = lane::pair_batches;
  constexpr index_t length = batches * Row::width;
  const index_t step = are_neighbours<Row>(distance) ? 2 * length : length;
  const auto pairs = row.paired(distance);
  past_caches = past_caches && can_stream(out) && can_stream(partners);
  last = std::min(last, pairs.end());
  index_t j = first;
  for (; j + step <= last; j += step) {
    const auto both = pairs(j);
    for (int b = 0; b < 2 * batches; ++b) {
      T* const to = b < batches ? out + b * Row::width : partners + (b - batches) * Row::width;
      if (past_caches)
        stream(to + (j - first), both.at[b]);
      else
        lane::store(to + (j - first), both.at[b]);
    }
  }
  return j;
}

/// Where a dense row is to be written: the element of the first column, and the partner of that,
/// `distance` further on in the row; past the caches where that is wanted and can be: a fence has
/// to follow.
template <class T, class Row>
struct paired_target {
  T* out;
  T* partners;
  const Row& row;
  bool past_caches;

  void assign(index_t first, index_t last, index_t size, index_t distance) const {
    const bool apart = !are_neighbours<Row>(distance);
    const index_t past = apart ? std::min(last + distance, size) : 0;
    const index_t done = assign_pairs(out, partners, row, first, apart ? past - distance : last,
                                      distance, past_caches);
    if (done < last) assign_dense_row(out + (done - first), row, done, last, past_caches);
    if (done + distance < past)
      assign_dense_row(partners + (done - first), row, done + distance, past, past_caches);
  }
  // With what is kept of it; goes on to the columns after those.
  template <class Parts>
  void assign_with(Parts& parts, index_t first, index_t last) {
    assign_row(out, 1, parts.with_kept(row), first, last, past_caches);
    out += last - first;
  }
  template <class Parts>
  void assign_partners_with(Parts& parts, index_t first, index_t last) {
    assign_row(partners, 1, parts.with_kept(row), first, last, past_caches);
    partners += last - first;
  }
};
template <class T, class Row>
[[nodiscard]] paired_target<T, Row> to_pairs(T* out, T* partners, const Row& row,
                                             bool past_caches) {
  return {out, partners, row, past_caches};
}

// What is common in rows first, some columns and their partners at a time: those of `others`, or
// among the columns themselves.
template <class Parts, class... Targets>
[[gnu::noinline]] void assign_paired_with_common(Parts& parts, Parts& others, index_t first,
                                                 index_t last, index_t size, index_t distance,
                                                 Targets... targets) {
  for (; first < last; first += Parts::columns) {
    const index_t past = std::min(first + Parts::columns, last);
    parts.go_to(first, past, size, distance, others);
    (targets.assign_with(parts, first, past), ...);
    const index_t end = std::min(past + distance, size);
    if (&others != &parts && first + distance < end)
      (targets.assign_partners_with(others, first + distance, end), ...);
  }
}

/// Elements [first, last) of dense rows of `size`, and those `distance` further on, which are among
/// the others where they are neighbours. What is common in them is computed once.
template <class First, class... T, class... Row>
void assign_paired_rows(index_t first, index_t last, index_t size, index_t distance,
                        const paired_target<T, Row>&... targets) {
  if constexpr (may_have_common_parts<Row...>) {
    common_parts<Row...> parts(last - first, targets.row...);
    if (parts.pay()) {
      if (are_neighbours<First>(distance))
        return assign_paired_with_common(parts, parts, first, last, size, distance, targets...);
      common_parts<Row...> others(last - first, targets.row...);
      return assign_paired_with_common(parts, others, first, last, size, distance, targets...);
    }
  }
  (targets.assign(first, last, size, distance), ...);
}
template <class T, class Row>
void assign_paired(T* out, T* partners, const Row& row, index_t first, index_t last, index_t size,
                   index_t distance, bool past_caches) {
  assign_paired_rows<Row>(first, last, size, distance, to_pairs(out, partners, row, past_caches));
}

}  // namespace topos::detail::host_rows
