// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Calls of elementwise operations, with elements or with lanes of them. Sixteen-bit floats are
/// computed with as float, and each result is rounded.

#include <topos/core/promotion.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

namespace topos::detail {

/// A base of operations that take float where the elements are of a sixteen-bit type.
struct widening {};

/// A base of operations that complex numbers have not.
struct of_reals {};

/// A base of operations that pass numbers on, as they are or in another type: their lanes may be of
/// a sixteen-bit type too.
struct passing {};

/// A base of operations whose lanes take a few instructions, as those of arithmetic do: no more
/// time than to load what they are of.
struct quick {};

/// A base of others whose lanes take an instruction or two.
struct brief {};

/// A base of operations under which the numbers of each type are closed, whose results sixteen-bit
/// floats have as they are: one of the operands, another sign, a whole number.
struct closed {};

/// A base of operations that keep a product by itself, by `lane::rounded`: of loops with it
/// compilers make no lanes.
struct keeping_products {};

template <class T>
KOKKOS_FUNCTION auto widen(const T& value) {
  if constexpr (is_half<T>)
    return static_cast<float>(value);
  else
    return value;
}

// The sixteen-bit type among some.
template <class... T>
struct half_among;
template <class T, class... Rest>
struct half_among<T, Rest...>
    : std::conditional_t<is_half<T>, std::type_identity<T>, half_among<Rest...>> {};

/// `op` of values.
TOPOS_HOST_BRANCH
template <class Op, class... T>
KOKKOS_FUNCTION auto call(const Op& op, const T&... values) {
  static_assert(!std::is_base_of_v<of_reals, Op> || !(is_complex<T> || ...),
                "topos: complex numbers have no such operation: take real(x), imag(x) or abs(x)");
  if constexpr ((is_half<T> || ...) && std::is_base_of_v<widening, Op>) {
    using result = decltype(op(widen(values)...));
    if constexpr (std::is_same_v<result, float>)
      return typename half_among<T...>::type(op(widen(values)...));
    else
      return op(widen(values)...);
  } else {
    return op(values...);
  }
}

template <class Op, class... Lanes>
concept has_lanes = requires(const Op& op, const Lanes&... lanes) {
  op.lanes(lanes...);
};

/// `op` of lanes, of which `count` are elements (lane::all: all), for elements of Result. An
/// operation without lanes of its own is called with these elements alone.
template <class Result, class Op, class Count, class... Lanes>
[[nodiscard, gnu::always_inline]] inline auto call_lanes(const Op& op, Count count,
                                                         const Lanes&... lanes) {
  if constexpr (is_half<Result> && !std::is_base_of_v<closed, Op>)
    return lane::to_half<Result>(call_lanes<float>(op, count, lanes...));
  else if constexpr (has_lanes<Op, Lanes...>)
    return op.lanes(lanes...);
  else if constexpr (std::is_same_v<Count, lane::all>)
    return lane::each(op, lanes...);
  else
    return lane::each_of_first(count, op, lanes...);
}

}  // namespace topos::detail
