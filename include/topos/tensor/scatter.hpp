// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Adding to the rows that indices name.

#include <limits>
#include <topos/kernels/scatter.hpp>
#include <topos/tensor/sort.hpp>

namespace topos {

namespace detail {

/// Enqueues the additions to the rows of y, which nobody else holds, that `indices` name. `reads`
/// is the memory of the updates.
template <class Row, element T, std::size_t Rank, expression I, class Updates>
void add_rows(const tensor<T, Rank>& y, const I& indices, const Updates& updates,
              std::vector<buffer> reads, std::source_location where) {
  const index_t rows = y.shape()[0];
  const tensor<Row, 1> named(make_node("scatter_add", where, named_row<Row>{rows}, indices), where);
  const index_t width = y.size() / rows;
  const index_t count = named.size();
  reads.insert(reads.end(), {y.memory(), named.memory()});  // what it writes, too
  const auto submit = [&](const auto& kernel, std::vector<buffer> writes) {
    submit_kernel("topos::scatter_add", kernel, y.device(), reads, std::move(writes), count * width,
                  "scatter_add", where);
  };
  if (y.device() != cpu()) {
    const tensor<std::int64_t, 1> order = argsort(named, 0, ascending, where);
    reads.push_back(order.memory());
    return submit(scatter_run_kernel<T, Row, Updates>{y.data(), updates, named.data(), order.data(),
                                                      count, rows, width},
                  {y.memory()});
  }
  const bool small = count * width <= backend::host::stream::small_work;
  const index_t threads = small || in_place_scopes() > 0 ? 1 : backend::host::threads();
  if constexpr (std::integral<T>) {  // in any order
    if (threads > 1 && threads * rows <= count) {
      using kernel = fill_bins_kernel<T, Row, Updates>;
      const index_t apart = kernel::apart(y.size());
      const tensor<T, 1> bins(shape<1>{(threads - 1) * apart}, y.device(), where);
      reads.push_back(bins.memory());
      submit(kernel{y.data(), bins.data(), updates, named.data(), count, rows, width, threads},
             {y.memory(), bins.memory()});
      return submit(sum_bins_kernel<T>{y.data(), bins.data(), y.size(), threads, apart},
                    {y.memory()});
    }
  }
  using kernel = scatter_share_kernel<T, Row, Updates>;
  const index_t shares = width < kernel::least_columns ? 1 : threads;
  submit(kernel{y.data(), updates, named.data(), count, rows, width, shares}, {y.memory()});
}

/// Throws unless indices or updates are where x is.
inline void require_beside(std::optional<device> x, std::optional<device> other,
                           std::source_location where) {
  if (!x || !other || *x == *other) return;
  throw device_mismatch(concat("scatter_add: x is on ", *x, ", the indices or updates are on ",
                               *other, "; move one of them with device_put first"),
                        where);
}

/// A copy of x with updates added.
template <class T, expression X, expression I, class Updates>
[[nodiscard]] tensor<T, X::rank> with_rows_added(const X& x, const I& indices,
                                                 const Updates& updates, std::vector<buffer> reads,
                                                 std::source_location where) {
  const tensor<T, X::rank> y(x, where);
  if (y.size() == 0 || shape<1>(indices.shape())[0] == 0) return y;
  if (y.shape()[0] < std::numeric_limits<std::int32_t>::max()) {
    add_rows<std::int32_t>(y, indices, updates, std::move(reads), where);
  } else {
    add_rows<std::int64_t>(y, indices, updates, std::move(reads), where);
  }
  return y;
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
  detail::require_beside(base.device(), index.device(), where);
  detail::require_beside(base.device(), added.device(), where);
  const tensor<T, rank> rows = [&] {
    if constexpr (std::same_as<U, tensor<T, rank>>)
      return updates;
    else
      return tensor<T, rank>(added, where);
  }();
  const index_t width = expected[0] == 0 ? 0 : rows.size() / expected[0];
  return detail::with_rows_added<T>(base, index, detail::added_rows<T>{rows.data(), width},
                                    {rows.memory()}, where);
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
  detail::require_beside(base.device(), index.device(), where);
  return detail::with_rows_added<T>(
      base, index, detail::added_number<T>{detail::convert_op<T>{}(update)}, {}, where);
}

}  // namespace topos
