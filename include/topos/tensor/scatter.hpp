// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Adding to the rows that indices name.

#include <limits>
#include <topos/kernels/scatter.hpp>
#include <topos/tensor/sort.hpp>

namespace topos {

namespace detail {

template <class Row, element T, std::size_t Rank, expression I>
void add_rows(const tensor<T, Rank>& y, const I& indices, const tensor<T, Rank>& updates,
              std::source_location where) {
  const index_t rows = y.shape()[0];
  const tensor<Row, 1> named(make_node("scatter_add", where, named_row<Row>{rows}, indices), where);
  const index_t width = y.size() / rows;
  std::vector<buffer> reads{y.memory(), updates.memory(), named.memory()};  // what it writes, too
  const auto submit = [&](const auto& kernel) {
    submit_kernel("topos::scatter_add", kernel, y.device(), std::move(reads), {y.memory()},
                  updates.size(), "scatter_add", where);
  };
  if (y.device() == cpu()) {
    const bool small = updates.size() <= backend::host::stream::small_work;
    const index_t shares = small || in_place_scopes() > 0 ? 1 : backend::host::threads();
    return submit(scatter_share_kernel<T, Row>{y.data(), updates.data(), named.data(), named.size(),
                                               rows, width, shares});
  }
  const tensor<std::int64_t, 1> order = argsort(named, 0, ascending, where);
  reads.push_back(order.memory());
  submit(scatter_run_kernel<T, Row>{y.data(), updates.data(), named.data(), order.data(),
                                    named.size(), rows, width});
}

}  // namespace detail

/// x with updates[i] added to row indices[i] of its first axis, for each i in turn: a new tensor,
/// at once. Negative indices count from the end; updates of rows that are not there are dropped.
/// The order of additions, and so the bits, do not depend on the number of threads. Throws
/// `shape_mismatch` unless the updates are rows of x, one for each index, and `device_mismatch`.
template <operand X, operand I, operand U>
  requires detail::is_integer<detail::value_of_t<I>>
[[nodiscard]] auto scatter_add(const X& x, const I& indices, const U& updates,
                               std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  constexpr std::size_t rank = detail::node_t<X>::rank;
  static_assert(rank > 0 && detail::node_t<I>::rank == 1 && detail::node_t<U>::rank == rank,
                "topos: scatter_add takes a vector of indices, and updates with as many axes as x");
  static_assert(!std::integral<T> || std::integral<detail::value_of_t<U>>,
                "topos: the updates are floating-point and would be cut off: use astype");
  decltype(auto) base = detail::as_node(x);
  decltype(auto) index = detail::as_node(indices);
  const auto added = detail::convert<T>(detail::as_node(updates));
  shape<rank> expected = base.shape();
  expected[0] = shape<1>(index.shape())[0];
  if (shape<rank>(added.shape()) != expected) {
    throw shape_mismatch(detail::concat("scatter_add: updates ", to_string(added.shape()), " of ",
                                        to_string(base.shape()), " at ", expected[0],
                                        " indices; expected ", to_string(expected)),
                         where);
  }
  for (const std::optional<device>& other : {index.device(), added.device()}) {
    if (other && base.device() && *other != *base.device()) {
      throw device_mismatch(detail::concat("scatter_add: x is on ", *base.device(),
                                           ", the indices or updates are on ", *other,
                                           "; move one of them with device_put first"),
                            where);
    }
  }
  const tensor<T, rank> y(base, where);
  if (y.size() == 0 || expected[0] == 0) return y;
  const tensor<T, rank> rows = [&] {
    if constexpr (std::same_as<U, tensor<T, rank>>)
      return updates;
    else
      return tensor<T, rank>(added, where);
  }();
  if (y.shape()[0] < std::numeric_limits<std::int32_t>::max()) {
    detail::add_rows<std::int32_t>(y, index, rows, where);
  } else {
    detail::add_rows<std::int64_t>(y, index, rows, where);
  }
  return y;
}

/// The same with one number for all updates: how often each index comes, if it is 1 and x zeros.
template <operand X, operand I, detail::scalar U>
  requires detail::is_integer<detail::value_of_t<I>>
[[nodiscard]] auto scatter_add(const X& x, const I& indices, const U& update,
                               std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  constexpr std::size_t rank = detail::node_t<X>::rank;
  static_assert(rank > 0 && detail::node_t<I>::rank == 1,
                "topos: scatter_add takes a vector of indices");
  static_assert(!std::integral<T> || std::integral<U>,
                "topos: the update is floating-point and would be cut off: use astype");
  detail::require_fits<T>("scatter_add", update, where);
  decltype(auto) base = detail::as_node(x);
  decltype(auto) index = detail::as_node(indices);
  shape<rank> extents = base.shape();
  extents[0] = shape<1>(index.shape())[0];
  const device place = base.device().value_or(index.device().value_or(default_device::current()));
  return scatter_add(base, index,
                     detail::filled<T>(detail::convert_op<T>{}(update), extents, place), where);
}

}  // namespace topos
