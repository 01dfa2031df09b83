// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The operators of two operands: each is the function of expr/elementwise.hpp that it stands for.
///
/// An operator has no room for a default argument, so it does not know where it is called. Those of
/// tensors and of what else is no expression yet do: their operand is converted to one that knows.

#include <topos/expr/elementwise.hpp>

namespace topos {

namespace detail {

/// An operand, and where in the user's source it is used.
template <class X>
struct located {
  X& value;
  std::source_location where;

  // Not explicit: the conversion is made where the operator stands.
  located(X& x, std::source_location w = std::source_location::current()) : value(x), where(w) {}
};

/// The base of what has located_operators.
struct stand_in_base {};
template <class X>
concept stand_in = std::is_base_of_v<stand_in_base, X>;

#define TOPOS_LOCATED_OPERATOR(sign, name)                                     \
  template <operand_or_scalar B>                                               \
  [[nodiscard]] friend auto operator sign(located<const Self> a, const B& b) { \
    return topos::name(a.value, b, a.where);                                   \
  }                                                                            \
  template <operand_or_scalar A>                                               \
    requires(!stand_in<A>)                                                     \
  [[nodiscard]] friend auto operator sign(const A& a, located<const Self> b) { \
    return topos::name(a, b.value, b.where);                                   \
  }

/// The operators of what derives from this: tensors, and what else is computed before it is an
/// operand. == and != are not among them, since C++ tries them either way round, and could not
/// choose.
template <class Self>
struct located_operators : stand_in_base {
  TOPOS_LOCATED_OPERATOR(+, add)
  TOPOS_LOCATED_OPERATOR(-, subtract)
  TOPOS_LOCATED_OPERATOR(*, multiply)
  TOPOS_LOCATED_OPERATOR(/, divide)
  TOPOS_LOCATED_OPERATOR(%, remainder)
  TOPOS_LOCATED_OPERATOR(<, less)
  TOPOS_LOCATED_OPERATOR(<=, less_equal)
  TOPOS_LOCATED_OPERATOR(>, greater)
  TOPOS_LOCATED_OPERATOR(>=, greater_equal)
  TOPOS_LOCATED_OPERATOR(&&, logical_and)
  TOPOS_LOCATED_OPERATOR(||, logical_or)
  TOPOS_LOCATED_OPERATOR(&, bitwise_and)
  TOPOS_LOCATED_OPERATOR(|, bitwise_or)
  TOPOS_LOCATED_OPERATOR(^, bitwise_xor)
  TOPOS_LOCATED_OPERATOR(<<, left_shift)
  TOPOS_LOCATED_OPERATOR(>>, right_shift)
};
#undef TOPOS_LOCATED_OPERATOR

/// Two operands none of which has operators of its own.
template <class A, class B>
concept expressions = operands<A, B> && !stand_in<A> && !stand_in<B>;

}  // namespace detail

#define TOPOS_OPERATOR(sign, name, kind)                     \
  template <class A, class B>                                \
    requires detail::kind<A, B>                              \
  [[nodiscard]] auto operator sign(const A& a, const B& b) { \
    return topos::name(a, b, std::source_location{});        \
  }
TOPOS_OPERATOR(+, add, expressions)
TOPOS_OPERATOR(-, subtract, expressions)
TOPOS_OPERATOR(*, multiply, expressions)
TOPOS_OPERATOR(/, divide, expressions)
TOPOS_OPERATOR(%, remainder, expressions)
TOPOS_OPERATOR(<, less, expressions)
TOPOS_OPERATOR(<=, less_equal, expressions)
TOPOS_OPERATOR(>, greater, expressions)
TOPOS_OPERATOR(>=, greater_equal, expressions)
TOPOS_OPERATOR(&&, logical_and, expressions)
TOPOS_OPERATOR(||, logical_or, expressions)
TOPOS_OPERATOR(&, bitwise_and, expressions)
TOPOS_OPERATOR(|, bitwise_or, expressions)
TOPOS_OPERATOR(^, bitwise_xor, expressions)
TOPOS_OPERATOR(<<, left_shift, expressions)
TOPOS_OPERATOR(>>, right_shift, expressions)
TOPOS_OPERATOR(==, equal, operands)
TOPOS_OPERATOR(!=, not_equal, operands)
#undef TOPOS_OPERATOR

}  // namespace topos
