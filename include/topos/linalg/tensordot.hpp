// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sums of products over given axes.

#include <algorithm>
#include <array>
#include <concepts>
#include <topos/linalg/matmul.hpp>

namespace topos {

namespace detail {

/// An expression split into two groups of axes, in memory as one matrix.
template <std::size_t Split, expression E>
[[nodiscard]] tensor_node<typename E::value_type, 2> as_matrix(const E& e, device d,
                                                               std::source_location where) {
  constexpr std::size_t rank = E::rank;
  shape<2> extents{1, 1};
  const shape<rank> all = e.shape();
  for (std::size_t axis = 0; axis != rank; ++axis) extents[axis < Split ? 0 : 1] *= all[axis];
  if constexpr (is_memory<E>) {
    // Each group is one axis if each of its axes goes on where the next one ends.
    layout<2> merged{e.where.offset, extents, {1, 1}};
    bool whole = true;
    for (std::size_t group = 0; group < 2; ++group) {
      index_t next = 0;
      for (std::size_t axis = group == 0 ? Split : rank; axis-- > (group == 0 ? 0 : Split);) {
        if (all[axis] == 1) continue;
        if (next == 0) merged.strides[group] = e.where.strides[axis];
        whole &= next == 0 || next == e.where.strides[axis];
        next = e.where.strides[axis] * all[axis];
        whole &= next != 0;
      }
    }
    if (whole) return {e.source, merged};
  }
  const default_device scope(d);
  return tensor<typename E::value_type, rank>(e, where).reshape(extents).node();
}

/// The axes that are contracted, in their order, after all others, or before.
template <std::size_t Rank, std::size_t N>
[[nodiscard]] permute_view<Rank> contracted_axes(const std::array<index_t, N>& named, bool last,
                                                 std::source_location where) {
  const std::array<std::size_t, N> axes = checked_axes<Rank>("tensordot", named, where);
  permute_view<Rank> order{};
  std::copy(axes.begin(), axes.end(), order.axes.begin() + (last ? Rank - N : 0));
  std::size_t to = last ? 0 : N;
  for (std::size_t axis = 0; axis != Rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.axes[to++] = axis;
  }
  return order;
}

template <expression A, expression B, std::size_t N>
[[nodiscard]] auto contract(const A& a, const B& b, const std::array<index_t, N>& a_axes,
                            const std::array<index_t, N>& b_axes, std::source_location where) {
  using T = promote_t<typename A::value_type, typename B::value_type>;
  const device d = device_of("tensordot", a, b, where);
  const auto left = seen_as(a, contracted_axes<A::rank>(a_axes, true, where));
  const auto right = seen_as(b, contracted_axes<B::rank>(b_axes, false, where));
  const shape<A::rank> left_shape = left.shape();
  const shape<B::rank> right_shape = right.shape();
  for (std::size_t i = 0; i < N; ++i) {
    const index_t of_a = left_shape[A::rank - N + i];
    const index_t of_b = right_shape[i];
    if (of_a == of_b) continue;
    throw shape_mismatch(
        concat("tensordot: ", described("a", a), ", ", described("b", b), ": axis ", a_axes[i],
               " of a has ", of_a, " elements, axis ", b_axes[i], " of b has ", of_b),
        where);
  }
  shape<A::rank + B::rank - 2 * N> extents{};
  std::copy(left_shape.begin(), left_shape.end() - N, extents.begin());
  std::copy(right_shape.begin() + N, right_shape.end(), extents.begin() + (A::rank - N));
  return matmul(convert<T>(as_matrix<A::rank - N>(left, d, where)),
                convert<T>(as_matrix<N>(right, d, where)), where)
      .reshape(extents);
}

}  // namespace detail

/// Enqueues the sum of products over N axes of a and as many of b, in pairs, and returns it at
/// once; the other axes of a come first in the result, then those of b. Axes may be counted from
/// the end. Throws `shape_mismatch`, `device_mismatch`, `out_of_range`, and `invalid_argument` if
/// an axis is named twice.
template <operand A, operand B, std::size_t N>
[[nodiscard]] auto tensordot(const A& a, const B& b, const index_t (&a_axes)[N],
                             const index_t (&b_axes)[N],
                             std::source_location where = std::source_location::current()) {
  return detail::contract(detail::as_node(a), detail::as_node(b), std::to_array(a_axes),
                          std::to_array(b_axes), where);
}

/// tensordot over the last N axes of a and the first N of b; N = 0: all products of two elements.
template <std::size_t N = 2, operand A, operand B>
[[nodiscard]] auto tensordot(const A& a, const B& b,
                             std::source_location where = std::source_location::current()) {
  std::array<index_t, N> a_axes{};
  std::array<index_t, N> b_axes{};
  for (std::size_t i = 0; i < N; ++i) {
    a_axes[i] = static_cast<index_t>(i) - static_cast<index_t>(N);
    b_axes[i] = static_cast<index_t>(i);
  }
  return detail::contract(detail::as_node(a), detail::as_node(b), a_axes, b_axes, where);
}

/// How many axes is known to the compiler.
template <operand A, operand B, std::integral N>
void tensordot(const A& /*a*/, const B& /*b*/, N /*axes*/) {
  static_assert(detail::is_never<A>, "topos: how many axes comes first: tensordot<1>(a, b)");
}

}  // namespace topos
