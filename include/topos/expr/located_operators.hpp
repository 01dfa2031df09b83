// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators that know where in the user's source they stand: an operator has no room for a default
/// argument, but the conversion of its operand has.

#include <source_location>
#include <topos/expr/operand.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// An operand, and where in the user's source it is used.
template <class X>
struct located {
  X& value;
  std::source_location where;
  bool given = false;  // a temporary, or moved

  // Not explicit: the conversion is made where the operator stands.
  located(X& x, std::source_location w = std::source_location::current()) : value(x), where(w) {}
  located(std::remove_const_t<X>&& x,
          std::source_location w = std::source_location::current()) requires(std::is_const_v<X>)
      : value(x), where(w), given(true) {}

  /// The operand itself: moved, where it is given.
  [[nodiscard]] std::remove_const_t<X> take() const {
    using own = std::remove_const_t<X>;
    return given ? own(std::move(const_cast<own&>(value))) : own(value);
  }
};

/// The base of what has located_operators.
struct located_base {};
template <class X>
concept has_located_operators = std::is_base_of_v<located_base, X>;

// What the operators call is found by its operands, as long as look-up by name ends at functions:
// at these, not at what a program calls `add`, or at std's `less` where it uses the whole
// namespace.
void add() = delete;
void subtract() = delete;
void multiply() = delete;
void divide() = delete;
void remainder() = delete;
void less() = delete;
void less_equal() = delete;
void greater() = delete;
void greater_equal() = delete;
void equal() = delete;
void not_equal() = delete;
void logical_and() = delete;
void logical_or() = delete;
void bitwise_and() = delete;
void bitwise_or() = delete;
void bitwise_xor() = delete;
void left_shift() = delete;
void right_shift() = delete;

#define TOPOS_LOCATED_OPERATOR(sign, name)                                     \
  template <class B>                                                           \
    requires(operand_or_scalar<std::remove_cvref_t<B>>)                        \
  [[nodiscard]] friend auto operator sign(located<const Self> a, B&& b) {      \
    return name(a.take(), std::forward<B>(b), a.where);                        \
  }                                                                            \
  template <operand_or_scalar A>                                               \
    requires(!has_located_operators<A>)                                        \
  [[nodiscard]] friend auto operator sign(const A& a, located<const Self> b) { \
    return name(a, b.take(), b.where);                                         \
  }

/// The operators of what derives from this: expressions, tensors, and what else stands for one.
/// Each is the function of expr/elementwise.hpp, found by its operands. == and != are so for two
/// operands of one type alone: C++ tries them either way round, and could not choose.
template <class Self>
struct located_operators : located_base {
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

  // In braces, which std::equal cannot take for an iterator.
  [[nodiscard]] friend auto operator==(located<const Self> a, located<const Self> b) {
    return equal(a.take(), b.take(), {a.where});
  }
  [[nodiscard]] friend auto operator!=(located<const Self> a, located<const Self> b) {
    return not_equal(a.take(), b.take(), {a.where});
  }
};
#undef TOPOS_LOCATED_OPERATOR

}  // namespace topos::detail
