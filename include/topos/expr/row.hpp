// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows: what an expression is inside a kernel. A row is indexed by column; it is bare (pointers
/// and scalars), so it may be copied to a device, and combines with other rows lazily.
///
/// Every row has
///
///     value_type            the type of its elements
///     width                 lanes that it computes at once on the host; 0: it has none
///     is_quick              whether its lanes take no more time than to load what they are of
///     row[j]                element j, on host and device
///     lanes(j, count)       elements j to j + width, of which `count` are needed (lane::all: all);
///                           sixteen-bit floats as lanes of float with values that they have,
///                           complex numbers as lanes of their parts
///     is_dense(), dense()   whether neighbours in the row are neighbours in their sources and its
///                           operations are simple, and the row of that kind, which is faster
///     ==                    where that can be told: whether another is known to be the same
///
/// and a dense row also
///
///     packed<N>(j)          elements j to j + N for a thread of a device, where packs<N>(j) says
///                           that they are aligned
///     partner()             the distance of elements that cost less together; 0: there is none
///                           (there never is where `has_pairs` is false)
///     two(j, distance)      elements j and j + distance for a thread of a device, where the
///                           distance is partner() of the whole expression
///     paired(distance)      what makes, of j, the `lane::pairs` from j and from j + distance; the
///                           distance is partner() of the whole expression, and end() says where
///                           that stops

#include <cstddef>
#include <cstring>
#include <limits>
#include <topos/core/config.hpp>
#include <topos/core/promotion.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/expr/memory_elements.hpp>
#include <topos/expr/row_pairs.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// Whether two numbers are the same: by their bits, since -0 is not 0 here.
template <class T>
[[nodiscard]] bool has_bits_of(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Lanes of elements, by their own way to make them or one by one.
template <class Elements, class Count>
[[nodiscard]] inline auto lanes_of(const Elements& elements, index_t o, Count count) {
  using T = typename Elements::value_type;
  if constexpr (requires { elements.lanes(o, count); }) {
    return elements.lanes(o, count);
  } else if constexpr (std::is_same_v<Count, lane::all>) {
    return lane::generate<T>([&](index_t i) { return elements(o + i); });
  } else {
    return lane::generate<T>([&](index_t i) { return i < count ? elements(o + i) : T{}; });
  }
}

// Lanes of a source's elements; those of sixteen-bit floats only where it has its own way.
template <class Elements>
constexpr index_t width_of_elements() {
  using T = typename Elements::value_type;
  if constexpr (!is_half<T> || requires(const Elements& e) { e.lanes(index_t{}, lane::all{}); })
    return lane::width<lane::made_of<T>>;
  else
    return 0;
}

/// Neighbouring elements of a source.
template <class Elements>
struct dense_row {
  using value_type = typename Elements::value_type;
  static constexpr index_t width = width_of_elements<Elements>();
  static constexpr bool has_pairs = requires(const Elements& e) { e.partner(); };
  static constexpr bool is_quick = requires { typename Elements::in_memory; };
  Elements elements;
  index_t base = 0;

  friend bool operator==(const dense_row&, const dense_row&) = default;
  KOKKOS_FUNCTION value_type operator[](index_t j) const { return elements(base + j); }
  template <class Count>
  [[nodiscard]] auto lanes(index_t j, Count count) const {
    return lanes_of(elements, base + j, count);
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, N> packed(index_t j) const {
    if constexpr (is_quick) {  // it is in memory: nvcc denies that a member has member templates
      return elements.template packed<N>(base + j);
    } else {
      pack<value_type, N> result;
      for (int i = 0; i < N; ++i) result.value[i] = elements(base + j + i);
      return result;
    }
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t j) const {
    if constexpr (is_quick)
      return elements.template packs<N>(base + j);
    else
      return true;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return true; }
  [[nodiscard]] KOKKOS_FUNCTION const dense_row& dense() const { return *this; }

  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, 2> two(index_t j, index_t distance) const {
    if constexpr (requires { elements.two(j); })
      return elements.two(base + j);
    else
      return {{elements(base + j), elements(base + j + distance)}};
  }
  [[nodiscard]] index_t partner() const {
    if constexpr (requires { elements.partner(); }) {
      return base == 0 ? elements.partner() : 0;
    } else {
      return 0;
    }
  }
  [[nodiscard]] auto paired(index_t distance) const {
    if constexpr (has_pairs)
      return elements.paired();
    else
      return row_pairs<dense_row>{*this, distance};
  }
};

/// A row in memory.
template <class T>
using memory_row = dense_row<memory_elements<T>>;

// Bytes of an element that is copied to where its neighbours are; 0: those of a source are made.
template <class Elements>
constexpr std::size_t bytes_to_level() {
  if constexpr (dense_row<Elements>::is_quick)
    return sizeof(typename Elements::in_memory);
  else
    return 0;
}

/// More columns than any row has.
inline constexpr index_t no_end = std::numeric_limits<index_t>::max();

/// Neighbours in memory, or one element in every column, of which there is a batch: loops along
/// them have nothing to ask. On the host.
template <class Elements>
struct level_row {
  using value_type = typename Elements::value_type;
  static constexpr index_t width = dense_row<Elements>::width;
  static constexpr bool has_pairs = false;
  static constexpr bool is_quick = true;
  Elements elements;
  index_t mask;  // of a column's number: all bits of it count, or none

  friend bool operator==(const level_row&, const level_row&) = default;
  KOKKOS_FUNCTION value_type operator[](index_t j) const { return elements(j & mask); }
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, Count count) const {
    return lanes_of(elements, j & mask, count);
  }
  [[nodiscard, gnu::always_inline]] auto some(index_t j) const {
    const auto at = [&](index_t o) __attribute__((always_inline)) {
      return lanes_of(elements, o, lane::all{});
    };
    using lanes = lane::some<decltype(at(0))>;
    if (mask == 0) {
      const auto same = at(0);
      return lanes{{same, same, same, same}};
    }
    return lanes{{at(j), at(j + width), at(j + 2 * width), at(j + 3 * width)}};
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return true; }
  [[nodiscard]] KOKKOS_FUNCTION const level_row& dense() const { return *this; }
  [[nodiscard]] bool is_same() const { return mask == 0; }
};

/// Every step-th element of a source; step 0 repeats one.
template <class Elements>
struct strided_row {
  using value_type = typename Elements::value_type;
  static constexpr index_t width = width_of_elements<Elements>();
  static constexpr bool has_pairs = dense_row<Elements>::has_pairs;
  static constexpr bool is_quick = dense_row<Elements>::is_quick;
  Elements elements;
  index_t base;
  index_t step;

  friend bool operator==(const strided_row&, const strided_row&) = default;
  KOKKOS_FUNCTION value_type operator[](index_t j) const { return elements(base + j * step); }
  // Always inline: a call would have the loop around it store all that it keeps in registers.
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, Count count) const {
    if (step == 1) return lanes_of(elements, base + j, count);
    if (step == 0) return lane::splat(elements(base));
    return apart(j, count);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return step == 1; }
  [[nodiscard]] KOKKOS_FUNCTION dense_row<Elements> dense() const { return {elements, base}; }
  [[nodiscard]] bool is_same() const { return step == 0; }

  /// See operation_row.hpp.
  static constexpr std::size_t bytes_levelled = bytes_to_level<Elements>();
  [[nodiscard]] index_t level_until(index_t j) const {
    return bytes_levelled == 0 || step == 1 || (step == 0 && width > 1) ? no_end : j;
  }
  [[nodiscard, gnu::always_inline]] auto levelled(index_t first, flat_block& block) const {
    if constexpr (bytes_levelled == 0) {
      return *this;
    } else {
      constexpr bool by_lanes = width > 1;
      constexpr index_t every = -1;
      const auto level = [](const auto& in_memory, [[maybe_unused]] index_t mask) {
        using of_memory = std::decay_t<decltype(in_memory)>;
        if constexpr (by_lanes)
          return level_row<of_memory>{in_memory, mask};
        else
          return dense_row<of_memory>{in_memory};
      };
      if (step == 1) return level(elements.from(base), every);
      auto* const to = block.take<typename Elements::in_memory>(width);
      const auto* const from = elements.address() + base;
      if (step == 0) {
        std::fill_n(to, by_lanes ? width : block.columns, *from);
        return level(Elements::of(to).from(by_lanes ? 0 : -first), 0);
      }
      copy_apart(to, from + first * step, step, block.columns);
      return level(Elements::of(to).from(-first), every);
    }
  }

 private:
  // Out of line, so that the common case stays small.
  template <class Count>
  [[gnu::noinline]] auto apart(index_t j, Count count) const {
    index_t needed = width;
    if constexpr (!std::is_same_v<Count, lane::all>) {
      needed = count;
    } else if constexpr (requires { elements.lanes_apart(base, step); }) {
      return elements.lanes_apart(base + j * step, step);
    }
    return lane::generate<value_type>(
        [&](index_t i) { return i < needed ? elements(base + (j + i) * step) : value_type{}; });
  }
};

/// The same element of a source in every column.
template <class Elements>
struct scalar_row {
  using value_type = typename Elements::value_type;
  static constexpr index_t width = width_of_elements<Elements>();
  static constexpr bool has_pairs = false;
  static constexpr bool is_quick = dense_row<Elements>::is_quick;
  Elements elements;
  index_t at;

  friend bool operator==(const scalar_row&, const scalar_row&) = default;
  KOKKOS_FUNCTION value_type operator[](index_t /*j*/) const { return elements(at); }
  template <class Count>
  [[nodiscard]] auto lanes(index_t /*j*/, Count /*count*/) const {
    return lane::splat(elements(at));
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, N> packed(index_t /*j*/) const {
    pack<value_type, N> result;
    for (value_type& v : result.value) v = elements(at);
    return result;
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t /*j*/) const {
    return true;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return true; }
  [[nodiscard]] KOKKOS_FUNCTION const scalar_row& dense() const { return *this; }
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, 2> two(index_t /*j*/, index_t /*distance*/) const {
    return {{elements(at), elements(at)}};
  }
  [[nodiscard]] index_t partner() const { return 0; }
  [[nodiscard]] row_pairs<scalar_row> paired(index_t distance) const { return {*this, distance}; }
};

/// One value in every column.
template <class T>
struct constant_row {
  using value_type = T;
  static constexpr index_t width = lane::width<lane::made_of<T>>;
  static constexpr bool has_pairs = false;
  static constexpr bool is_quick = true;
  T value;

  friend bool operator==(const constant_row& a, const constant_row& b) {
    return has_bits_of(a.value, b.value);
  }
  KOKKOS_FUNCTION T operator[](index_t /*j*/) const { return value; }
  template <class Count>
  [[nodiscard]] auto lanes(index_t /*j*/, Count /*count*/) const {
    return lane::splat(value);
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<T, N> packed(index_t /*j*/) const {
    pack<T, N> result;
    for (T& v : result.value) v = value;
    return result;
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t /*j*/) const {
    return true;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return true; }
  [[nodiscard]] KOKKOS_FUNCTION const constant_row& dense() const { return *this; }
  [[nodiscard]] bool is_same() const { return true; }
  [[nodiscard]] KOKKOS_FUNCTION pack<T, 2> two(index_t /*j*/, index_t /*distance*/) const {
    return {{value, value}};
  }
  [[nodiscard]] index_t partner() const { return 0; }
  [[nodiscard]] row_pairs<constant_row> paired(index_t distance) const { return {*this, distance}; }
};

/// A row of some rows, of a kernel's expression.
template <class Rows>
using row_of = decltype(std::declval<const Rows&>().row(0));

/// Whether a row is of elements of a source, and no operation.
template <class Row>
inline constexpr bool has_elements = requires(const Row& row) {
  row.elements;
};

/// Whether it is known of rows which of them lie equally far apart, a run; and whether those may
/// not be all, since there are several axes of rows.
template <class Rows>
inline constexpr bool have_runs = requires(const Rows& rows) {
  rows.run_from(index_t{});
};
template <class Rows>
inline constexpr bool have_axes = requires {
  requires Rows::may_have_axes;
};
template <class Rows>
inline constexpr bool lie_in_runs = have_runs<Rows>&& have_axes<Rows>;

template <class Row>
using lanes_t = decltype(std::declval<const Row&>().lanes(0, lane::all{}));

/// Some batches of a row, from element j on.
template <class Row>
[[nodiscard, gnu::always_inline]] inline auto some_lanes(const Row& row, index_t j) {
  constexpr index_t width = Row::width;
  if constexpr (requires { row.some(j); }) {
    return row.some(j);
  } else {
    const auto at = [&](index_t o) __attribute__((always_inline)) {
      return row.lanes(o, lane::all{});
    };
    return lane::some<lanes_t<Row>>{{at(j), at(j + width), at(j + 2 * width), at(j + 3 * width)}};
  }
}

}  // namespace topos::detail
