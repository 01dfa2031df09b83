// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of an expression, on the host, of whose tables indices name the rows: some at a time are
/// found and fetched while those before are computed, each where it lies. One by one they would
/// wait for their memory, and to copy them first takes a pass of its own.

#include <algorithm>
#include <cstddef>
#include <topos/expr/detail/gather_row.hpp>
#include <topos/expr/operation_node.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// Rows that are found at a time.
inline constexpr index_t most_found = 32;

/// Bytes of the next rows of a table that are fetched ahead, about.
inline constexpr index_t bytes_ahead = 2048;

/// Bytes of a row that are fetched, at most: what comes behind, processors fetch themselves.
inline constexpr index_t bytes_fetched = 512;

/// How many leaves of rows are named by indices, of tables in memory.
template <class Rows>
inline constexpr std::size_t named_leaves = 0;
template <class Table, class Indices>
  requires(are_named<gather_rows<Table, Indices>, typename gather_rows<Table, Indices>::value_type>)
inline constexpr std::size_t named_leaves<gather_rows<Table, Indices>> = 1;
template <class Indices, class Op, class... Rows>
inline constexpr std::size_t named_leaves<operation_rows_of<Indices, Op, Rows...>> =
    (named_leaves<Rows> + ...);

/// Whether rows have such.
template <class Rows>
concept having_named = (named_leaves<Rows> != 0);

/// Calls `use(leaf)` for each of them.
template <class Leaf, class Use>
void for_each_named(const Leaf& leaf, const Use& use) {
  if constexpr (named_leaves<Leaf> != 0) use(leaf);
}
template <std::size_t... I, class Op, class... Rows, class Use>
void for_each_named(const operation_rows_of<std::index_sequence<I...>, Op, Rows...>& rows,
                    const Use& use) {
  (for_each_named(static_cast<const part<I, Rows>&>(rows).value, use), ...);
}

template <class Leaf>
[[nodiscard]] index_t bytes_of_row(const Leaf& /*leaf*/, index_t columns) {
  return columns * index_t{sizeof(typename Leaf::value_type)};
}

/// Where rows of some leaves were found, from row `first` on, and those that are next.
template <std::size_t Leaves>
struct found_places {
  const void* at[Leaves][most_found + 2 * rows_ahead];
  index_t first;
  index_t columns;
};

/// How rows of so many bytes are fetched: the first of these of one that comes later.
struct row_fetch {
  index_t bytes;
  index_t ahead;  // rows

  explicit row_fetch(index_t bytes_of_row)
      : bytes(std::min(bytes_of_row, bytes_fetched)),
        ahead(std::clamp<index_t>(bytes_ahead / bytes, 1, rows_ahead)) {}

  void operator()(const void* row) const {
    constexpr index_t line = 64;
    for (index_t b = 0; b < bytes; b += line)
      __builtin_prefetch(static_cast<const std::byte*>(row) + b);
  }
};

/// Rows of a leaf of T that were found. Whoever takes one has a later one fetched.
template <class T>
struct found_rows {
  const void* const* at;
  index_t first;
  row_fetch fetch;
  [[nodiscard]] memory_row<T> row(index_t r) const {
    const void* const* const here = at + (r - first);
    fetch(here[fetch.ahead]);
    return {{static_cast<const T*>(*here)}};
  }
};

/// Rows of which those that are named were found: from `next` on, which is counted, in `places`.
template <class Leaf, std::size_t Leaves>
[[nodiscard]] auto found(const Leaf& leaf, const found_places<Leaves>& places, std::size_t& next) {
  if constexpr (named_leaves<Leaf> != 0)
    return found_rows<typename Leaf::value_type>{places.at[next++], places.first,
                                                 row_fetch(bytes_of_row(leaf, places.columns))};
  else
    return leaf;
}
template <std::size_t... I, class Op, class... Rows, std::size_t Leaves>
[[nodiscard]] auto found(const operation_rows_of<std::index_sequence<I...>, Op, Rows...>& rows,
                         const found_places<Leaves>& places, std::size_t& next) {
  using all = operation_rows<Op, decltype(found(std::declval<const Rows&>(), places, next))...>;
  return all{rows.op, found(static_cast<const part<I, Rows>&>(rows).value, places, next)...};
}

/// Whether rows are quick where those that are named have been found.
template <class Rows>
inline constexpr bool are_quick_when_found = false;
template <having_named Rows>
inline constexpr bool are_quick_when_found<Rows> =
    row_of<decltype(found(std::declval<const Rows&>(), found_places<named_leaves<Rows>>{},
                          std::declval<std::size_t&>()))>::is_quick;

/// Finds n of them from r on; `begins` if none were found before.
template <class Rows, std::size_t Leaves>
void find(const Rows& rows, index_t r, index_t n, bool begins, found_places<Leaves>& to) {
  std::size_t next = 0;
  to.first = r;
  for_each_named(rows, [&](const auto& leaf) {
    const typename std::decay_t<decltype(leaf)>::value_type* at[most_found + rows_ahead];
    leaf.name(r, n, at);
    const void** const kept = to.at[next++];
    std::copy_n(at, n, kept);
    std::fill_n(kept + n, rows_ahead, at[n - 1]);  // fetched once more
    const row_fetch fetch(bytes_of_row(leaf, to.columns));
    for (index_t k = 0; begins && k < std::min(n, fetch.ahead); ++k) fetch(at[k]);
  });
}

/// Whether rows of so many columns are computed where they were found.
template <class Rows>
[[nodiscard]] bool are_found(const Rows& rows, index_t columns) {
  constexpr index_t fewest = 128;  // bytes: shorter ones take less time together
  bool all = named_leaves<Rows> != 0;
  for_each_named(rows, [&](const auto& leaf) {
    all = all && leaf.can_name() && bytes_of_row(leaf, columns) >= fewest;
  });
  return all;
}

/// The same of `count` rows from r on that are found at once.
template <class Rows>
[[nodiscard]] bool are_found(const Rows& rows, index_t columns, index_t r, index_t count) {
  bool all = are_found(rows, columns);
  for_each_named(rows, [&](const auto& leaf) { all = all && leaf.can_name(r, count); });
  return all;
}

/// Calls `use(some, r, past)` for rows [r, past) of so many columns: where they are found some at a
/// time, a multiple of four unless they are the last of a run; else with all as they are.
template <class Rows, class Use>
void use_found(const Rows& rows, index_t r, index_t past, index_t columns, const Use& use) {
  if constexpr (having_named<Rows>) {
    if (are_found(rows, columns)) {
      found_places<named_leaves<Rows>> places;
      places.columns = columns;
      index_t n = 0;
      for (bool begins = true; r < past; r += n) {
        index_t run = past - r;
        for_each_named(rows, [&](const auto& leaf) { run = std::min(run, leaf.named_from(r)); });
        find(rows, r, std::min(run, most_found + rows_ahead), begins, places);
        n = std::min(run, most_found);
        std::size_t leaf = 0;
        use(found(rows, places, leaf), r, r + n);
        begins = n == run;
      }
      return;
    }
  }
  use(rows, r, past);
}

}  // namespace topos::detail
