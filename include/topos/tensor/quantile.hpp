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
#include <topos/kernels/order_statistics.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/sort.hpp>
#include <utility>
#include <vector>

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

/// Where a share of so many elements stands in their order: between a place and the next, a part of
/// the way.
struct quantile_place {
  index_t below;
  index_t above;
  double part;

  quantile_place(double q, index_t count) {
    const double place = q * static_cast<double>(count - 1);
    below = std::min(static_cast<index_t>(place), count - 1);
    part = place - static_cast<double>(below);
    above = std::min(below + (part > 0 ? 1 : 0), count - 1);
  }
};

/// Enqueues finding of long rows, on the CPU, for each place the elements that stand there and
/// next, and the last one: (places, 3, rows). The rows are those of the last axis. What lies across
/// them, or takes long to compute for each place, is written down first.
template <expression E>
[[nodiscard]] buffer selected(const E& e, const std::vector<quantile_place>& places,
                              std::source_location where) {
  using T = typename E::value_type;
  using key = sort_key_t<T>;
  const auto keys = make_node("quantile", where, to_sort_key<T>{}, e);
  const walk<E::rank> w = walk_of(keys, 1);
  if (rows_crossed(keys, w) != 0 || (places.size() > 1 && !is_quick<E>()))
    return selected(tensor<T, E::rank>(e, where).node(), places, where);
  const tensor<T, 1> found({3 * static_cast<index_t>(places.size()) * w.rows()}, cpu(), where);
  const tensor<key, 1> room({w.columns()}, cpu(), where);
  queue_of(cpu(), where)
      .submit(
          memory_read_by(e), {found.memory(), room.memory()}, 4 * w.rows() * w.columns(),
          [rows = keys.rows(w), count = w.rows(), columns = w.columns(), places, room = room.data(),
           found = found.data()](const auto& stream) {
            if constexpr (std::decay_t<decltype(stream)>::backend::kind == device_kind::cpu) {
              const from_sort_key<T> as_value{};
              host_rows::selection<key> selection(columns, room);
              T* to = found;
              for (const quantile_place& p : places) {
                for (index_t r = 0; r < count; ++r, ++to) {
                  const auto keys = selection.find(stream, rows.row(r), p.below);
                  to[0] = as_value(keys.at);
                  to[count] = as_value(keys.next);
                  to[2 * count] = as_value(keys.largest);
                }
                to += 2 * count;
              }
            }
          },
          "quantile", where);
  return found.memory();
}

/// Whether so many shares of so long rows take less time to select than to sort for.
[[nodiscard]] inline bool selecting_pays(std::size_t shares, index_t count, const device& d) {
  return d.kind() == device_kind::cpu && count > sort_piece(d) && shares <= 4;
}

/// Of the elements along an axis the numbers that shares of them lie below: for each share those of
/// the other axes, one after another.
template <expression E>
[[nodiscard]] buffer quantiles(const E& e, std::span<const double> shares, std::size_t along,
                               std::source_location where) {
  using T = floating_t<typename E::value_type>;
  constexpr std::size_t rank = E::rank;
  for (const double q : shares) {
    if (!(q >= 0 && q <= 1))
      throw invalid_argument(concat("quantile: q is ", q, "; it is a share, from 0 to 1"), where);
  }
  shape<rank> one = e.shape();
  const index_t count = std::exchange(one[along], 1);
  const index_t each = size_of_shape(one, where);
  const tensor<T, 2> found({static_cast<index_t>(shares.size()), each},
                           e.device().value_or(default_device::current()), where);
  if (found.size() == 0) return found.memory();
  const auto write = [&](std::size_t i, const auto& numbers) {
    map(numbers, found.memory(), layout<rank>::dense(one, static_cast<index_t>(i) * each), where,
        "quantile");
  };
  if (count == 0) {
    const T nan = T(std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i != shares.size(); ++i) write(i, filled<T>(nan, one, found.device()));
    return found.memory();
  }
  std::vector<quantile_place> places;
  for (const double q : shares) places.emplace_back(q, count);
  // Of functions that give the numbers at a place, beyond it, and at the end.
  const auto write_all = [&](const auto& below, const auto& above, const auto& last) {
    for (std::size_t i = 0; i != places.size(); ++i)
      write(i, make_node("quantile", where, between_op{{}, {}, places[i].part},
                         convert<T>(below(i)), convert<T>(above(i)), convert<T>(last(i))));
  };
  if (selecting_pays(shares.size(), count, found.device())) {
    using value = typename E::value_type;
    const buffer there =
        selected(e.viewed(shape<rank>(e.shape()), with_last<rank>(along)), places, where);
    const auto part = [&](std::size_t i, index_t which) {
      const index_t first = (3 * static_cast<index_t>(i) + which) * each;
      return tensor_node<value, rank>(memory_source<value>{there}, layout<rank>::dense(one, first));
    };
    write_all([&](std::size_t i) { return part(i, 0); },
              [&](std::size_t i) { return part(i, places[i].above - places[i].below); },
              [&](std::size_t i) { return part(i, 2); });
  } else {
    const auto ordered = sort(e, static_cast<index_t>(along), ascending, where);
    const auto number = [&](index_t i) {
      range_view<rank> view{{}, {}, one};
      view.first[along] = i;
      view.step.fill(1);
      return seen_as(ordered, view);
    };
    write_all([&](std::size_t i) { return number(places[i].below); },
              [&](std::size_t i) { return number(places[i].above); },
              [&](std::size_t) { return number(count - 1); });
  }
  return found.memory();
}

}  // namespace detail

/// The numbers that shares of the elements along an axis lie below, at most: between two of them
/// linearly, as NumPy's. A new tensor, whose first axis is that of `shares`; of integers of float,
/// NaN where there is NaN, or no element. Sorts, once, or looks for a few in long rows on the CPU;
/// returns at once. Throws `out_of_range` for the axis, and `invalid_argument` unless shares are
/// from 0 to 1.
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

/// The same of one share, without its axis.
template <operand X, detail::keeping Keep = detail::drop_dims_t>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, double q, index_t axis, Keep keep = {},
                            std::source_location where = std::source_location::current()) {
  return quantile(x, std::span<const double>(&q, 1), axis, keep, where).row(0, where);
}

/// The same of all elements.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, double q,
                            std::source_location where = std::source_location::current()) {
  return quantile(detail::flattened(x), q, 0, detail::drop_dims_t{}, where);
}
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto quantile(const X& x, std::span<const double> shares,
                            std::source_location where = std::source_location::current()) {
  return quantile(detail::flattened(x), shares, 0, detail::drop_dims_t{}, where);
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
