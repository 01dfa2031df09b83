// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What functions and operators take: expressions, and what stands for one.

#include <algorithm>
#include <concepts>
#include <optional>
#include <source_location>
#include <topos/core/promotion.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/device.hpp>
#include <topos/memory/buffer.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos {

/// The base of all expressions; argument-dependent look-up finds topos' functions by it.
struct lazy {
  /// There is no memory to change.
  template <class X>
  void operator+=(const X& /*x*/) const {
    cannot_be_assigned_to<X>();
  }
  template <class X>
  void operator-=(const X& /*x*/) const {
    cannot_be_assigned_to<X>();
  }
  template <class X>
  void operator*=(const X& /*x*/) const {
    cannot_be_assigned_to<X>();
  }
  template <class X>
  void operator/=(const X& /*x*/) const {
    cannot_be_assigned_to<X>();
  }

 protected:
  template <class X>
  static void cannot_be_assigned_to() {
    static_assert(
        detail::is_never<X>,
        "topos: an expression is not computed and cannot be assigned to: auto keeps it as "
        "it is, so make a tensor of it, auto y = eval(x + 1)");
  }
};

/// What can be computed: an operation on other expressions, or a tensor's leaf.
template <class E>
concept expression = std::is_base_of_v<lazy, E> &&
    requires(const E& e, std::vector<buffer>& reads) {
  typename E::value_type;
  { E::rank } -> std::convertible_to<std::size_t>;
  { e.shape() } -> std::convertible_to<shape<E::rank>>;
  { e.device() } -> std::same_as<std::optional<device>>;
  e.collect(reads);
};

/// What an operator takes: an expression, or what stands for one (a tensor, a reduction), whose
/// `node()` it is.
template <class X>
concept operand = expression<X> || requires(const X& x) {
  { x.node() } -> expression;
};

namespace detail {

/// The memory that an expression reads, each buffer once.
template <expression E>
[[nodiscard]] std::vector<buffer> memory_read_by(const E& e) {
  std::vector<buffer> reads;
  e.collect(reads);
  return reads;
}

/// Whether an expression reads some memory.
template <expression E>
[[nodiscard]] bool reads_from(const buffer& memory, const E& e) {
  const std::vector<buffer> all = memory_read_by(e);
  return std::find(all.begin(), all.end(), memory) != all.end();
}

/// Where the user made an expression; no line where that is not known.
template <expression E>
[[nodiscard]] std::source_location made_at(const E& e) {
  if constexpr (requires { e.made_at; })
    return e.made_at;
  else
    return {};
}

/// The expression that an operand stands for; what is given away is moved on.
template <class X>
  requires operand<std::remove_cvref_t<X>>
[[nodiscard]] decltype(auto) as_node(X&& x) {
  if constexpr (expression<std::remove_cvref_t<X>>)
    return std::forward<X>(x);
  else
    return std::forward<X>(x).node();
}

template <class X>
using node_t = std::decay_t<decltype(as_node(std::declval<const std::remove_cvref_t<X>&>()))>;

/// The type of an operand's elements.
template <class X>
using value_of_t = typename node_t<X>::value_type;

template <class X>
concept operand_or_scalar = operand<X> || scalar<X>;

/// Two operands: at least one tensor or expression, the other that or a scalar.
template <class A, class B>
concept operands = (operand<A> && (operand<B> || scalar<B>)) || (scalar<A> && operand<B>);

/// What functions are given: an operand, or two, as they are or to be moved from.
template <class A>
concept given_operand = operand<std::remove_cvref_t<A>>;
template <class A, class B>
concept given_operands = operands<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;

}  // namespace detail
}  // namespace topos
