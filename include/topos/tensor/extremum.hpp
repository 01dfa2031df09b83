// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the largest and the smallest elements lie.

#include <topos/kernels/extremum.hpp>
#include <topos/tensor/reduction.hpp>

namespace topos {

namespace detail {

template <std::size_t Rank, class Before, operand X, std::size_t N>
[[nodiscard]] auto extremum_number(const char* name, const X& x, const axis_set<N>& set,
                                   std::source_location where) {
  using T = value_of_t<X>;
  static_assert(!is_complex<T>, "topos: complex numbers have no order");
  const auto e = convert<wide_t<T>>(as_node(x));
  require_elements(name, shape<N>(e.shape()), set, where);
  return reduction<std::decay_t<decltype(e)>, Rank, extremum<Before>>(e, set, {}, where);
}

}  // namespace detail

#define TOPOS_EXTREMUM(name, before)                                                            \
  template <operand X, detail::keeping Keep = detail::drop_dims_t>                              \
  [[nodiscard]] auto name(const X& x, Keep = {},                                                \
                          std::source_location where = std::source_location::current()) {       \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                       \
    return detail::extremum_number<detail::rank_after<rank, rank, Keep>, detail::before>(       \
        #name, x, detail::all_axes<rank>(), where);                                             \
  }                                                                                             \
  template <operand X, detail::axis_number Axis, detail::keeping Keep = detail::drop_dims_t>    \
    requires(detail::node_t<X>::rank > 0)                                                       \
  [[nodiscard]] auto name(const X& x, Axis axis, Keep = {},                                     \
                          std::source_location where = std::source_location::current()) {       \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                       \
    return detail::extremum_number<detail::rank_after<rank, 1, Keep>, detail::before>(          \
        #name, x, detail::axes_named<rank>(#name, {static_cast<index_t>(axis)}, where), where); \
  }

/// The index of the smallest element along an axis, as int64; without an axis, its number in
/// row-major order. The first of equal ones; NaN is smaller than all. Throws `invalid_argument`
/// where there are no elements.
TOPOS_EXTREMUM(argmin, smallest_first)

/// The index of the largest element along an axis, as int64; without an axis, its number in
/// row-major order. The first of equal ones; NaN is larger than all. Throws `invalid_argument`
/// where there are no elements.
TOPOS_EXTREMUM(argmax, largest_first)

#undef TOPOS_EXTREMUM

}  // namespace topos
