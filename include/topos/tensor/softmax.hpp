// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Softmax: exponentials as shares of their sum.

#include <optional>
#include <topos/expr/math.hpp>
#include <topos/kernels/soften.hpp>
#include <topos/kernels/soften_columns.hpp>
#include <topos/tensor/reduction.hpp>
#include <utility>

namespace topos {

namespace detail {

/// Longer rows are softened by several passes over memory, which all threads share.
inline constexpr index_t longest_softened_row = index_t{1} << 16;

template <element To, expression E>
[[nodiscard]] tensor<To, E::rank> softened_rows(const E& e, std::size_t axis, bool log,
                                                std::source_location where) {
  constexpr std::size_t rank = E::rank;
  const shape<rank> extents = e.shape();
  tensor<To, rank> y(extents, e.device().value_or(default_device::current()), where);
  if (y.size() == 0) return y;
  const permute_view<rank> order = with_last<rank>(axis);
  const auto v = e.viewed(extents, order);
  const layout<rank> target = order(layout<rank>::dense(extents));
  const walk<rank> w = walk_of(v, {target}, 1);
  const auto to = rows_of(target_elements<To>{y.data()}, target, w);
  soften_kernel<std::decay_t<decltype(to)>, decltype(v.rows(w))> kernel{
      to, v.rows(w), w.rows(), w.columns(), log, {}};
  kernel.compute_short_rows(y.device());
  submit_kernel("topos::softmax", kernel, y.device(), memory_read_by(e), {y.memory()}, y.size(),
                log ? "log_softmax" : "softmax", where);
  return y;
}

/// The same where the rows are not those of memory, on the host: columns in strips that stay in
/// cache; nothing where none of them would.
template <element To, expression E>
[[nodiscard]] std::optional<tensor<To, E::rank>> softened_columns(
    const E& e, const axis_set<E::rank>& set, const reduction_order<E::rank>& order, bool log,
    std::source_location where) {
  constexpr std::size_t rank = E::rank;
  const shape<rank> extents = e.shape();
  const device d = e.device().value_or(default_device::current());
  if (d.kind() != cpu().kind() || order.has_second_step()) return std::nullopt;
  const auto v = e.viewed(extents, order.axes);
  const layout<rank> target = order.axes(layout<rank>::dense(extents));
  const layout<rank> results = order.axes(reduced_layout<rank>(extents, set));
  // The results of a reduction keep the reduced axis apart from the others.
  walk<rank> w = walk_of(v, {results, target});
  reduction_pieces strips = order.groups(w.columns());
  if (!cut_into_strips(strips, sizeof(typename E::value_type), backend::host::threads()))
    return std::nullopt;
  w.ahead = fetch_distance(false);
  w.go_down(results, strips.piece_columns);
  tensor<To, rank> y(extents, d, where);
  const auto to = rows_of(target_elements<To>{y.data()}, target, w);
  submit_kernel("topos::softmax",
                soften_columns_kernel<std::decay_t<decltype(to)>, decltype(v.rows(w))>(
                    strips, to, v.rows(w), log),
                d, memory_read_by(e), {y.memory()}, y.size(), log ? "log_softmax" : "softmax",
                where);
  return y;
}

template <bool Log, operand X>
[[nodiscard]] auto softened(const char* name, const X& x, index_t axis,
                            std::source_location where) {
  using to = floating_t<value_of_t<X>>;
  using wide = wide_t<to>;
  static_assert(!is_complex<to>, "topos: complex numbers have no order");
  const auto e = convert<wide>(as_node(x));
  constexpr std::size_t rank = node_t<X>::rank;
  static_assert(rank > 0, "topos: a softmax is taken along an axis");
  axis_set<rank> set{};
  const std::size_t along = checked_axis(name, axis, rank, where);
  set[along] = true;
  const shape<rank> extents = e.shape();
  const reduction_order<rank> order(e, set);
  if ((order.by_rows && extents[along] <= longest_softened_row) ||
      size_of_shape(extents, where) == 0) {
    return softened_rows<to>(e, along, Log, where);
  }
  if (!order.by_rows) {
    if (auto y = softened_columns<to>(e, set, order, Log, where)) return *std::move(y);
  }
  using result = tensor<to, rank>;
  const tensor<wide, rank> most = extremum_over<rank, maximum_op>(name, e, set, where);
  const auto shifted = e - most;
  if constexpr (Log) {
    const tensor<wide, rank> logs = make_reduction<rank>(exp(shifted), set, add_op{},
                                                         finish_by<log_op, wide>{}, wide(0), where);
    return result(convert<to>(shifted - logs), where);
  } else {
    const tensor<wide, rank> inverse = make_reduction<rank>(
        exp(shifted), set, add_op{}, finish_by<reciprocal_op, wide>{}, wide(0), where);
    return result(convert<to>(exp(shifted) * inverse), where);
  }
}

}  // namespace detail

/// exp(x) along an axis as shares of its sum there, without overflow: enqueues it and returns the
/// tensor at once. Of integers as float. Throws `out_of_range` for the axis.
template <operand X>
[[nodiscard]] auto softmax(const X& x, index_t axis = -1,
                           std::source_location where = std::source_location::current()) {
  return detail::softened<false>("softmax", x, axis, where);
}

/// The logarithm of softmax(x, axis), which does not underflow.
template <operand X>
[[nodiscard]] auto log_softmax(const X& x, index_t axis = -1,
                               std::source_location where = std::source_location::current()) {
  return detail::softened<true>("log_softmax", x, axis, where);
}

}  // namespace topos
