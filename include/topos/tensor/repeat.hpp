// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements and whole arrays several times over.

#include <algorithm>
#include <array>
#include <topos/expr/views.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos {

namespace detail {

/// Before each axis one of `times` along which everything is the same.
template <std::size_t Rank>
struct copies_view {
  static constexpr std::size_t rank = 2 * Rank;
  shape<Rank> times;
  [[nodiscard]] layout<rank> operator()(const layout<Rank>& l) const {
    layout<rank> result{l.offset, {}, {}};
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      result.extents[2 * axis] = times[axis];
      result.extents[2 * axis + 1] = l.extents[axis];
      result.strides[2 * axis + 1] = l.strides[axis];
    }
    return result;
  }
};

inline void require_times(const char* name, index_t times, std::source_location where) {
  if (times < 0) throw invalid_argument(concat(name, ": ", times, " times"), where);
}

}  // namespace detail

/// A new tensor of each element so many times, one after another along an axis. Returns at once.
/// Throws `out_of_range` for the axis, and `invalid_argument` for fewer than 0 times.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto repeat(const X& x, index_t times, index_t axis,
                          std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("repeat", axis, rank, where);
  detail::require_times("repeat", times, where);
  const auto apart = expand_dims(x, static_cast<index_t>(along) + 1, where);
  shape<rank + 1> extents = apart.shape();
  extents[along + 1] = times;
  const tensor<detail::value_of_t<X>, rank + 1> repeated(broadcast_to(apart, extents, where),
                                                         where);
  shape<rank> joined = x.shape();
  joined[along] *= times;
  return repeated.reshape(joined);
}

/// A new tensor of the whole of x so many times along each axis. Fewer counts are those of the last
/// axes, more make new axes before them, as NumPy's. Returns at once. Throws `invalid_argument` for
/// fewer than 0 times.
template <operand X, std::size_t N>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto tile(const X& x, const std::array<index_t, N>& times,
                        std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = std::max(N, detail::node_t<X>::rank);
  for (const index_t n : times) detail::require_times("tile", n, where);
  shape<rank> extents;
  extents.fill(1);
  const shape<detail::node_t<X>::rank> own = x.shape();
  std::ranges::copy(own, extents.end() - own.size());
  detail::copies_view<rank> view;
  view.times.fill(1);
  std::ranges::copy(times, view.times.end() - N);
  const tensor<detail::value_of_t<X>, 2 * rank> copies(
      detail::seen_as(broadcast_to(x, extents, where), view), where);
  for (std::size_t axis = 0; axis != rank; ++axis) extents[axis] *= view.times[axis];
  return copies.reshape(extents);
}
template <operand X, std::size_t N>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto tile(const X& x, const index_t (&times)[N],
                        std::source_location where = std::source_location::current()) {
  return tile(x, std::to_array(times), where);
}
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto tile(const X& x, index_t times,
                        std::source_location where = std::source_location::current()) {
  return tile(x, std::array{times}, where);
}

}  // namespace topos
