// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements moved along an axis, round its end.

#include <algorithm>
#include <topos/expr/reshape.hpp>
#include <topos/expr/split.hpp>
#include <topos/tensor/concatenate.hpp>

namespace topos {

/// A new tensor of the elements of x, each so many places further on along an axis (or before, if
/// negative); those moved past its end come in at its beginning. Returns at once. Throws
/// `out_of_range` for the axis.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto roll(const X& x, index_t places, index_t axis,
                        std::source_location where = std::source_location::current()) {
  const auto node = detail::as_node(x);
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("roll", axis, rank, where);
  const index_t extent = shape<rank>(node.shape())[along];
  const index_t turn = std::max<index_t>(1, extent);
  const index_t moved = (places % turn + turn) % turn;
  const auto parts = detail::cut_at(node, {0, extent - moved, extent}, along);
  return concatenate({parts[1], parts[0]}, axis, where);
}
/// The same in row-major order, over the ends of rows: a tensor of the shape of x.
template <operand X>
[[nodiscard]] auto roll(const X& x, index_t places,
                        std::source_location where = std::source_location::current()) {
  const shape<detail::node_t<X>::rank> extents = detail::as_node(x).shape();
  return roll(detail::flattened(x), places, 0, where).reshape(extents, where);
}

}  // namespace topos
