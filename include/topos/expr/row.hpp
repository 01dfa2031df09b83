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
///
/// and of an operation also
///
///     is_contiguous(),      the same where operations need not be simple: what a device asks for
///     contiguous()
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

#include <algorithm>
#include <cstddef>
#include <topos/core/config.hpp>
#include <topos/core/promotion.hpp>
#include <topos/expr/call.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/expr/memory_elements.hpp>
#include <topos/expr/row_pairs.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

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

template <class Row>
using lanes_t = decltype(std::declval<const Row&>().lanes(0, lane::all{}));

// The lanes that an operation on rows computes at once: those of all its rows, if they agree.
template <class Op, class Result, class... Rows>
constexpr index_t width_of_operation() {
  constexpr index_t widths[] = {Rows::width...};
  constexpr bool agree = ((Rows::width == widths[0]) && ...) && widths[0] != 0;
  constexpr bool halves = is_half<Result> || (is_half<typename Rows::value_type> || ...);
  constexpr bool takes_halves = std::is_base_of_v<widening, Op> || std::is_base_of_v<passing, Op>;
  if constexpr (!agree || (halves && !takes_halves) ||
                (is_half<Result> && !lane::is_half_with_lanes<Result>)) {
    return 0;
  } else if constexpr (has_lanes<Op, lanes_t<Rows>...>) {
    return widths[0];
  } else {
    return lane::width<lane::made_of<Result>> == widths[0] &&
                   (lane::element<lane::made_of<typename Rows::value_type>> && ...)
               ? widths[0]
               : 0;
  }
}

// Whether an operation on rows is quick: it is, all its rows are, and lanes of it are its own, or
// made by the compiler where it has none. A real number of a complex one is its size, a root.
template <class Op, class Result, index_t Width, class... Rows>
constexpr bool is_quick_operation() {
  constexpr bool is_size = !is_complex<Result> && (is_complex<typename Rows::value_type> || ...);
  if constexpr (!std::is_base_of_v<quick, Op> || !(Rows::is_quick && ...) || is_size)
    return false;
  else if constexpr (Width != 0)
    return has_lanes<Op, lanes_t<Rows>...>;
  else
    return true;
}

// An operation that for some of its parameters needs calls has is_simple() and, for all others,
// simple(): a loop of the host's that could call something keeps nothing in registers.
template <class Op>
[[nodiscard]] KOKKOS_FUNCTION bool is_simple(const Op& op) {
  if constexpr (requires { op.is_simple(); })
    return op.is_simple();
  else
    return true;
}
template <class Op>
[[nodiscard]] KOKKOS_FUNCTION const auto& simple_of(const Op& op) {
  if constexpr (requires { op.simple(); })
    return op.simple();
  else
    return op;
}

template <class Row>
[[nodiscard]] KOKKOS_FUNCTION bool is_contiguous(const Row& row) {
  if constexpr (requires { row.is_contiguous(); })
    return row.is_contiguous();
  else
    return row.is_dense();
}
template <class Row>
[[nodiscard]] KOKKOS_FUNCTION auto contiguous(const Row& row) {
  if constexpr (requires { row.contiguous(); })
    return row.contiguous();
  else
    return row.dense();
}
template <class Row>
using contiguous_t = decltype(contiguous(std::declval<const Row&>()));

// A part of an operation: a base class, so that parts need no recursion and no std::tuple, whose
// functions are host code to nvcc, and which asks compilers dozens of questions about each type.
template <std::size_t I, class T>
struct part {
  T value;
};

/// The pairs of an operation on rows.
template <class Indices, class Result, class Op, class... Pairs>
struct operation_pairs;

template <std::size_t... I, class Result, class Op, class... Pairs>
struct operation_pairs<std::index_sequence<I...>, Result, Op, Pairs...> : part<I, Pairs>... {
  Op op;

  explicit operation_pairs(const Op& o, const Pairs&... pairs) : part<I, Pairs>{pairs}..., op(o) {}

  [[nodiscard]] index_t end() const { return std::min({part<I, Pairs>::value.end()...}); }
  [[nodiscard, gnu::always_inline]] auto operator()(index_t j) const {
    return lane::of_pairs(
        [this](const auto&... x)
            __attribute__((always_inline)) { return call_lanes<Result>(op, lane::all{}, x...); },
        part<I, Pairs>::value(j)...);
  }
};

template <class Indices, class Op, class... Rows>
struct operation_row_of;

template <std::size_t... I, class Op, class... Rows>
struct operation_row_of<std::index_sequence<I...>, Op, Rows...> : part<I, Rows>... {
  using value_type =
      decltype(call(std::declval<const Op&>(), std::declval<typename Rows::value_type>()...));
  static constexpr index_t width = width_of_operation<Op, value_type, Rows...>();
  static constexpr bool has_pairs = (Rows::has_pairs || ...);
  static constexpr bool is_quick = is_quick_operation<Op, value_type, width, Rows...>();
  Op op;

  KOKKOS_FUNCTION operation_row_of(const Op& o, const Rows&... rows)
      : part<I, Rows>{rows}..., op(o) {}

  KOKKOS_FUNCTION value_type operator[](index_t j) const {
    return call(op, part<I, Rows>::value[j]...);
  }
  // Always inline: a call would have the loop around it store all that it keeps in registers.
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, lane::all all) const {
    return lanes_from(j, all);
  }
  [[nodiscard]] auto lanes(index_t j, index_t count) const { return lanes_from(j, count); }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, N> packed(index_t j) const {
    return combine_packs<N>(part<I, Rows>::value.template packed<N>(j)...);
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t j) const {
    return (part<I, Rows>::value.template packs<N>(j) && ...);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const {
    return is_simple(op) && (part<I, Rows>::value.is_dense() && ...);
  }
  [[nodiscard]] KOKKOS_FUNCTION auto dense() const {
    using dense_rows =
        operation_row_of<std::index_sequence<I...>, std::decay_t<decltype(simple_of(op))>,
                         std::decay_t<decltype(std::declval<const Rows&>().dense())>...>;
    return dense_rows(simple_of(op), part<I, Rows>::value.dense()...);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_contiguous() const {
    return (detail::is_contiguous(part<I, Rows>::value) && ...);
  }
  [[nodiscard]] KOKKOS_FUNCTION auto contiguous() const {
    using rows = operation_row_of<std::index_sequence<I...>, Op, contiguous_t<Rows>...>;
    return rows(op, detail::contiguous(part<I, Rows>::value)...);
  }
  [[nodiscard]] bool is_same() const { return (part<I, Rows>::value.is_same() && ...); }
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, 2> two(index_t j, index_t distance) const {
    return combine_packs<2>(part<I, Rows>::value.two(j, distance)...);
  }
  [[nodiscard]] index_t partner() const {
    constexpr index_t none = -1;
    index_t found = none;
    const auto look = [&](const auto& row) {
      if constexpr (std::decay_t<decltype(row)>::has_pairs)
        found = found == none || found == row.partner() ? row.partner() : 0;
    };
    (look(part<I, Rows>::value), ...);
    return found == none ? 0 : found;
  }
  [[nodiscard]] auto paired(index_t distance) const {
    using all = operation_pairs<std::index_sequence<I...>, value_type, Op,
                                decltype(part<I, Rows>::value.paired(distance))...>;
    return all(op, part<I, Rows>::value.paired(distance)...);
  }

 private:
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto lanes_from(index_t j, Count count) const {
    return call_lanes<value_type>(op, count, part<I, Rows>::value.lanes(j, count)...);
  }
  template <int N, class... Packs>
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, N> combine_packs(const Packs&... packs) const {
    pack<value_type, N> result;
    for (int i = 0; i < N; ++i) result.value[i] = call(op, packs.value[i]...);
    return result;
  }
};

/// An operation on rows.
template <class Op, class... Rows>
using operation_row = operation_row_of<std::index_sequence_for<Rows...>, Op, Rows...>;

template <class Op, class... Rows>
[[nodiscard]] KOKKOS_FUNCTION operation_row<Op, Rows...> make_row(const Op& op,
                                                                  const Rows&... rows) {
  return {op, rows...};
}

}  // namespace topos::detail
