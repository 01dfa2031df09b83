// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of elements in memory of which those from a place on lie somewhere else: what was moved
/// round the end of an axis.

#include <algorithm>
#include <concepts>
#include <optional>
#include <topos/core/config.hpp>
#include <topos/expr/expression.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/operation_node.hpp>
#include <topos/expr/row.hpp>
#include <topos/memory/buffer.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

/// Elements that lie `step` apart, those from column `cut` on `jump` further. Rows are alike: `cut`
/// is `no_end` in all of an expression or in none.
template <class Elements>
struct rolled_row {
  using value_type = typename Elements::value_type;
  static constexpr index_t width = width_of_elements<Elements>();
  static constexpr bool has_pairs = false;
  static constexpr bool is_quick = dense_row<Elements>::is_quick;
  Elements elements;
  index_t base;
  index_t step;
  index_t cut;
  index_t jump;

  friend bool operator==(const rolled_row&, const rolled_row&) = default;
  KOKKOS_FUNCTION value_type operator[](index_t j) const { return elements(start(j) + j * step); }
  template <class Count>
  [[nodiscard]] auto lanes(index_t j, Count count) const {
    if (j >= cut || j + width <= cut) return side(j).lanes(j, count);
    return one_by_one(j, count);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return step == 1 && cut == no_end; }
  [[nodiscard]] KOKKOS_FUNCTION dense_row<Elements> dense() const { return {elements, base}; }

  /// See operation_row.hpp.
  static constexpr std::size_t bytes_levelled = bytes_to_level<Elements>();
  [[nodiscard]] index_t level_until(index_t j) const {
    if (side(j).level_until(j) == j) return j;
    return j < cut ? cut : no_end;
  }
  [[nodiscard, gnu::always_inline]] auto levelled(index_t first, flat_block& block) const {
    const bool parted = first < cut && cut < first + block.columns;
    return parted ? together(first, block) : side(first).levelled(first, block);
  }

  /// Elements [first, last) to where they are neighbours.
  template <class T>
  void copy(T* to, index_t first,
            index_t last) const requires std::same_as<decltype(elements.address()), const T*> {
    const T* const from = elements.address();
    const index_t middle = std::clamp(cut, first, last);
    copy_part(to, from + base + first * step, middle - first);
    copy_part(to + (middle - first), from + base + jump + middle * step, last - middle);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION index_t start(index_t j) const {
    return j < cut ? base : base + jump;
  }
  // As if all lay as column j does.
  [[nodiscard]] strided_row<Elements> side(index_t j) const { return {elements, start(j), step}; }

  template <class T>
  void copy_part(T* to, const T* from, index_t count) const {
    if (step == 1)
      std::copy_n(from, count, to);
    else
      copy_apart(to, from, step, count);
  }

  // Out of line, so that the common case stays small.
  [[nodiscard, gnu::noinline]] auto together(index_t first, flat_block& block) const {
    auto* const to = block.take<typename Elements::in_memory>();
    copy(to, first, first + block.columns);
    return strided_row<Elements>{Elements::of(to), -first, 1}.levelled(first, block);
  }
  template <class Count>
  [[nodiscard, gnu::noinline]] auto one_by_one(index_t j, Count count) const {
    index_t needed = width;
    if constexpr (!std::is_same_v<Count, lane::all>) needed = count;
    return lane::generate<value_type>(
        [&](index_t i) { return i < needed ? (*this)[j + i] : value_type{}; });
  }
};

// Where rows of numbers begin, and how far apart the next are.
struct only_places {
  using value_type = index_t;
  friend bool operator==(const only_places&, const only_places&) = default;
};

/// Rows of a source, of which elements at place `turn` and further on lie `jump` further on.
template <class Elements, std::size_t Rank>
struct rolled_rows {
  strided_rows<Elements, Rank> memory;
  strided_rows<only_places, Rank> places;
  index_t turn;
  index_t jump;
  index_t row_columns;
  bool parted;  // whether the places of a row differ

  KOKKOS_FUNCTION rolled_row<Elements> row(index_t r) const {
    const index_t place = places.start(r);
    const bool further = place >= turn;
    return {memory.elements, memory.start(r) + (further ? jump : 0), memory.step, cut_from(place),
            further ? -jump : jump};
  }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const {
    return {true, sizeof(typename Elements::in_memory), 1};
  }
  [[nodiscard]] auto flat(flat_block& block) const {
    auto* const to = block.take<typename Elements::in_memory>();
    from_column(block.column).copy(to, {block.columns, 1}, block.first, block.rows, block.columns);
    return strided_row<Elements>{Elements::of(to), 0, 1};
  }

  /// See strided_rows.
  template <class T>
  void copy(T* to, row_steps there, index_t first, index_t count, index_t columns)
      const requires std::same_as<decltype(memory.elements.address()), const T*> {
    const auto of_memory = [&](index_t r, index_t at, index_t n, row_steps here) {
      const auto of_places = [&](index_t i, index_t place, index_t some, row_steps steps) {
        const run<T> rows{to + (r + i) * there.stride, there, at + i * here.stride, here};
        if (steps.stride == 0) {
          copy_alike(rows, place, some, columns);
        } else if (!parted) {
          const index_t middle = std::min(some, same_side(place, steps.stride, some));
          copy_alike(rows, place, middle, columns);
          copy_alike(rows.from(middle), place + middle * steps.stride, some - middle, columns);
        } else {
          for (index_t k = 0; k < some; ++k)
            copy_alike(rows.from(k), place + k * steps.stride, 1, columns);
        }
      };
      places.for_each_run(first + r, n, of_places);
    };
    memory.for_each_run(first, count, of_memory);
  }

  [[nodiscard]] rolled_rows from_column(index_t column) const {
    return {
        memory.from_column(column), places.from_column(column), turn, jump, row_columns, parted};
  }

  friend bool operator==(const rolled_rows&, const rolled_rows&) = default;

 private:
  // Rows that lie equally far apart, there and here.
  template <class T>
  struct run {
    T* to;
    row_steps there;
    index_t at;
    row_steps here;

    [[nodiscard]] run from(index_t k) const {
      return {to + k * there.stride, there, at + k * here.stride, here};
    }
  };

  // Rows that are all at one place, or begin there.
  template <class T>
  void copy_alike(const run<T>& rows, index_t place, index_t count, index_t columns) const {
    const index_t cut = std::min(cut_from(place), columns);
    const index_t first = rows.at + (place >= turn ? jump : 0);
    const index_t second = rows.at + (place >= turn ? 0 : jump) + cut * rows.here.step;
    using word = copied_as<T>;
    auto* const to = reinterpret_cast<word*>(rows.to);
    const auto* const from = reinterpret_cast<const word*>(memory.elements.address());
    copy_rows(to, rows.there, from + first, rows.here, count, cut);
    if (cut < columns)
      copy_rows(to + cut * rows.there.step, rows.there, from + second, rows.here, count,
                columns - cut);
  }

  [[nodiscard]] KOKKOS_FUNCTION index_t cut_from(index_t place) const {
    return parted ? same_side(place, places.step, row_columns) : no_end;
  }
  // How many of `count` places, `step` apart from one on, are on its side of the turn.
  [[nodiscard]] KOKKOS_FUNCTION index_t same_side(index_t place, index_t step,
                                                  index_t count) const {
    const index_t up = turn - place;
    if (step == 1) return up > 0 ? up : count;
    if (step > 0) return up > 0 ? (up + step - 1) / step : count;
    return up > 0 ? count : -up / -step + 1;
  }
};

/// A part of an array in memory, moved round the end of an axis: two layouts of its shape, of
/// where elements lie that are moved past the end, and of their places along the axis. Those at
/// `turn` and further on lie `jump` further.
template <class Source, std::size_t Rank>
struct [[nodiscard]] rolled_node : lazy, operand_base<rolled_node<Source, Rank>> {
  using value_type = typename Source::value_type;
  static constexpr std::size_t rank = Rank;
  Source array;
  layout<Rank> in_array;
  layout<Rank> in_places;
  index_t turn;
  index_t jump;
  index_t begin;  // of the part in the array, for `explain`

  rolled_node(Source s, const layout<Rank>& array_layout, const layout<Rank>& places,
              index_t first_further, index_t further, index_t first)
      : array(std::move(s)),
        in_array(array_layout),
        in_places(places),
        turn(first_further),
        jump(further),
        begin(first) {}

  using operand_base<rolled_node>::shape;
  [[nodiscard]] const topos::shape<Rank>& shape() const { return in_array.extents; }
  [[nodiscard]] std::optional<topos::device> device() const { return array.device(); }
  void collect(std::vector<buffer>& reads) const { collect_source(array, in_array.extents, reads); }
  template <class Layouts>
  void leaves(Layouts& layouts) const {
    layouts.add(in_array);
    layouts.add(in_places);
  }
  void traffic(std::vector<memory_read>& all) const {
    layout<Rank> unmoved = in_array;
    unmoved.offset = begin;
    strided_node<Source, Rank>(array, unmoved).traffic(all);
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    using elements = std::decay_t<decltype(array.elements())>;
    const auto places = rows_of(only_places{}, in_places, w);
    const bool parted = places.step != 0 && w.columns() > 1;
    return rolled_rows<elements, N>{
        rows_of(array.elements(), in_array, w), places, turn, jump, w.columns(), parted};
  }
  template <std::size_t N, class View>
  [[nodiscard]] auto viewed(const topos::shape<N>& whole, const View& view) const {
    return rolled_node<Source, View::rank>(array, view(broadcast_layout(in_array, whole)),
                                           view(broadcast_layout(in_places, whole)), turn, jump,
                                           begin);
  }
};

/// The rows of a conversion of what was moved, where it is loaded as what it becomes.
template <class To, loaded_wider<To> Elements, std::size_t N>
[[nodiscard]] auto make_rows(const convert_op<To>& op, const rolled_rows<Elements, N>& rows) {
  return rolled_rows<widened_elements<Elements, To>, N>{
      make_rows(op, rows.memory), rows.places, rows.turn, rows.jump, rows.row_columns, rows.parted};
}

}  // namespace topos::detail
