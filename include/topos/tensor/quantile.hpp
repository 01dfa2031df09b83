// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Medians, and the numbers that other shares of the elements lie below.

#include <algorithm>
#include <cmath>
#include <limits>
#include <source_location>
#include <span>
#include <topos/expr/reshape.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/sort.hpp>
#include <utility>

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

/// Of the elements along an axis the numbers that shares of them lie below: for each share those of
/// the other axes, one after another.
template <expression E>
[[nodiscard]] buffer quantiles(const E& e, std::span<const double> shares, std::size_t along,
                               std::source_location where) {
  using T = floating_t<typename E::value_type>;
  for (const double q : shares) {
    if (!(q >= 0 && q <= 1))
      throw invalid_argument(concat("quantile: q is ", q, "; it is a share, from 0 to 1"), where);
  }
  shape<E::rank> one = e.shape();
  const index_t count = std::exchange(one[along], 1);
  const index_t each = size_of_shape(one, where);
  const tensor<T, 2> found({static_cast<index_t>(shares.size()), each},
                           e.device().value_or(default_device::current()), where);
  index_t written = 0;
  const auto write = [&](const auto& numbers) {
    map(numbers, found.memory(), layout<E::rank>::dense(one, written), where, "quantile");
    written += each;
  };
  if (count == 0) {
    const T nan = T(std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i != shares.size(); ++i) write(filled<T>(nan, one, found.device()));
    return found.memory();
  }
  const auto ordered = sort(e, static_cast<index_t>(along), ascending, where);
  const auto number = [&](index_t i) {
    range_view<E::rank> view{{}, {}, one};
    view.first[along] = i;
    view.step.fill(1);
    return convert<T>(seen_as(ordered, view));
  };
  for (const double q : shares) {
    const double place = q * static_cast<double>(count - 1);
    const auto below = std::min(static_cast<index_t>(place), count - 1);
    const double part = place - static_cast<double>(below);
    const index_t above = std::min(below + (part > 0 ? 1 : 0), count - 1);
    write(make_node("quantile", where, between_op{{}, {}, part}, number(below), number(above),
                    number(count - 1)));
  }
  return found.memory();
}

/// All elements in a row.
template <operand X>
[[nodiscard]] auto in_a_row(const X& x, std::source_location where) {
  const shape<node_t<X>::rank> extents = x.shape();
  return reshape(x, shape<1>{size_of_shape(extents, where)}, where);
}

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
  const std::size_t along = detail::checked_axis("quantile", axis, rank, where);
  decltype(auto) node = detail::as_node(x);
  detail::axis_set<rank> set{};
  set[along] = true;
  const auto left = detail::shape_after<detail::rank_after<rank, 1, Keep>, rank>(node.shape(), set);
  return tensor<T, left.size()>(detail::quantiles(node, {&q, 1}, along, where), 0, left);
}

/// The same of several shares, by one sort: the first axis of the result is that of `shares`.
template <operand X, detail::keeping Keep = detail::drop_dims_t>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, std::span<const double> shares, index_t axis,
                            Keep /*dims*/ = {},
                            std::source_location where = std::source_location::current()) {
  using T = detail::floating_t<detail::value_of_t<X>>;
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("quantile", axis, rank, where);
  decltype(auto) node = detail::as_node(x);
  detail::axis_set<rank> set{};
  set[along] = true;
  const auto left = detail::shape_after<detail::rank_after<rank, 1, Keep>, rank>(node.shape(), set);
  shape<left.size() + 1> extents{static_cast<index_t>(shares.size())};
  std::copy(left.begin(), left.end(), extents.begin() + 1);
  return tensor<T, extents.size()>(detail::quantiles(node, shares, along, where), 0, extents);
}
template <operand X, std::size_t N, detail::keeping Keep = detail::drop_dims_t>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, const double (&shares)[N], index_t axis, Keep keep = {},
                            std::source_location where = std::source_location::current()) {
  return quantile(x, std::span<const double>(shares), axis, keep, where);
}

/// The same of all elements.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, double q,
                            std::source_location where = std::source_location::current()) {
  return quantile(detail::in_a_row(x, where), q, 0, detail::drop_dims_t{}, where);
}
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, std::span<const double> shares,
                            std::source_location where = std::source_location::current()) {
  return quantile(detail::in_a_row(x, where), shares, 0, detail::drop_dims_t{}, where);
}
template <operand X, std::size_t N>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, const double (&shares)[N],
                            std::source_location where = std::source_location::current()) {
  return quantile(x, std::span<const double>(shares), where);
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
