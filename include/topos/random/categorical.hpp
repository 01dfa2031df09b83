// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random choices by their logarithmic probabilities.

#include <algorithm>
#include <cstddef>
#include <topos/random/exponential.hpp>
#include <topos/tensor/extremum.hpp>

namespace topos::random {

/// Along an axis of logits, the index of one chosen with probability softmax(logits), as int64:
/// jax.random.categorical, which finds the largest of logits plus Gumbel numbers. Throws
/// `out_of_range` for the axis, `shape_mismatch` unless the logits' other axes broadcast to the
/// shape, and `invalid_argument` where there is nothing to choose from.
template <operand Logits, std::size_t Rank>
  requires(real<topos::detail::value_of_t<Logits>>)
[[nodiscard]] auto categorical(const key& k, const Logits& logits, const shape<Rank>& extents,
                               index_t axis = -1,
                               std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(logits);
  using T = topos::detail::value_of_t<Logits>;
  constexpr std::size_t own = decltype(node)::rank;
  static_assert(Rank + 1 >= own, "topos: categorical: the shape has less axes than the batch");
  const auto at = topos::detail::checked_axis("categorical", axis, own, where);
  const std::size_t in_all = Rank + 1 - own + at;
  shape<Rank + 1> all{};
  std::size_t to = 0;
  for (const index_t extent : extents) {
    if (to == in_all) ++to;
    all[to++] = extent;
  }
  all[in_all] = node.shape()[at];
  const device d = node.device().value_or(default_device::current());
  const auto sums = add(gumbel<T>(k, all, d, where), node, where);
  if (!std::ranges::equal(sums.shape(), all)) {
    throw shape_mismatch(
        topos::detail::concat("categorical: logits ", to_string(node.shape()), " along axis ", at,
                              " do not broadcast to the shape ", to_string(extents)),
        where);
  }
  return argmax(sums, static_cast<index_t>(in_all), topos::detail::drop_dims_t{}, where);
}
template <operand Logits, std::size_t Rank>
  requires(real<topos::detail::value_of_t<Logits>>)
[[nodiscard]] auto categorical(const key& k, const Logits& logits, const index_t (&extents)[Rank],
                               index_t axis = -1,
                               std::source_location where = std::source_location::current()) {
  return categorical(k, logits, std::to_array(extents), axis, where);
}

/// One choice for each row of logits along an axis. (In braces an axis is a shape of one extent.)
template <operand Logits, topos::detail::axis_number Axis>
  requires(real<topos::detail::value_of_t<Logits>>&& topos::detail::node_t<Logits>::rank > 0)
[[nodiscard]] auto categorical(const key& k, const Logits& logits, Axis axis,
                               std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = topos::detail::node_t<Logits>::rank;
  const shape<rank> all = topos::detail::as_node(logits).shape();
  const auto at = topos::detail::checked_axis("categorical", axis, rank, where);
  shape<rank - 1> batch{};
  std::size_t from = 0;
  for (index_t& extent : batch) {
    if (from == at) ++from;
    extent = all[from++];
  }
  return categorical(k, logits, batch, static_cast<index_t>(axis), where);
}
template <operand Logits>
  requires(real<topos::detail::value_of_t<Logits>>&& topos::detail::node_t<Logits>::rank > 0)
[[nodiscard]] auto categorical(const key& k, const Logits& logits,
                               std::source_location where = std::source_location::current()) {
  return categorical(k, logits, -1, where);
}

}  // namespace topos::random
