// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random orders.

#include <algorithm>
#include <cmath>
#include <limits>
#include <topos/expr/gather.hpp>
#include <topos/expr/generators.hpp>
#include <topos/random/integers.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/detail/sort_by.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>

namespace topos::random {

namespace detail {

/// Throws `invalid_argument` unless T holds the numbers from 0 up to, not including, count.
template <integer T>
void require_numbers(const char* name, index_t count, std::source_location where) {
  if (count > 0 && std::cmp_greater(count - 1, std::numeric_limits<T>::max())) {
    throw invalid_argument(
        topos::detail::concat(name, ": ", dtype_name_v<T>, " does not hold ", count, " numbers"),
        where);
  }
}

}  // namespace detail

/// The numbers from 0 up to, not including, count in random order: jax.random.permutation. Returns
/// at once. Throws `invalid_argument` if count is negative, or more than T has numbers.
template <integer T = std::int32_t>
[[nodiscard]] tensor<T, 1> permutation(
    const key& k, index_t count, device d = default_device::current(),
    std::source_location where = std::source_location::current()) {
  if (count < 0) {
    throw invalid_argument(topos::detail::concat("permutation: of ", count, " numbers"), where);
  }
  detail::require_numbers<T>("permutation", count, where);
  // As many sorts by random words as tell all elements apart, but for chances of 1 in count^2.
  const double words = std::log(static_cast<double>(std::max<index_t>(1, count)));
  const double rounds = std::ceil(3 * words / std::log(4294967295.0));
  const topos::detail::arange_elements<T> numbers{0, 1};
  const tensor<T, 1> shuffled(topos::detail::generated(numbers, shape<1>{count}, d), where);
  key rest = k;
  for (double round = 0; round < rounds; ++round) {
    const auto [next, own] = split(rest);
    rest = next;
    const tensor<std::uint32_t, 1> drawn(bits(own, shape<1>{count}, d, where), where);
    topos::detail::sort_by(drawn, &shuffled, "permutation", where);
  }
  return shuffled;
}

/// x with what lies along an axis in random order, as an expression: where x has more axes than
/// one, whole slices are moved.
template <operand X>
  requires(topos::detail::node_t<X>::rank > 0)
[[nodiscard]] auto permutation(const key& k, const X& x, index_t axis = 0,
                               std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(x);
  const auto at = topos::detail::checked_axis("permutation", axis, decltype(node)::rank, where);
  const device d = node.device().value_or(default_device::current());
  return take(node, permutation<std::int64_t>(k, node.shape()[at], d, where), axis, where);
}

}  // namespace topos::random
