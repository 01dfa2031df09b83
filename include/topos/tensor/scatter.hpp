// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Updates of the rows that indices name: one function for each way to combine old and new.

#include <limits>
#include <topos/device/common_device.hpp>
#include <topos/kernels/scatter.hpp>
#include <topos/tensor/sort.hpp>

namespace topos {

namespace detail {

/// Enqueues the updates of the rows of y, which nobody else holds, that `indices` name. `reads` is
/// the memory of the updates.
template <class Op, class Row, element T, std::size_t Rank, expression I, class Updates>
void submit_scatter(const char* name, const tensor<T, Rank>& y, const I& indices,
                    const Updates& updates, std::vector<buffer> reads, std::source_location where) {
  const index_t rows = y.shape()[0];
  const tensor<Row, 1> named(make_node(name, where, named_row<Row>{rows}, indices), where);
  const index_t width = y.size() / rows;
  const index_t count = named.size();
  reads.insert(reads.end(), {y.memory(), named.memory()});  // what it writes, too
  const auto submit = [&](const auto& kernel, std::vector<buffer> writes) {
    submit_kernel("topos::scatter", kernel, y.device(), reads, std::move(writes), count * width,
                  name, where);
  };
  if (y.device() != cpu()) {
    const tensor<std::int64_t, 1> order = argsort(named, 0, ascending, where);
    reads.push_back(order.memory());
    return submit(scatter_run_kernel<Op, T, Row, Updates>{y.data(), updates, named.data(),
                                                          order.data(), count, rows, width},
                  {y.memory()});
  }
  const bool small = count * width <= backend::host::stream::small_work;
  const index_t threads = small || in_place_scopes() > 0 ? 1 : backend::host::threads();
  if constexpr (std::integral<T> && std::same_as<Op, add_op>) {  // in any order
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
  using kernel = scatter_share_kernel<Op, T, Row, Updates>;
  const index_t shares = width < kernel::least_columns ? 1 : threads;
  submit(kernel{y.data(), updates, named.data(), count, rows, width, shares}, {y.memory()});
}

/// A tensor with its rows updated, by rows or one number: itself where nobody else holds it.
template <class Op, class X, operand I, operand_or_scalar U>
[[nodiscard]] auto scattered(const char* name, X&& x, const I& indices, const U& updates,
                             std::source_location where) {
  using T = value_of_t<std::remove_cvref_t<X>>;
  constexpr std::size_t rank = node_t<std::remove_cvref_t<X>>::rank;
  static_assert(rank > 0 && node_t<I>::rank == 1,
                "topos: what is updated are rows, at the numbers in a vector of indices");
  static_assert(!std::is_base_of_v<of_reals, Op> || !is_complex<T>,
                "topos: complex numbers have no order");
  decltype(auto) index = as_node(indices);
  const index_t count = shape<1>(index.shape())[0];
  common_device(name, "x", x, "the indices", index, where);
  const auto updated = [&](const auto& by, std::vector<buffer> reads) {
    tensor<T, rank> y = std::forward<X>(x);
    y.make_unique(where);
    if (y.size() == 0 || count == 0) return y;
    if (y.shape()[0] < std::numeric_limits<std::int32_t>::max())
      submit_scatter<Op, std::int32_t>(name, y, index, by, std::move(reads), where);
    else
      submit_scatter<Op, std::int64_t>(name, y, index, by, std::move(reads), where);
    return y;
  };
  if constexpr (scalar<U>) {
    static_assert(!std::integral<T> || std::integral<U>,
                  "topos: the update is floating-point and would be cut off: use astype");
    require_fits<T>(name, updates, where);
    return updated(update_number<T>{convert_op<T>{}(updates)}, {});
  } else {
    static_assert(node_t<U>::rank == rank, "topos: updates of rows have as many axes as x");
    static_assert(!std::integral<T> || std::integral<value_of_t<U>>,
                  "topos: the updates are floating-point and would be cut off: use astype");
    decltype(auto) given = as_node(updates);
    common_device(name, "x", x, "the updates", given, where);
    shape<rank> expected = x.shape();
    expected[0] = count;
    if (shape<rank>(given.shape()) != expected) {
      throw shape_mismatch(
          concat(name, ": updates ", to_string(given.shape()), " of ", to_string(x.shape()), " at ",
                 count, " indices; expected ", to_string(expected)),
          where);
    }
    const auto rows = [&]() -> tensor<T, rank> {
      if constexpr (std::same_as<U, tensor<T, rank>>)
        return updates;
      else
        return tensor<T, rank>(convert<T>(given), where);
    }();
    const index_t width = count == 0 ? 0 : rows.size() / count;
    return updated(update_rows<T>{rows.data(), width}, {rows.memory()});
  }
}

}  // namespace detail

// What is no tensor is computed, once, and given away.
#define TOPOS_SCATTER(name, op)                                                                 \
  template <class X, operand I, detail::operand_or_scalar U>                                    \
    requires(operand<std::remove_cvref_t<X>> && detail::is_integer<detail::value_of_t<I>>)      \
  [[nodiscard]] auto name(X&& x, const I& indices, const U& updates,                            \
                          std::source_location where = std::source_location::current()) {       \
    if constexpr (requires { x.memory(); })                                                     \
      return detail::scattered<detail::op>(#name, std::forward<X>(x), indices, updates, where); \
    else                                                                                        \
      return detail::scattered<detail::op>(#name, eval(x, where), indices, updates, where);     \
  }

/// x with updates[i] in place of row indices[i] of its first axis, for each i in turn: of several
/// updates of one row the last stays. Returns at once: a new tensor, or x itself, updated in place,
/// where it is given away (`x = scatter(std::move(x), ...)`) and nobody else holds its memory. One
/// number stands for all updates. Negative indices count from the end; updates of rows that are not
/// there are dropped. Throws `shape_mismatch` unless the updates are rows of x, one for each index,
/// and `device_mismatch`. JAX's x.at[indices].set(updates).
TOPOS_SCATTER(scatter, replace_op)

/// The same with updates added: by 1 to zeros, how often each index comes. The order of additions,
/// and so the bits, do not depend on the number of threads.
TOPOS_SCATTER(scatter_add, add_op)

/// The same with the smaller, and the larger, of what is there and the update; NaN if one is.
TOPOS_SCATTER(scatter_min, minimum_op)
TOPOS_SCATTER(scatter_max, maximum_op)
#undef TOPOS_SCATTER

}  // namespace topos
