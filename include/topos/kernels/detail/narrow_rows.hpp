// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of few columns combined with each other, on the host: many of them are one wide row, so
/// that lanes are full, and those of a piece are combined as any rows. What then stands side by
/// side is combined by halves.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/kernels/short_rows.hpp>

namespace topos::detail::host_rows {

/// Rows of fewer columns are narrow: wider ones are combined as fast as they are, those without
/// lanes if they are not short either.
template <class Op, class Rows>
inline constexpr index_t narrow_columns =
    adds_column_lanes<Op, row_of<Rows>, typename row_of<Rows>::value_type>() ? 24 : columns_apart;

/// Whether so many rows, one after another, of so many columns are combined so.
template <class Op, class Rows>
[[nodiscard]] bool are_narrow(index_t count, index_t columns) {
  return count >= 16 && columns < narrow_columns<Op, Rows> && columns > 0;
}

/// Columns of a wide row at most.
inline constexpr index_t wide_columns = 512;

/// How many of `count` narrow rows are a wide one: a power of two. There are eight wide rows at
/// least, or narrow ones.
[[nodiscard]] inline index_t rows_abreast(index_t columns, index_t count) {
  const index_t most = std::clamp<index_t>(count / 8, 1, wide_columns / columns);
  return static_cast<index_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
}

/// Bytes of the elements of a piece.
inline constexpr index_t bytes_of_piece = 1 << 16;

/// Rows of a piece: whole wide rows.
template <class T>
[[nodiscard]] index_t rows_of_narrow_piece(index_t columns) {
  const index_t rows = bytes_of_piece / static_cast<index_t>(sizeof(T)) / columns;
  return rows - rows % rows_abreast(columns, rows);
}

/// Where the elements of a dense row in memory are, column 0 first; else null.
template <class T, class Row>
[[nodiscard]] const T* memory_of(const Row& row) {
  using dense_type = std::decay_t<decltype(row.dense())>;
  if constexpr (requires(const dense_type& dense) {
                  { dense.elements.address() } -> std::same_as<const T*>;
                  dense.base;
                }) {
    if (row.is_dense()) {
      const auto dense = row.dense();
      return dense.elements.address() + dense.base;
    }
  }
  return nullptr;
}

/// What a dense row's elements are in memory: of a narrower type, maybe; its own, if they are none.
template <class Row>
struct in_memory {
  using type = typename Row::value_type;
};
template <class Row>
  requires requires { typename decltype(std::declval<Row>().dense().elements)::in_memory; }
struct in_memory<Row> {
  using type = typename decltype(std::declval<Row>().dense().elements)::in_memory;
};
template <class Row>
using in_memory_t = typename in_memory<Row>::type;

/// Whether `count` rows from r on lie in memory, all as far from the next.
template <class T, class Rows>
[[nodiscard]] bool lie_evenly(const Rows& rows, index_t r, index_t count) {
  if constexpr (requires { rows.is_one_run(r, count); })
    return rows.is_one_run(r, count) && memory_of<T>(rows.row(r)) != nullptr;
  else
    return false;
}

// Rows r to r + count, if they lie one after another.
template <class T, class Rows>
[[nodiscard]] const T* memory_of_all(const Rows& rows, index_t r, index_t count, index_t columns) {
  if (!lie_evenly<T>(rows, r, count)) return nullptr;
  const T* const at = memory_of<T>(rows.row(r));
  return count == 1 || memory_of<T>(rows.row(r + 1)) == at + columns ? at : nullptr;
}

/// Calls `use(values, n)` with the elements of `count` rows from r on, one after another: they are
/// written down, n rows at a time, whole wide ones but for the last, unless they all lie so.
template <index_t Bytes, class Rows, class Use>
void use_narrow(const Rows& rows, const short_rows& together, index_t r, index_t count,
                index_t columns, const Use& use) {
  using T = typename row_of<Rows>::value_type;
  if (const T* const at = memory_of_all<T>(rows, r, count, columns)) return use(at, count);
  alignas(flat_block::alignment) T values[Bytes / sizeof(T)];
  const index_t room = Bytes / static_cast<index_t>(sizeof(T)) / columns;
  const index_t some = room - room % rows_abreast(columns, count);
  for (const index_t past = r + count; r < past; r += some) {
    const index_t n = std::min(some, past - r);
    if (together.any()) {
      together.for_each(rows, r, r + n, [&](const auto& row, flat_block& block) {
        assign(values + (block.first - r) * columns, 1, row, 0, block.size());
      });
    } else {
      for (index_t i = 0; i < n; ++i) assign(values + i * columns, 1, rows.row(r + i), 0, columns);
    }
    use(static_cast<const T*>(values), n);
  }
}

/// Bytes that are written down at a time: in the first cache.
inline constexpr index_t bytes_written = bytes_of_piece / 4;

// Whether rows are in memory, where indices name them, and as many as are written down at a time:
// then they are combined where they are, `abreast` of them to a wide row, and the rest to `last`.
template <class Op, class Rows, class T>
bool combine_named(const Op& op, const Rows& rows, index_t r, index_t count, index_t columns,
                   index_t abreast, T* to, T* last) {
  if constexpr (are_named<Rows, T> && adds_column_lanes<Op, row_of<Rows>, T>()) {
    const index_t most = bytes_written / (columns * static_cast<index_t>(sizeof(T)));
    if (count > std::min(places_at_once, most) || !rows.can_name(r, count)) return false;
    const T* at[places_at_once];
    const T* below[places_at_once];  // each other
    rows.name(r, count, at);
    const index_t wide = count / abreast;
    for (index_t s = 0; s < abreast; ++s) {
      for (index_t k = 0; k < wide; ++k) below[k] = at[k * abreast + s];
      add_found(op, to + s * columns, true, below, wide, 0, columns);
    }
    const index_t rest = count % abreast;
    if (rest != 0) add_found(op, last, true, at + wide * abreast, rest, 0, columns);
    return true;
  } else {
    return false;
  }
}

/// to[k] = column k of `count` rows from r on; `to` has room for a wide row and a batch.
template <class Op, class Rows, class T>
void combine_narrow(const Op& op, const Rows& rows, const short_rows& together, index_t r,
                    index_t count, index_t columns, T* to) {
  const index_t abreast = rows_abreast(columns, count);
  const index_t width = abreast * columns;
  const index_t rest = count % abreast;
  T last[wide_columns + most_lanes];
  bool some = false;
  if (combine_named(op, rows, r, count, columns, abreast, to, last)) {
    some = true;
  } else {
    use_narrow<bytes_written>(rows, together, r, count, columns, [&](const T* values, index_t n) {
      const index_t wide = n / abreast;
      if (wide != 0)
        column_reducer(op, partial_rows<T>{values, width}, to).run(0, 1, wide, 0, width, some);
      some = some || wide != 0;
      if (n % abreast != 0)
        column_reducer(op, partial_rows<T>{values, columns}, last)
            .run(wide * abreast, 1, rest, 0, columns);
    });
  }
  if (!some) return void(std::copy_n(last, columns, to));
  for (index_t left = width / 2; left >= columns; left /= 2)
    assign(to, 1, make_row(op, memory_row<T>{{to}}, memory_row<T>{{to}, left}), 0, left);
  if (rest != 0)
    assign(to, 1, make_row(op, memory_row<T>{{to}}, memory_row<T>{{last}}), 0, columns);
}

}  // namespace topos::detail::host_rows
