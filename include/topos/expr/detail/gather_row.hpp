// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of elements that are picked by index. On the host they are put into memory: where they lie
/// is found by lanes, then they are copied one by one, which takes less time than lanes that are
/// put together in registers, and no more than loads of several that lie apart.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/row.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// Places that are found at a time.
inline constexpr index_t places_at_once = 256;

/// How far ahead of a row that is copied the next are fetched.
inline constexpr index_t rows_ahead = 8;

/// What indices name of an axis. Negative ones count from its end. Others are clamped: a kernel has
/// nobody to tell.
template <class Index>
struct named_places {
  friend bool operator==(const named_places&, const named_places&) = default;
  /// In as many bits as lanes are made of.
  using place = std::conditional_t<(sizeof(Index) < 4), std::int32_t, Index>;
  index_t count;  ///< That the axis has.

  [[nodiscard]] KOKKOS_FUNCTION index_t of(Index wanted) const {
    auto i = static_cast<index_t>(wanted);
    if constexpr (std::is_unsigned_v<Index>) {
      if (wanted > static_cast<std::uint64_t>(count - 1)) i = count - 1;
    } else if (i < 0) {
      i = i + count < 0 ? 0 : i + count;
    }
    return i < count ? i : count - 1;
  }

  /// Whether `find` finds them.
  [[nodiscard]] bool fit() const { return std::in_range<place>(count); }
  /// Those of n columns of a row of indices, as `of`, by what there are lanes for.
  template <class Indices>
  void find(place* to, const strided_row<Indices>& indices, index_t first, index_t n) const {
    if (indices.step != 1) {
      for (index_t k = 0; k < n; ++k) to[k] = static_cast<place>(of(indices[first + k]));
      return;
    }
    const auto row = indices.dense();
    const auto all = static_cast<place>(count);
    TOPOS_INDEPENDENT_STEPS
    for (index_t k = 0; k < n; ++k) {
      auto i = static_cast<place>(row[first + k]);
      if constexpr (std::is_signed_v<place>) {
        i = i < 0 ? i + all : i;
        i = i < 0 ? 0 : i;
      }
      to[k] = i < all ? i : all - 1;
    }
  }
};

/// Elements of a table that lie `step` apart, but each as many strides further on as places say.
template <class Table>
struct picked_elements {
  using value_type = typename Table::value_type;
  Table table;
  index_t step;
  index_t stride;

  /// n of them from one on, to where the next is `out_step` further.
  template <class Place>
  void copy(value_type* out, index_t out_step, index_t at, const Place* places, index_t n) const {
    if (step == 0 && stride == 1 && out_step == 1) {
      TOPOS_EIGHT_STEPS
      for (index_t k = 0; k < n; ++k) out[k] = table(at + static_cast<index_t>(places[k]));
    } else {
      for (index_t k = 0; k < n; ++k)
        out[k * out_step] = table(at + k * step + static_cast<index_t>(places[k]) * stride);
    }
  }
};

/// A row of picked elements.
template <class Table, class Indices>
struct gather_row {
  friend bool operator==(const gather_row&, const gather_row&) = default;
  using value_type = typename Table::value_type;
  using index_type = typename Indices::value_type;
  static constexpr index_t width = lane::width<value_type>;
  static constexpr bool has_pairs = false;
  static constexpr bool is_quick = false;
  static constexpr std::size_t bytes_levelled = sizeof(value_type);
  static constexpr bool in_memory = requires(const Table& elements) {
    { elements.address() } -> std::same_as<const value_type*>;
  };
  strided_row<Table> table;  // at index 0
  strided_row<Indices> indices;
  named_places<index_type> named;
  index_t stride;  // between two indices

  KOKKOS_FUNCTION value_type operator[](index_t j) const {
    return table.elements(table.base + j * table.step + named.of(indices[j]) * stride);
  }
  template <class Count>
  [[nodiscard]] auto lanes(index_t j, Count needed) const {
    if (is_dense()) return dense().lanes(j, needed);
    if (!named.fit()) [[unlikely]]
      return one_by_one(j, needed);
    constexpr bool all = std::is_same_v<Count, lane::all>;
    index_t some = width;
    if constexpr (!all) some = needed;
    typename named_places<index_type>::place places[width];
    named.find(places, indices, j, some);
    lane::keep_in_memory(places);
    if (stride != 1 || table.step != 0) return far_lanes(places, j, some);
    return lane::assembled<value_type>([&](index_t i) {
      return all || i < some ? table.elements(table.base + static_cast<index_t>(places[i]))
                             : value_type{};
    });
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const {
    return indices.step == 0 && table.step == 1;
  }
  [[nodiscard]] KOKKOS_FUNCTION dense_row<Table> dense() const {
    return {table.elements, table.base + named.of(indices[0]) * stride};
  }

  /// Elements [first, last) to memory, on the host.
  void copy(value_type* out, index_t first, index_t last) const {
    if (!named.fit()) [[unlikely]] {
      for (; first < last; ++first) *out++ = (*this)[first];
      return;
    }
    typename named_places<index_type>::place places[places_at_once];
    const picked_elements<Table> picked{table.elements, table.step, stride};
    for (; first < last; first += places_at_once, out += places_at_once) {
      const index_t n = std::min(places_at_once, last - first);
      named.find(places, indices, first, n);
      lane::keep_in_memory(places);
      picked.copy(out, 1, table.base + first * table.step, places, n);
    }
  }
  /// See operation_row.hpp.
  [[nodiscard]] index_t level_until(index_t j) const {
    return in_memory && is_dense() ? no_end : j;
  }
  [[nodiscard]] memory_row<value_type> levelled(index_t first, flat_block& block) const {
    if constexpr (in_memory) {
      if (is_dense()) return {{table.elements.address()}, dense().base};
    }
    auto* const values = block.take<value_type>();
    copy(values, first, first + block.columns);
    return {{values}, -first};
  }

 private:
  // Out of line, so that the common case stays small enough to be inlined.
  template <class Place>
  [[gnu::noinline]] auto far_lanes(const Place (&places)[width], index_t j, index_t some) const {
    return lane::assembled<value_type>([&](index_t i) {
      if (i >= some) return value_type{};
      return table.elements(table.base + (j + i) * table.step +
                            static_cast<index_t>(places[i]) * stride);
    });
  }
  template <class Count>
  [[gnu::noinline]] auto one_by_one(index_t j, Count needed) const {
    index_t some = width;
    if constexpr (!std::is_same_v<Count, lane::all>) some = needed;
    return lane::assembled<value_type>(
        [&](index_t i) { return i < some ? (*this)[j + i] : value_type{}; });
  }
};

template <class Table, class Indices>
struct gather_rows {
  using value_type = typename decltype(Table::elements)::value_type;
  using index_type = typename decltype(Indices::elements)::value_type;
  Table table;      // strided_rows of the table at index 0
  Indices indices;  // strided_rows of the indices
  named_places<index_type> named;
  index_t stride;

  KOKKOS_FUNCTION auto row(index_t r) const {
    return gather_row<decltype(table.elements), decltype(indices.elements)>{
        table.row(r), indices.row(r), named, stride};
  }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const {
    return {named.fit(), sizeof(value_type), 1};
  }
  [[nodiscard]] auto flat(flat_block& block) const {
    auto* const values = block.take<value_type>();
    from_column(block.column)
        .copy(values, {block.columns, 1}, block.first, block.rows, block.columns);
    return memory_row<value_type>{{values}};
  }

  [[nodiscard]] gather_rows from_column(index_t column) const {
    return {table.from_column(column), indices.from_column(column), named, stride};
  }

  /// Whether rows are dense, each named by an index of its own, and `name` tells where they are, if
  /// the table is in memory:
  [[nodiscard]] bool can_name() const {
    return table.step == 1 && indices.step == 0 && named.fit();
  }
  /// so many from r on at once.
  [[nodiscard]] index_t named_from(index_t r) const {
    return std::min(table.run_from(r), indices.run_from(r));
  }
  [[nodiscard]] bool can_name(index_t r, index_t count) const {
    return can_name() && count <= named_from(r);
  }
  /// Of no more than `places_at_once` such rows.
  void name(index_t r, index_t count, const value_type** to) const {
    place places[places_at_once];
    const strided_row<decltype(indices.elements)> down{indices.elements, indices.start(r),
                                                       indices.stride_of_run()};
    named.find(places, down, 0, count);
    const value_type* const data = table.elements.address() + table.start(r);
    for (index_t k = 0; k < count; ++k)
      to[k] = data + k * table.stride_of_run() + static_cast<index_t>(places[k]) * stride;
  }

  /// See strided_rows.
  void copy(value_type* to, row_steps there, index_t first, index_t count, index_t columns) const {
    const auto of_table = [&](index_t r, index_t at, index_t n, row_steps in_table) {
      const auto of_indices = [&](index_t i, index_t from, index_t some, row_steps in_indices) {
        const run all{at + i * in_table.stride, in_table, from, in_indices, some};
        value_type* const out = to + (r + i) * there.stride;
        if (in_table.step == 1 && in_indices.step == 0 && there.step == 1)
          copy_rows(out, there.stride, all, columns);
        else
          copy_elements(out, there, all, columns);
      };
      indices.for_each_run(first + r, n, of_indices);
    };
    table.for_each_run(first, count, of_table);
  }

 private:
  using place = typename named_places<index_type>::place;

  // Rows that lie equally far apart, in the table at index 0 as in the indices.
  struct run {
    index_t at;
    row_steps in_table;
    index_t from;
    row_steps in_indices;
    index_t rows;
  };

  // Of one index each, whose columns are neighbours.
  void copy_rows(value_type* to, index_t apart, const run& all, index_t columns) const {
    const strided_row<decltype(indices.elements)> down{indices.elements, all.from,
                                                       all.in_indices.stride};
    place places[places_at_once];
    for (index_t r = 0; r < all.rows; r += places_at_once) {
      const index_t n = std::min(places_at_once, all.rows - r);
      named.find(places, down, r, n);
      const auto start = [&](index_t k) {
        return all.at + (r + k) * all.in_table.stride + static_cast<index_t>(places[k]) * stride;
      };
      for (index_t k = 0; k < n; ++k) {
        value_type* const out = to + (r + k) * apart;
        const index_t from = start(k);
        if constexpr (requires {
                        { table.elements.address() } -> std::same_as<const value_type*>;
                      }) {
          const value_type* const data = table.elements.address();
          if (k + rows_ahead < n) __builtin_prefetch(data + start(k + rows_ahead));
          copy_row(out, data + from, columns);
        } else {
          for (index_t j = 0; j < columns; ++j) out[j] = table.elements(from + j);
        }
      }
    }
  }

  // Of an index for each element. Rows of indices that lie one after another, or are all the same,
  // are looked at together.
  void copy_elements(value_type* to, row_steps there, const run& all, index_t columns) const {
    const picked_elements<decltype(table.elements)> picked{table.elements, all.in_table.step,
                                                           stride};
    const row_steps steps = all.in_indices;
    const bool flat = steps.step == 1 && steps.stride == columns && columns <= places_at_once;
    place places[places_at_once];
    for (index_t c = 0; c < columns; c += places_at_once) {
      const index_t some = std::min(places_at_once, columns - c);
      const index_t at_once = flat ? places_at_once / some : 1;  // rows
      for (index_t r = 0; r < all.rows; r += at_once) {
        const index_t n = std::min(at_once, all.rows - r);
        if (r == 0 || steps.stride != 0) {
          named.find(places,
                     strided_row<decltype(indices.elements)>{
                         indices.elements, all.from + r * steps.stride, steps.step},
                     c, n * some);
          lane::keep_in_memory(places);
        }
        for (index_t k = 0; k < n; ++k) {
          picked.copy(to + (r + k) * there.stride + c * there.step, there.step,
                      all.at + (r + k) * all.in_table.stride + c * all.in_table.step,
                      places + k * some, some);
        }
      }
    }
  }
};

/// Whether rows are such, of a table of T in memory.
template <class Rows, class T>
inline constexpr bool are_named = requires(const Rows& rows, const T** to) {
  rows.name(index_t{}, index_t{}, to);
  { rows.table.elements.address() } -> std::same_as<const T*>;
};

}  // namespace topos::detail
