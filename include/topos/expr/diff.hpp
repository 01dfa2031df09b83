// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Differences of neighbours along an axis.

#include <algorithm>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/split.hpp>

namespace topos {

/// Each element but the first of an axis less the one before it: an expression of one element fewer
/// there. Throws `out_of_range` for the axis.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto diff(const X& x, index_t axis = -1,
                        std::source_location where = std::source_location::current()) {
  const auto node = detail::as_node(x);
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("diff", axis, rank, where);
  const index_t extent = shape<rank>(node.shape())[along];
  const auto later = detail::cut_at(node, {std::min<index_t>(1, extent), extent}, along);
  const auto earlier = detail::cut_at(node, {0, extent - 1}, along);
  return subtract(later[0], earlier[0], where);
}

}  // namespace topos
