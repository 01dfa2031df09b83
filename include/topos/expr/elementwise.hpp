// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arithmetic, comparisons and bits of tensors and expressions: they compute nothing, they build.
/// The operators for them are in expr/operators.hpp.
///
/// Operands broadcast as NumPy's, their types promote as JAX's (core/promotion.hpp). What does not
/// fit throws `shape_mismatch` or `device_mismatch`.

#include <limits>
#include <topos/expr/operation_node.hpp>
#include <utility>

namespace topos {

namespace detail {

/// An expression's elements as another type.
template <class To, class Given>
  requires expression<std::remove_cvref_t<Given>>
[[nodiscard]] auto convert(Given&& e) {
  using E = std::remove_cvref_t<Given>;
  if constexpr (std::same_as<typename E::value_type, To>)
    return E(std::forward<Given>(e));
  else if constexpr (E::rank == 0 && requires { e.value; })
    return constant_node<To>(convert_op<To>{}(e.value));
  else
    return operation_node<convert_op<To>, E>("astype", {}, {}, std::forward<Given>(e));
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
using common_t = typename common_of_two<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::type;

/// Throws `invalid_argument` for a whole number that integers of type T do not have: it would
/// become another, as JAX lets it. (NumPy raises OverflowError, but compares with any number.)
template <class T, class X>
void require_fits(const char* name, const X& x, std::source_location where) {
  if constexpr (is_integer<T> && std::integral<X> && !std::same_as<X, bool>) {
    using limits = std::numeric_limits<T>;
    if (std::in_range<T>(+x)) return;
    throw invalid_argument(concat(name, ": the number ", +x, " does not fit ", dtype_name_v<T>,
                                  ", which holds ", +limits::min(), " to ", +limits::max(),
                                  "; convert the other operand with astype first"),
                           where);
  }
}

/// An operand or scalar as a node of elements of type T.
template <class T, class X>
[[nodiscard]] auto node_as(X&& x, const char* name = "", std::source_location where = {}) {
  if constexpr (given_operand<X>) {
    return convert<T>(as_node(std::forward<X>(x)));
  } else {
    require_fits<T>(name, x, where);
    return constant_node<T>(convert_op<T>{}(x));
  }
}

template <class Source>
using elements_of = std::decay_t<decltype(std::declval<const Source&>().elements())>;

/// Whether the elements of an expression take longer to make than to load.
template <class E>
inline constexpr bool is_costly = true;
template <class Source, std::size_t Rank>
inline constexpr bool is_costly<strided_node<Source, Rank>> =
    !dense_row<elements_of<Source>>::is_quick && !counting<elements_of<Source>>;
template <class T>
inline constexpr bool is_costly<constant_node<T>> = false;
template <class Op, class... E>
inline constexpr bool is_costly<operation_node<Op, E...>> =
    !std::is_base_of_v<quick, Op> || (is_costly<E> || ...);

/// The elements of an expression in memory of their own, enqueued at once: where tensors are.
template <expression E>
[[nodiscard]] tensor_node<typename E::value_type, E::rank> computed(const E& e,
                                                                    std::source_location where);

/// A part of an operation on as many axes. One of fewer is needed again and again: it is computed
/// once, as reductions are, unless that takes no longer than to load it.
template <std::size_t Rank, class Given>
[[nodiscard]] decltype(auto) part_of(Given&& node, std::source_location where) {
  using Node = std::remove_cvref_t<Given>;
  if constexpr (Node::rank != 0 && Node::rank < Rank && is_costly<Node>)
    return computed(node, where);
  else
    return std::forward<Given>(node);
}

/// An operation on nodes. Where it was made is taken from them where no line is given.
template <class Op, class... Nodes>
[[nodiscard]] auto make_node(const char* name, std::source_location where, const Op& op,
                             Nodes&&... nodes) {
  constexpr std::size_t rank = std::max({std::remove_cvref_t<Nodes>::rank...});
  ((where = where.line() != 0 ? where : made_at(nodes)), ...);
  using node =
      operation_node<Op,
                     std::decay_t<decltype(part_of<rank>(std::forward<Nodes>(nodes), where))>...>;
  return node(name, where, op, part_of<rank>(std::forward<Nodes>(nodes), where)...);
}

/// Op on one operand of its own type.
template <class Op, given_operand A>
[[nodiscard]] auto apply(A&& a) {
  return make_node("", {}, Op{}, as_node(std::forward<A>(a)));
}

/// Op on one operand as floating-point numbers.
template <class Op, given_operand A>
[[nodiscard]] auto apply_floating(A&& a) {
  return make_node("", {}, Op{}, node_as<floating_t<value_of_t<A>>>(std::forward<A>(a)));
}

/// Op on one operand that is no bool.
template <class Op, given_operand A>
[[nodiscard]] auto apply_negative(A&& a) {
  static_assert(!std::same_as<value_of_t<A>, bool>,
                "topos: bools have no negative: use !, or astype to an integer first");
  return apply<Op>(std::forward<A>(a));
}

/// Op on one operand that is whole numbers or bools.
template <class Op, given_operand A>
[[nodiscard]] auto apply_integral(A&& a) {
  static_assert(std::integral<value_of_t<A>>,
                "topos: bit operations take integers or bools, not floating-point numbers");
  return apply<Op>(std::forward<A>(a));
}

/// Op on one operand as bools: true where not 0.
template <class Op, given_operand A>
[[nodiscard]] auto apply_logical(A&& a) {
  return make_node("", {}, Op{}, node_as<bool>(std::forward<A>(a)));
}

/// Op on two operands in the type that they have in common.
template <class Op, class A, class B>
[[nodiscard]] auto apply(const char* name, A&& a, B&& b, std::source_location where) {
  using T = common_t<A, B>;
  return make_node(name, where, Op{}, node_as<T>(std::forward<A>(a), name, where),
                   node_as<T>(std::forward<B>(b), name, where));
}

/// Op on two operands; integers by one number are a matter of the first alone.
template <class Op, class A, class B>
[[nodiscard]] auto apply_division(const char* name, A&& a, B&& b, std::source_location where) {
  using T = common_t<A, B>;
  if constexpr (std::integral<T> && !std::same_as<T, bool> && !given_operand<B>) {
    const auto number = node_as<T>(b, name, where);
    const typename Op::template by_number<T> op{number_divisor<T>(number.value)};
    return make_node(name, where, op, node_as<T>(std::forward<A>(a), name, where));
  } else {
    return apply<Op>(name, std::forward<A>(a), std::forward<B>(b), where);
  }
}

/// Op on two operands as floating-point numbers.
template <class Op, class A, class B>
[[nodiscard]] auto apply_floating(const char* name, A&& a, B&& b, std::source_location where) {
  using T = floating_t<common_t<A, B>>;
  return make_node(name, where, Op{}, node_as<T>(std::forward<A>(a), name, where),
                   node_as<T>(std::forward<B>(b), name, where));
}

/// Op on two operands that are whole numbers or bools.
template <class Op, class A, class B>
[[nodiscard]] auto apply_integral(const char* name, A&& a, B&& b, std::source_location where) {
  static_assert(std::integral<common_t<A, B>>,
                "topos: bit operations take integers or bools, not floating-point numbers");
  return apply<Op>(name, std::forward<A>(a), std::forward<B>(b), where);
}

/// Op on two operands that are whole numbers.
template <class Op, class A, class B>
[[nodiscard]] auto apply_shift(const char* name, A&& a, B&& b, std::source_location where) {
  using T = common_t<A, B>;
  static_assert(!std::same_as<T, bool>, "topos: bools have no bits to shift");
  // More than the width is as much as the width.
  if constexpr (std::integral<std::remove_cvref_t<B>>) {
    constexpr int most = 8 * sizeof(T);
    if (std::cmp_greater(+b, most))
      return apply_integral<Op>(name, std::forward<A>(a), T(most), where);
    return apply_integral<Op>(name, std::forward<A>(a), T(b), where);
  } else {
    return apply_integral<Op>(name, std::forward<A>(a), std::forward<B>(b), where);
  }
}

/// Op on two operands one of which is no bool.
template <class Op, class A, class B>
[[nodiscard]] auto apply_difference(const char* name, A&& a, B&& b, std::source_location where) {
  static_assert(!std::same_as<common_t<A, B>, bool>,
                "topos: bools have no difference: use ^, or astype to an integer first");
  return apply<Op>(name, std::forward<A>(a), std::forward<B>(b), where);
}

/// Op on two operands as bools: true where not 0.
template <class Op, class A, class B>
[[nodiscard]] auto apply_logical(const char* name, A&& a, B&& b, std::source_location where) {
  return make_node(name, where, Op{}, node_as<bool>(std::forward<A>(a)),
                   node_as<bool>(std::forward<B>(b)));
}

}  // namespace detail

// A function of one operand, here and in expr/math.hpp; `how` makes its node of the operation.
#define TOPOS_FUNCTION_OF_ONE(name, how, operation)                      \
  [[nodiscard]] auto name(detail::given_operand auto&& a) {              \
    return detail::how<detail::operation>(std::forward<decltype(a)>(a)); \
  }

// The same of two.
#define TOPOS_FUNCTION_OF_TWO(name, how, operation)                                              \
  template <class A, class B>                                                                    \
    requires detail::given_operands<A, B>                                                        \
  [[nodiscard]] auto name(A&& a, B&& b,                                                          \
                          std::source_location where = std::source_location::current()) {        \
    return detail::how<detail::operation>(#name, std::forward<A>(a), std::forward<B>(b), where); \
  }

/// The elementwise sum.
TOPOS_FUNCTION_OF_TWO(add, apply, add_op)
/// The elementwise difference.
TOPOS_FUNCTION_OF_TWO(subtract, apply_difference, subtract_op)
/// The elementwise product.
TOPOS_FUNCTION_OF_TWO(multiply, apply, multiply_op)
/// The elementwise true quotient: of integers too it is floating-point.
TOPOS_FUNCTION_OF_TWO(divide, apply_floating, divide_op)
/// What floor division leaves, of the sign of the divisor; of integers by 0 it is 0.
TOPOS_FUNCTION_OF_TWO(remainder, apply_division, remainder_op)

/// The elementwise comparison, an expression of bools. Integers compare with whole numbers that
/// their type has: `invalid_argument` is thrown for others.
TOPOS_FUNCTION_OF_TWO(equal, apply, equal_op)
TOPOS_FUNCTION_OF_TWO(not_equal, apply, not_equal_op)
TOPOS_FUNCTION_OF_TWO(less, apply, less_op)
TOPOS_FUNCTION_OF_TWO(less_equal, apply, less_equal_op)
TOPOS_FUNCTION_OF_TWO(greater, apply, greater_op)
TOPOS_FUNCTION_OF_TWO(greater_equal, apply, greater_equal_op)

/// True where both are not 0. Both operands are computed.
TOPOS_FUNCTION_OF_TWO(logical_and, apply_logical, bitwise_and_op)
/// True where one is not 0. Both operands are computed.
TOPOS_FUNCTION_OF_TWO(logical_or, apply_logical, bitwise_or_op)
/// True where one is 0 and the other is not.
TOPOS_FUNCTION_OF_TWO(logical_xor, apply_logical, bitwise_xor_op)

/// The bits of integers or bools, element by element.
TOPOS_FUNCTION_OF_TWO(bitwise_and, apply_integral, bitwise_and_op)
TOPOS_FUNCTION_OF_TWO(bitwise_or, apply_integral, bitwise_or_op)
TOPOS_FUNCTION_OF_TWO(bitwise_xor, apply_integral, bitwise_xor_op)
/// Shifted integers; by the width of the type or more, nothing of the number is left.
TOPOS_FUNCTION_OF_TWO(left_shift, apply_shift, left_shift_op)
TOPOS_FUNCTION_OF_TWO(right_shift, apply_shift, right_shift_op)

/// The elementwise negative.
TOPOS_FUNCTION_OF_ONE(operator-, apply_negative, negate_op)
/// The elementwise negative, as a function.
TOPOS_FUNCTION_OF_ONE(negative, apply_negative, negate_op)

/// The elements themselves.
[[nodiscard]] auto operator+(detail::given_operand auto&& a) {
  return detail::node_as<detail::value_of_t<decltype(a)>>(std::forward<decltype(a)>(a));
}

/// True where it is 0.
TOPOS_FUNCTION_OF_ONE(operator!, apply_logical, logical_not_op)
/// The same as a function.
TOPOS_FUNCTION_OF_ONE(logical_not, apply_logical, logical_not_op)

/// The complement of the bits of integers or bools.
TOPOS_FUNCTION_OF_ONE(operator~, apply_integral, bitwise_not_op)
/// The same as a function.
TOPOS_FUNCTION_OF_ONE(bitwise_not, apply_integral, bitwise_not_op)

/// The elements as another type: floats are cut off towards 0 and held within an integer's range,
/// NaN becomes 0.
template <element To, detail::given_operand A>
[[nodiscard]] auto astype(A&& a) {
  static_assert(!detail::is_complex<detail::value_of_t<A>> || detail::is_complex<To>,
                "topos: a complex number is no real one: take real(x), imag(x) or abs(x)");
  return detail::convert<To>(detail::as_node(std::forward<A>(a)));
}

}  // namespace topos
