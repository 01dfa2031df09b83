// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements moved along an axis, round its end.

#include <algorithm>
#include <topos/expr/detail/rolled_row.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/expr/split.hpp>
#include <topos/tensor/concatenate.hpp>

namespace topos {

namespace detail {

// How far elements of an axis are moved up, less whole turns.
[[nodiscard]] inline index_t moved_up(index_t places, index_t extent) {
  const index_t turn = std::max<index_t>(1, extent);
  return (places % turn + turn) % turn;
}

/// A leaf moved along an axis of `extent` places, which lie `stride` apart in its memory.
template <class T, std::size_t Rank>
[[nodiscard]] auto rolled(const tensor_node<T, Rank>& leaf, layout<Rank> places, index_t moved,
                          index_t extent, index_t stride) {
  layout<Rank> past_end = leaf.where;
  past_end.offset += (extent - moved) * stride;
  return rolled_node<memory_source<T>, Rank>(leaf.source, past_end, places, moved, -extent * stride,
                                             leaf.where.offset);
}

}  // namespace detail

/// The elements of x, each so many places further on along an axis (or before, if negative); those
/// moved past its end come in at its beginning. An expression, which copies nothing; of what is to
/// be computed yet, or is neither a tensor nor a part of one, a new tensor. Throws `out_of_range`
/// for the axis.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto roll(const X& x, index_t places, index_t axis,
                        std::source_location where = std::source_location::current()) {
  const auto node = detail::as_node(x);
  using node_type = detail::node_t<X>;
  constexpr std::size_t rank = node_type::rank;
  const std::size_t along = detail::checked_axis("roll", axis, rank, where);
  const index_t extent = shape<rank>(node.shape())[along];
  const index_t moved = detail::moved_up(places, extent);
  if constexpr (std::is_same_v<node_type,
                               detail::tensor_node<typename node_type::value_type, rank>>) {
    detail::layout<rank> in_places{0, node.where.extents, {}};
    in_places.strides[along] = 1;
    return detail::rolled(node, in_places, moved, extent, node.where.strides[along]);
  } else {
    const auto parts = detail::cut_at(node, {0, extent - moved, extent}, along);
    return concatenate({parts[1], parts[0]}, axis, where);
  }
}
/// The same in row-major order, over the ends of rows: in the shape of x; of a tensor an
/// expression.
template <operand X>
[[nodiscard]] auto roll(const X& x, index_t places,
                        std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const auto node = detail::as_node(x);
  const shape<rank> extents = node.shape();
  if constexpr (rank == 1) {
    return roll(node, places, 0, where);
  } else if constexpr (requires { x.memory(); }) {  // a tensor, which is dense
    const index_t size = size_of_shape(extents, where);
    return detail::rolled(node, detail::layout<rank>::dense(extents),
                          detail::moved_up(places, size), size, 1);
  } else {
    return roll(detail::flattened(node), places, 0, where).reshape(extents, where);
  }
}

}  // namespace topos
