// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Medians, and the numbers that other shares of the elements lie below.

#include <algorithm>
#include <cmath>
#include <limits>
#include <topos/expr/reshape.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/sort.hpp>

namespace topos {

namespace detail {

/// The number that is a part of the way from a to b. NaN if the largest of all is.
struct between_op : widening, of_reals {
  double part;

  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b, T largest) const {
    if (largest != largest) return largest;
    if (a == b) return a;
    const T t = static_cast<T>(part);
    return lane::rounded(a * (1 - t)) + lane::rounded(b * t);
  }
};

}  // namespace detail

/// The number that a share q of the elements along an axis lies below, at most: between two of
/// them linearly, as NumPy's. A new tensor; of integers of float, NaN where there is NaN, or no
/// element. Sorts, and returns at once. Throws `out_of_range` for the axis, and `invalid_argument`
/// unless q is from 0 to 1.
template <operand X, detail::keeping Keep = detail::drop_dims_t>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, double q, index_t axis, Keep /*dims*/ = {},
                            std::source_location where = std::source_location::current()) {
  using T = detail::floating_t<detail::value_of_t<X>>;
  constexpr std::size_t rank = detail::node_t<X>::rank;
  if (!(q >= 0 && q <= 1))
    throw invalid_argument(detail::concat("quantile: q is ", q, "; it is a share, from 0 to 1"),
                           where);
  const std::size_t along = detail::checked_axis("quantile", axis, rank, where);
  decltype(auto) node = detail::as_node(x);
  shape<rank> one = node.shape();
  const index_t count = std::exchange(one[along], 1);
  const auto result = [&](const auto& e) {
    shape<detail::rank_after<rank, 1, Keep>> left{};
    std::size_t to = 0;
    for (std::size_t i = 0; i != rank; ++i)
      if (i != along || left.size() == rank) left[to++] = one[i];
    return tensor<T, rank>(e, where).reshape(left);
  };
  if (count == 0) {
    const device d = node.device().value_or(default_device::current());
    return result(detail::filled<T>(T(std::numeric_limits<float>::quiet_NaN()), one, d));
  }
  const auto ordered = sort(node, axis, ascending, where);
  const auto number = [&](index_t i) {
    detail::range_view<rank> view{{}, {}, one};
    view.first[along] = i;
    view.step.fill(1);
    return detail::convert<T>(detail::seen_as(ordered, view));
  };
  const double place = q * static_cast<double>(count - 1);
  const auto below = std::min(static_cast<index_t>(place), count - 1);
  const double part = place - static_cast<double>(below);
  const index_t above = std::min(below + (part > 0 ? 1 : 0), count - 1);
  return result(detail::make_node("quantile", where, detail::between_op{{}, {}, part},
                                  number(below), number(above), number(count - 1)));
}

/// The same of all elements.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, double q,
                            std::source_location where = std::source_location::current()) {
  const shape<detail::node_t<X>::rank> extents = x.shape();
  return quantile(reshape(x, shape<1>{size_of_shape(extents, where)}, where), q, 0,
                  detail::drop_dims_t{}, where);
}

/// The number in the middle of the elements along an axis, or between the two that are, as
/// `quantile` of 0.5.
template <operand X, detail::keeping Keep = detail::drop_dims_t>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto median(const X& x, index_t axis, Keep keep = {},
                          std::source_location where = std::source_location::current()) {
  return quantile(x, 0.5, axis, keep, where);
}
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto median(const X& x,
                          std::source_location where = std::source_location::current()) {
  return quantile(x, 0.5, where);
}

}  // namespace topos
