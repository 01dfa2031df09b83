// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Choices between elements, and a user's own functions of them.

#include <concepts>
#include <limits>
#include <topos/expr/elementwise.hpp>
#include <utility>

namespace topos {

/// The elements of `a` where the condition is true, else those of `b`; both are computed. The
/// condition and one of the others are tensors or expressions.
template <detail::given_operand C, class A, class B>
  requires detail::given_operands<A, B>
[[nodiscard]] auto where(C&& condition, A&& a, B&& b,
                         std::source_location place = std::source_location::current()) {
  using T = detail::common_t<A, B>;
  return detail::make_node("where", place, detail::where_op{},
                           detail::node_as<bool>(std::forward<C>(condition)),
                           detail::node_as<T>(std::forward<A>(a), "where", place),
                           detail::node_as<T>(std::forward<B>(b), "where", place));
}
/// Between two scalars, which become int32 or float elements.
template <detail::given_operand C, detail::scalar A, detail::scalar B>
[[nodiscard]] auto where(C&& condition, A a, B b,
                         std::source_location place = std::source_location::current()) {
  using T = weak_promote_t<weak_promote_t<bool, A>, B>;
  return detail::make_node(
      "where", place, detail::where_op{}, detail::node_as<bool>(std::forward<C>(condition)),
      detail::node_as<T>(a, "where", place), detail::node_as<T>(b, "where", place));
}

namespace detail {

template <class T, class X>
struct type_with {
  using type = weak_promote_t<T, X>;
};
template <class T, operand X>
struct type_with<T, X> {
  using type = promote_t<T, value_of_t<X>>;
};

// Arrays come first: a scalar takes the type that they have in common.
template <class X, class Low, class High>
struct clipped_type : type_with<typename type_with<value_of_t<X>, Low>::type, High> {};
template <class X, scalar Low, operand High>
struct clipped_type<X, Low, High> : clipped_type<X, High, Low> {};

// A bound as a node; a whole number beyond those of T bounds nothing.
template <class T, bool IsLower, class Bound>
[[nodiscard]] auto bound_as(Bound&& bound, std::source_location where) {
  if constexpr (is_integer<T> && std::integral<std::remove_cvref_t<Bound>>) {
    constexpr T last = IsLower ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    if (IsLower ? std::cmp_less(+bound, last) : std::cmp_greater(+bound, last))
      return constant_node<T>(last);
  }
  return node_as<T>(std::forward<Bound>(bound), "clip", where);
}

}  // namespace detail

/// The elements held between two bounds, which are scalars, tensors or expressions; all three
/// promote as in an operation.
template <detail::given_operand X, class Low, class High>
[[nodiscard]] auto clip(X&& x, Low&& low, High&& high,
                        std::source_location where = std::source_location::current()) {
  using T = typename detail::clipped_type<std::remove_cvref_t<X>, std::remove_cvref_t<Low>,
                                          std::remove_cvref_t<High>>::type;
  return detail::make_node("clip", where, detail::clip_op{}, detail::node_as<T>(std::forward<X>(x)),
                           detail::bound_as<T, true>(std::forward<Low>(low), where),
                           detail::bound_as<T, false>(std::forward<High>(high), where));
}

namespace detail {

template <class X>
concept argument = given_operand<X> || element<std::remove_cvref_t<X>>;

// A scalar keeps its own type: the function, and no other operand, says what it takes.
template <argument X>
[[nodiscard]] auto argument_node(X&& x) {
  if constexpr (given_operand<X>)
    return node_as<value_of_t<X>>(std::forward<X>(x));
  else
    return constant_node<std::remove_cvref_t<X>>(x);
}

}  // namespace detail

/// function(x...) of each element of tensors or expressions that broadcast, and of scalars, one of
/// them an operand; each is passed in its own type, and what the function returns is the result's
/// type.
///
/// The function is a function, or a copyable object, without side effects, called with elements
/// alone, in any order and on several threads at once; for CUDA its operator() is a
/// KOKKOS_FUNCTION. What it throws on the host becomes the failure of the result. Where it is
/// called with the same elements in several places of an expression, the host may call it once if
/// it has no members, or an operator== by which only functions that give the same are equal. A
/// member `lanes(batches...)` computes several elements at once on the host, to the same bits;
/// lanes past the last element hold any numbers.
template <class Function, detail::argument X, detail::argument Y>
  requires(detail::given_operand<X> || detail::given_operand<Y>)
[[nodiscard]] auto map(const Function& function, X&& x, Y&& y,
                       std::source_location where = std::source_location::current()) {
  return detail::make_node<std::decay_t<const Function&>>(
      "map", where, function, detail::argument_node(std::forward<X>(x)),
      detail::argument_node(std::forward<Y>(y)));
}
template <class Function, detail::given_operand X>
[[nodiscard]] auto map(const Function& function, X&& x,
                       std::source_location where = std::source_location::current()) {
  return detail::make_node<std::decay_t<const Function&>>(
      "map", where, function, detail::argument_node(std::forward<X>(x)));
}
template <class Function, detail::argument... X>
  requires(detail::given_operand<X> || ...)
[[nodiscard]] auto map(const Function& function, X&&... x) {
  return detail::make_node<std::decay_t<const Function&>>(
      "map", {}, function, detail::argument_node(std::forward<X>(x))...);
}

}  // namespace topos
