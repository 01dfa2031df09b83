// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Views: the elements of an expression in another arrangement, without a copy.
///
/// Each takes a tensor or an expression and gives an expression; the view of an operation is the
/// operation on views. Axes may be counted from the end.

#include <topos/core/broadcast.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/expr/slice.hpp>
#include <utility>

namespace topos {

namespace detail {

template <operand X, class View>
[[nodiscard]] auto seen_as(const X& x, const View& view) {
  decltype(auto) node = as_node(x);
  const shape<node_t<X>::rank> whole = node.shape();
  return node.viewed(whole, view);
}

}  // namespace detail

/// The axes in another order: axis i of the result is axis axes[i] of x. Throws `out_of_range`,
/// and `invalid_argument` if an axis is named twice.
template <operand X>
[[nodiscard]] auto permute(const X& x, std::array<index_t, detail::node_t<X>::rank> axes,
                           std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  detail::permute_view<rank> view{};
  std::array<bool, rank> seen{};
  for (std::size_t i = 0; i != rank; ++i) {
    view.axes[i] = detail::checked_axis("permute", axes[i], rank, where);
    if (std::exchange(seen[view.axes[i]], true)) {
      throw invalid_argument(detail::concat("permute: axis ", axes[i], " is named twice"), where);
    }
  }
  return detail::seen_as(x, view);
}

/// The axes in reverse order: the transpose of a matrix.
template <operand X>
[[nodiscard]] auto transpose(const X& x) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  detail::permute_view<rank> view{};
  for (std::size_t i = 0; i != rank; ++i) view.axes[i] = rank - 1 - i;
  return detail::seen_as(x, view);
}

/// The axes in another order: as `permute`, by NumPy's name for it.
template <operand X>
[[nodiscard]] auto transpose(const X& x, std::array<index_t, detail::node_t<X>::rank> axes,
                             std::source_location where = std::source_location::current()) {
  return permute(x, axes, where);
}
/// Two axes are exchanged by `swapaxes`.
template <operand X, std::integral I, std::integral J>
void transpose(const X& /*x*/, I /*first*/, J /*second*/) {
  static_assert(detail::is_never<X>, "topos: to exchange two axes, write swapaxes(x, 0, 1)");
}

/// Two axes exchanged. Throws `out_of_range`.
template <operand X>
[[nodiscard]] auto swapaxes(const X& x, index_t first, index_t second,
                            std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  detail::permute_view<rank> view{};
  for (std::size_t i = 0; i != rank; ++i) view.axes[i] = i;
  std::swap(view.axes[detail::checked_axis("swapaxes", first, rank, where)],
            view.axes[detail::checked_axis("swapaxes", second, rank, where)]);
  return detail::seen_as(x, view);
}

/// The elements backwards along all axes, or along one. Throws `out_of_range`.
template <operand X>
[[nodiscard]] auto flip(const X& x) {
  detail::flip_view<detail::node_t<X>::rank> view{};
  view.flipped.fill(true);
  return detail::seen_as(x, view);
}
template <operand X>
[[nodiscard]] auto flip(const X& x, index_t axis,
                        std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  detail::flip_view<rank> view{};
  view.flipped[detail::checked_axis("flip", axis, rank, where)] = true;
  return detail::seen_as(x, view);
}

/// A new axis of extent 1, which is axis `axis` of the result. Throws `out_of_range`.
template <operand X>
[[nodiscard]] auto expand_dims(const X& x, index_t axis,
                               std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank + 1;
  return detail::seen_as(
      x, detail::expand_view<rank>{detail::checked_axis("expand_dims", axis, rank, where)});
}

/// Without an axis of extent 1. Throws `out_of_range`, and `shape_mismatch` if its extent is
/// another.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto squeeze(const X& x, index_t axis,
                           std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t at = detail::checked_axis("squeeze", axis, rank, where);
  const shape<rank> extents = x.shape();
  if (extents[at] != 1) {
    throw shape_mismatch(detail::concat("squeeze: axis ", axis, " of ", to_string(extents), " has ",
                                        extents[at], " elements, not 1"),
                         where);
  }
  return detail::seen_as(x, detail::pick_view<rank - 1>{at, 0});
}

/// A tensor's type tells how many axes it has, a shape which of them have one element.
template <operand X>
void squeeze(const X& /*x*/) {
  static_assert(detail::is_never<X>,
                "topos: squeeze takes away one axis, which it is told: squeeze(x, 0)");
}

/// The elements repeated along new leading axes and along axes of extent 1. Throws
/// `shape_mismatch` if the shape does not broadcast to that.
template <std::size_t N, operand X>
[[nodiscard]] auto broadcast_to(const X& x, shape<N> extents,
                                std::source_location where = std::source_location::current()) {
  static_assert(N >= detail::node_t<X>::rank, "topos: broadcasting takes no axes away");
  const shape<detail::node_t<X>::rank> from = x.shape();
  (void)size_of_shape(extents, where);
  detail::require_broadcasts_to("broadcast_to", from, extents, where);
  return detail::seen_as(x, detail::broadcast_view<N>{extents});
}
template <std::size_t N, operand X>
[[nodiscard]] auto broadcast_to(const X& x, const index_t (&extents)[N],
                                std::source_location where = std::source_location::current()) {
  return broadcast_to(x, std::to_array(extents), where);
}

}  // namespace topos
