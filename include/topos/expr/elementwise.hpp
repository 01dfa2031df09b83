// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators on tensors and expressions: they compute nothing, they build.
///
/// Operands broadcast as NumPy's, their types promote as JAX's (core/promotion.hpp). What does not
/// fit throws `shape_mismatch` or `device_mismatch`.

#include <topos/expr/operation_node.hpp>

namespace topos {

namespace detail {

/// Two operands of an operator: at least one tensor or expression, the other that or a scalar.
template <class A, class B>
concept operands = (operand<A> && (operand<B> || scalar<B>)) || (scalar<A> && operand<B>);

/// An expression's elements as another type.
template <class To, expression E>
[[nodiscard]] auto convert(const E& e) {
  using From = typename E::value_type;
  if constexpr (std::same_as<From, To>)
    return e;
  else if constexpr (E::rank == 0 && requires { e.value; })
    return constant_node<To>(convert_op<To>{}(e.value));
  else
    return operation_node<convert_op<To>, E>("astype", {}, {}, e);
}

// The common type of operands and scalars: scalars take part by their kind alone.
template <class A, class B>
struct common_of_two {
  static constexpr auto choose() {
    if constexpr (operand<A> && operand<B>)
      return std::type_identity<promote_t<value_of_t<A>, value_of_t<B>>>{};
    else if constexpr (operand<A>)
      return std::type_identity<weak_promote_t<value_of_t<A>, B>>{};
    else
      return std::type_identity<weak_promote_t<value_of_t<B>, A>>{};
  }
  using type = typename decltype(choose())::type;
};
template <class A, class B>
using common_t = typename common_of_two<A, B>::type;

/// An operand or scalar as a node of elements of type T.
template <class T, class X>
[[nodiscard]] auto node_as(const X& x) {
  if constexpr (operand<X>)
    return convert<T>(as_node(x));
  else
    return constant_node<T>(convert_op<T>{}(x));
}

template <class Op, class... Nodes>
[[nodiscard]] auto make_node(const char* name, std::source_location where, const Op& op,
                             const Nodes&... nodes) {
  return operation_node<Op, Nodes...>(name, where, op, nodes...);
}

/// Op on one operand of its own type.
template <class Op, operand A>
[[nodiscard]] auto apply(const A& a) {
  return make_node("", {}, Op{}, as_node(a));
}

/// Op on one operand as floating-point numbers.
template <class Op, operand A>
[[nodiscard]] auto apply_floating(const A& a) {
  return make_node("", {}, Op{}, convert<floating_t<value_of_t<A>>>(as_node(a)));
}

/// Op on two operands in the type that they have in common.
template <class Op, class A, class B>
[[nodiscard]] auto apply(const char* name, const A& a, const B& b,
                         std::source_location where = std::source_location::current()) {
  using T = common_t<A, B>;
  return make_node(name, where, Op{}, node_as<T>(a), node_as<T>(b));
}

/// Op on two operands as floating-point numbers.
template <class Op, class A, class B>
[[nodiscard]] auto apply_floating(const char* name, const A& a, const B& b,
                                  std::source_location where = std::source_location::current()) {
  using T = floating_t<common_t<A, B>>;
  return make_node(name, where, Op{}, node_as<T>(a), node_as<T>(b));
}

/// Op on two operands that are whole numbers or bools.
template <class Op, class A, class B>
[[nodiscard]] auto apply_integral(const char* name, const A& a, const B& b) {
  static_assert(std::integral<common_t<A, B>>,
                "topos: bit operations take integers or bools, not floating-point numbers");
  return apply<Op>(name, a, b);
}

/// Op on two operands that are whole numbers.
template <class Op, class A, class B>
[[nodiscard]] auto apply_shift(const char* name, const A& a, const B& b) {
  static_assert(!std::same_as<common_t<A, B>, bool>, "topos: bools have no bits to shift");
  return apply_integral<Op>(name, a, b);
}

/// Op on two operands as bools: true where not 0.
template <class Op, class A, class B>
[[nodiscard]] auto apply_logical(const char* name, const A& a, const B& b) {
  return make_node(name, std::source_location::current(), Op{}, node_as<bool>(a), node_as<bool>(b));
}

}  // namespace detail

/// The elementwise sum.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator+(const A& a, const B& b) {
  return detail::apply<detail::add_op>("add", a, b);
}

/// The elementwise difference.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator-(const A& a, const B& b) {
  return detail::apply<detail::subtract_op>("subtract", a, b);
}

/// The elementwise product.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator*(const A& a, const B& b) {
  return detail::apply<detail::multiply_op>("multiply", a, b);
}

/// The elementwise true quotient: of integers too it is floating-point.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator/(const A& a, const B& b) {
  return detail::apply_floating<detail::divide_op>("divide", a, b);
}

/// The elementwise remainder, of the sign of the divisor; of integers by 0 it is 0.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator%(const A& a, const B& b) {
  return detail::apply<detail::remainder_op>("remainder", a, b);
}

/// The elementwise negative.
[[nodiscard]] auto operator-(const operand auto& a) { return detail::apply<detail::negate_op>(a); }

/// The elements themselves.
[[nodiscard]] auto operator+(const operand auto& a) { return detail::as_node(a); }

/// The elementwise comparison, an expression of bools.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator==(const A& a, const B& b) {
  return detail::apply<detail::equal_op>("equal", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator!=(const A& a, const B& b) {
  return detail::apply<detail::not_equal_op>("not_equal", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator<(const A& a, const B& b) {
  return detail::apply<detail::less_op>("less", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator<=(const A& a, const B& b) {
  return detail::apply<detail::less_equal_op>("less_equal", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator>(const A& a, const B& b) {
  return detail::apply<detail::greater_op>("greater", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator>=(const A& a, const B& b) {
  return detail::apply<detail::greater_equal_op>("greater_equal", a, b);
}

/// True where both are not 0. Both operands are computed.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator&&(const A& a, const B& b) {
  return detail::apply_logical<detail::bitwise_and_op>("logical_and", a, b);
}
/// True where one is not 0. Both operands are computed.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator||(const A& a, const B& b) {
  return detail::apply_logical<detail::bitwise_or_op>("logical_or", a, b);
}
/// True where it is 0.
[[nodiscard]] auto operator!(const operand auto& a) {
  return detail::make_node("", {}, detail::logical_not_op{}, detail::node_as<bool>(a));
}

/// The bits of integers or bools, element by element.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator&(const A& a, const B& b) {
  return detail::apply_integral<detail::bitwise_and_op>("bitwise_and", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator|(const A& a, const B& b) {
  return detail::apply_integral<detail::bitwise_or_op>("bitwise_or", a, b);
}
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator^(const A& a, const B& b) {
  return detail::apply_integral<detail::bitwise_xor_op>("bitwise_xor", a, b);
}
[[nodiscard]] auto operator~(const operand auto& a) {
  static_assert(std::integral<detail::value_of_t<std::decay_t<decltype(a)>>>,
                "topos: bit operations take integers or bools, not floating-point numbers");
  return detail::apply<detail::bitwise_not_op>(a);
}
/// Shifted integers; by the width of the type or more, nothing of the number is left.
template <operand A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator<<(const A& a, const B& b) {
  return detail::apply_shift<detail::left_shift_op>("left_shift", a, b);
}
template <operand A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator>>(const A& a, const B& b) {
  return detail::apply_shift<detail::right_shift_op>("right_shift", a, b);
}

/// The elements as another type: floats are cut off towards 0 and held within an integer's range,
/// NaN becomes 0.
template <element To, operand A>
[[nodiscard]] auto astype(const A& a) {
  static_assert(!detail::is_complex<detail::value_of_t<A>> || detail::is_complex<To>,
                "topos: a complex number is no real one: take real(x), imag(x) or abs(x)");
  return detail::convert<To>(detail::as_node(a));
}

}  // namespace topos
