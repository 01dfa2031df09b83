// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Views: the elements of an expression in another arrangement, without a copy.
///
/// Each takes a tensor or an expression and gives an expression; the view of an operation is the
/// operation on views. Axes may be counted from the end.

#include <algorithm>
#include <array>
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

/// An expression with new axes, which are of the result, from number I of them on; and without its
/// first N of some axes.
template <std::size_t I, expression E, std::size_t N>
[[nodiscard]] auto with_new_axes(const E& e, const std::array<std::size_t, N>& ascending) {
  if constexpr (I == N)
    return e;
  else
    return with_new_axes<I + 1>(seen_as(e, expand_view<E::rank + 1>{ascending[I]}), ascending);
}
template <std::size_t N, expression E, std::size_t Of>
[[nodiscard]] auto without_axes(const E& e, const std::array<std::size_t, Of>& ascending) {
  if constexpr (N == 0)
    return e;
  else
    return without_axes<N - 1>(seen_as(e, pick_view<E::rank - 1>{ascending[N - 1], 0}), ascending);
}

/// Several axes, in ascending order.
template <std::size_t Rank, std::size_t N>
[[nodiscard]] std::array<std::size_t, N> ascending_axes(const char* operation,
                                                        const index_t (&axes)[N],
                                                        std::source_location where) {
  std::array<std::size_t, N> ascending = checked_axes<Rank>(operation, std::to_array(axes), where);
  std::sort(ascending.begin(), ascending.end());
  return ascending;
}

}  // namespace detail

/// The axes in another order: axis i of the result is axis axes[i] of x. Throws `out_of_range`,
/// and `invalid_argument` if an axis is named twice.
template <operand X>
[[nodiscard]] auto permute(const X& x, std::array<index_t, detail::node_t<X>::rank> axes,
                           std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  return detail::seen_as(
      x, detail::permute_view<rank>{detail::checked_axes<rank>("permute", axes, where)});
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

/// The elements backwards along all axes, one, or several in braces. Throws `out_of_range`, and
/// `invalid_argument` if an axis is named twice.
template <operand X>
[[nodiscard]] auto flip(const X& x) {
  detail::flip_view<detail::node_t<X>::rank> view{};
  view.flipped.fill(true);
  return detail::seen_as(x, view);
}
template <operand X, std::size_t N>
[[nodiscard]] auto flip(const X& x, const index_t (&axes)[N],
                        std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  detail::flip_view<rank> view{};
  for (const std::size_t axis : detail::ascending_axes<rank>("flip", axes, where))
    view.flipped[axis] = true;
  return detail::seen_as(x, view);
}
template <operand X, std::integral I>
[[nodiscard]] auto flip(const X& x, I axis,
                        std::source_location where = std::source_location::current()) {
  return flip(x, {static_cast<index_t>(axis)}, where);
}

/// A new axis of extent 1, or several in braces, which are these axes of the result. Throws
/// `out_of_range`, and `invalid_argument` if one is named twice.
template <operand X, std::size_t N>
[[nodiscard]] auto expand_dims(const X& x, const index_t (&axes)[N],
                               std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank + N;
  return detail::with_new_axes<0>(detail::as_node(x),
                                  detail::ascending_axes<rank>("expand_dims", axes, where));
}
template <operand X, std::integral I>
[[nodiscard]] auto expand_dims(const X& x, I axis,
                               std::source_location where = std::source_location::current()) {
  return expand_dims(x, {static_cast<index_t>(axis)}, where);
}

/// Without an axis of extent 1, or several in braces. Throws `out_of_range`, `invalid_argument` if
/// one is named twice, and `shape_mismatch` if an extent is another.
template <operand X, std::size_t N>
[[nodiscard]] auto squeeze(const X& x, const index_t (&axes)[N],
                           std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const auto ascending = detail::ascending_axes<rank>("squeeze", axes, where);
  decltype(auto) node = detail::as_node(x);
  const shape<rank> extents = node.shape();
  for (const std::size_t axis : ascending) {
    if (extents[axis] != 1) {
      throw shape_mismatch(detail::concat("squeeze: axis ", axis, " of ", to_string(extents),
                                          " has ", extents[axis], " elements, not 1"),
                           where);
    }
  }
  return detail::without_axes<N>(node, ascending);
}
template <operand X, std::integral I>
[[nodiscard]] auto squeeze(const X& x, I axis,
                           std::source_location where = std::source_location::current()) {
  return squeeze(x, {static_cast<index_t>(axis)}, where);
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
