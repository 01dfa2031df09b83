// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tensor that an expression becomes, and waiting for it.

#include <concepts>
#include <source_location>
#include <topos/expr/operand.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos {

/// A tensor is computed already, or about to be.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> eval(const tensor<T, Rank>& x, std::source_location /*where*/ = {}) {
  return x;
}

/// Enqueues one fused kernel that computes an expression, and returns its result at once.
template <expression E>
[[nodiscard]] tensor<typename E::value_type, E::rank> eval(
    const E& e, std::source_location where = std::source_location::current()) {
  return tensor<typename E::value_type, E::rank>(e, where);
}

namespace detail {

template <expression E>
[[nodiscard]] tensor_node<typename E::value_type, E::rank> computed(const E& e,
                                                                    std::source_location where) {
  return tensor<typename E::value_type, E::rank>(e, where).node();
}

}  // namespace detail

/// The tensor that an operand becomes: a slice, a reduction, or a user's.
template <operand X>
  requires(!expression<X>)
[[nodiscard]] auto eval(const X& x, std::source_location where = std::source_location::current()) {
  using result = tensor<detail::value_of_t<X>, detail::node_t<X>::rank>;
  if constexpr (std::convertible_to<const X&, result>)
    return static_cast<result>(x);
  else
    return result(x.node(), where);
}

/// Waits until the contents of tensors are computed; rethrows what one failed with.
template <element... T, std::size_t... Rank>
  requires(sizeof...(T) > 0)
void block_until_ready(const tensor<T, Rank>&... x) {
  (static_cast<void>(x.block_until_ready()), ...);
}

}  // namespace topos
