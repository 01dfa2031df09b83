// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators and functions on tensors and expressions: they compute nothing, they build.

#include <concepts>
#include <topos/expr/expression.hpp>
#include <topos/expr/operations.hpp>

namespace topos {

namespace detail {

template <class S>
concept scalar = std::integral<S> || std::floating_point<S>;

template <class Op, operand A>
[[nodiscard]] auto apply(const A& a) {
  return unary_node<Op, node_t<A>>{as_node(a)};
}

// Functions whose values are no integers.
template <class Op, operand A>
[[nodiscard]] auto apply_floating(const A& a) {
  static_assert(!std::integral<typename node_t<A>::value_type>,
                "topos: this function takes floating-point elements, not integers");
  return apply<Op>(a);
}

// A scalar as the other side's type.
template <class T, scalar S>
[[nodiscard]] constant_node<T> constant(S value) {
  static_assert(!(std::floating_point<S> && std::integral<T>),
                "topos: a floating-point scalar would be cut off to meet integer elements");
  return {static_cast<T>(value)};
}

// The two sides have one type; a scalar takes the other side's.
template <class Op, class A, class B>
[[nodiscard]] auto apply(const char* name, const A& a, const B& b) {
  if constexpr (scalar<A>) {
    using T = typename node_t<B>::value_type;
    return binary_node<Op, constant_node<T>, node_t<B>>(name, constant<T>(a), as_node(b));
  } else if constexpr (scalar<B>) {
    using T = typename node_t<A>::value_type;
    return binary_node<Op, node_t<A>, constant_node<T>>(name, as_node(a), constant<T>(b));
  } else {
    static_assert(std::same_as<typename node_t<A>::value_type, typename node_t<B>::value_type>,
                  "topos: both operands must have the same element type");
    return binary_node<Op, node_t<A>, node_t<B>>(name, as_node(a), as_node(b));
  }
}

/// Two operands of an operator: at least one tensor or expression, the other that or a scalar.
template <class A, class B>
concept operands = (operand<A> && (operand<B> || scalar<B>)) || (scalar<A> && operand<B>);

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

/// The elementwise quotient.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto operator/(const A& a, const B& b) {
  return detail::apply<detail::divide_op>("divide", a, b);
}

/// The elementwise negative.
[[nodiscard]] auto operator-(const operand auto& a) { return detail::apply<detail::negate_op>(a); }

/// The elementwise absolute value.
[[nodiscard]] auto abs(const operand auto& a) { return detail::apply<detail::abs_op>(a); }

/// The elementwise square.
[[nodiscard]] auto square(const operand auto& a) { return detail::apply<detail::square_op>(a); }

/// The elementwise square root.
[[nodiscard]] auto sqrt(const operand auto& a) {
  return detail::apply_floating<detail::sqrt_op>(a);
}

/// The elementwise exponential.
[[nodiscard]] auto exp(const operand auto& a) { return detail::apply_floating<detail::exp_op>(a); }

/// The elementwise natural logarithm.
[[nodiscard]] auto log(const operand auto& a) { return detail::apply_floating<detail::log_op>(a); }

/// The elementwise hyperbolic tangent.
[[nodiscard]] auto tanh(const operand auto& a) {
  return detail::apply_floating<detail::tanh_op>(a);
}

/// The elementwise error function.
[[nodiscard]] auto erf(const operand auto& a) { return detail::apply_floating<detail::erf_op>(a); }

/// The elementwise Gaussian error linear unit, x/2 (1 + erf(x/sqrt 2)).
[[nodiscard]] auto gelu(const operand auto& a) {
  return detail::apply_floating<detail::gelu_op>(a);
}

namespace detail {

// Nodes live here, so that argument-dependent look-up finds what combines them here too.
using topos::operator+;
using topos::operator-;
using topos::operator*;
using topos::operator/;
using topos::abs;
using topos::erf;
using topos::exp;
using topos::gelu;
using topos::log;
using topos::sqrt;
using topos::square;
using topos::tanh;

}  // namespace detail
}  // namespace topos
