// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The operators that expr/located_operators.hpp has not: of operands that have none of their own,
/// and == and != of two types. Each is the function of expr/elementwise.hpp that it stands for, and
/// does not know where it is called.

#include <topos/expr/elementwise.hpp>
#include <topos/expr/located_operators.hpp>

namespace topos {

namespace detail {

/// Two operands none of which has operators of its own: a user's.
template <class A, class B>
concept users_own = operands<A, B> && !has_located_operators<A> && !has_located_operators<B>;

/// Two operands of which == and != are not their own.
template <class A, class B>
concept unlike = operands<A, B> && !(std::same_as<A, B> && has_located_operators<A>);

}  // namespace detail

#define TOPOS_OPERATOR(sign, name, kind)                     \
  template <class A, class B>                                \
    requires detail::kind<A, B>                              \
  [[nodiscard]] auto operator sign(const A& a, const B& b) { \
    return topos::name(a, b, std::source_location{});        \
  }
TOPOS_OPERATOR(+, add, users_own)
TOPOS_OPERATOR(-, subtract, users_own)
TOPOS_OPERATOR(*, multiply, users_own)
TOPOS_OPERATOR(/, divide, users_own)
TOPOS_OPERATOR(%, remainder, users_own)
TOPOS_OPERATOR(<, less, users_own)
TOPOS_OPERATOR(<=, less_equal, users_own)
TOPOS_OPERATOR(>, greater, users_own)
TOPOS_OPERATOR(>=, greater_equal, users_own)
TOPOS_OPERATOR(&&, logical_and, users_own)
TOPOS_OPERATOR(||, logical_or, users_own)
TOPOS_OPERATOR(&, bitwise_and, users_own)
TOPOS_OPERATOR(|, bitwise_or, users_own)
TOPOS_OPERATOR(^, bitwise_xor, users_own)
TOPOS_OPERATOR(<<, left_shift, users_own)
TOPOS_OPERATOR(>>, right_shift, users_own)
TOPOS_OPERATOR(==, equal, unlike)
TOPOS_OPERATOR(!=, not_equal, unlike)
#undef TOPOS_OPERATOR

}  // namespace topos
