// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random orders.

#include <algorithm>
#include <cmath>
#include <limits>
#include <topos/expr/gather.hpp>
#include <topos/expr/generators.hpp>
#include <topos/expr/views.hpp>
#include <topos/random/integers.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/detail/sort_by.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>
#include <vector>

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

// The key of each round of a shuffle of so many elements, in their order: as many sorts by random
// words as tell all elements apart, but for chances of 1 in the square of their number.
inline std::vector<key> shuffle_rounds(const key& k, index_t size) {
  const double words = std::log(static_cast<double>(std::max<index_t>(1, size)));
  const double count = std::ceil(3 * words / std::log(4294967295.0));
  std::vector<key> rounds;
  key rest = k;
  while (static_cast<double>(rounds.size()) < count) {
    const auto [next, own] = split(rest);
    rest = next;
    rounds.push_back(own);
  }
  return rounds;
}

}  // namespace detail

/// In a permutation: what lies along the axis is put in an order of its own at each place beside.
struct independent_t {};
inline constexpr independent_t independent{};

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
  const topos::detail::arange_elements<T> numbers{0, 1};
  const tensor<T, 1> shuffled(topos::detail::generated(numbers, shape<1>{count}, d), where);
  for (const key& own : detail::shuffle_rounds(k, count)) {
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

/// x with each of the rows along an axis in a random order of its own, as an expression of a tensor
/// that this computes: jax.random.permutation with independent=True. Returns at once.
template <operand X>
  requires(topos::detail::node_t<X>::rank > 0)
[[nodiscard]] auto permutation(const key& k, const X& x, index_t axis, independent_t /*rows*/,
                               std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(x);
  constexpr std::size_t rank = decltype(node)::rank;
  const auto at = topos::detail::checked_axis("permutation", axis, rank, where);
  const device d = node.device().value_or(default_device::current());
  const auto last = static_cast<index_t>(rank) - 1;
  const tensor<topos::detail::value_of_t<X>, rank> rows(swapaxes(node, axis, last, where), where);
  if (rows.size() != 0) {
    for (const key& own : detail::shuffle_rounds(k, rows.size())) {
      const auto words = bits(own, node.shape(), d, where);
      const tensor<std::uint32_t, rank> drawn(swapaxes(words, axis, last, where), where);
      topos::detail::sort_by(drawn, &rows, "permutation", where);
    }
  }
  return swapaxes(rows, static_cast<index_t>(at), last, where);
}

}  // namespace topos::random
