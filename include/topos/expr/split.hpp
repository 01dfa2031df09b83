// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An expression cut along an axis.

#include <algorithm>
#include <concepts>
#include <topos/expr/views.hpp>
#include <vector>

namespace topos {

namespace detail {

// Parts from each of some indices to the next, held within the axis.
template <operand X>
[[nodiscard]] auto cut_at(const X& x, const std::vector<index_t>& bounds, std::size_t along) {
  constexpr std::size_t rank = node_t<X>::rank;
  const auto node = as_node(x);
  const shape<rank> whole = node.shape();
  range_view<rank> view{{}, {}, whole};
  view.step.fill(1);
  std::vector<decltype(node.viewed(whole, view))> parts;
  parts.reserve(bounds.size() - 1);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    view.first[along] = bounds[i];
    view.count[along] = std::max<index_t>(0, bounds[i + 1] - bounds[i]);
    parts.push_back(node.viewed(whole, view));
  }
  return parts;
}

}  // namespace detail

/// x in so many equal parts along an axis: expressions that copy nothing. Throws `out_of_range`
/// for the axis, and `invalid_argument` if its extent is no multiple of the number. (A number in
/// braces is an index to cut at.)
template <operand X, std::integral Parts>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto split(const X& x, Parts parts, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  const auto node = detail::as_node(x);
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("split", axis, rank, where);
  const shape<rank> whole = node.shape();
  const auto count = static_cast<index_t>(parts);
  if (count <= 0 || whole[along] % count != 0) {
    throw invalid_argument(detail::concat("split: axis ", axis, " of ", to_string(whole),
                                          " has no ", count, " equal parts"),
                           where);
  }
  std::vector<index_t> bounds;
  for (index_t i = 0; i <= count; ++i) bounds.push_back(i * (whole[along] / count));
  return detail::cut_at(node, bounds, along);
}

/// x cut before each of some indices of an axis, which may be counted from the end: one part more
/// than there are indices.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto split(const X& x, const std::vector<index_t>& at, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  const auto node = detail::as_node(x);
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("split", axis, rank, where);
  const index_t extent = shape<rank>(node.shape())[along];
  std::vector<index_t> bounds{0};
  for (const index_t i : at)
    bounds.push_back(std::clamp<index_t>(i < 0 ? i + extent : i, 0, extent));
  bounds.push_back(extent);
  return detail::cut_at(node, bounds, along);
}

}  // namespace topos
