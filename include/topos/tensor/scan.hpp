// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Cumulative sums and products.

#include <topos/expr/reshape.hpp>
#include <topos/kernels/reduction_order.hpp>
#include <topos/kernels/scan.hpp>
#include <topos/tensor/reduction.hpp>

namespace topos {

namespace detail {

/// Columns from which a scan across rows reads them by the cache line.
inline constexpr index_t fewest_columns = 16;
/// Rows from which each of them is one thread's work on the CPU, and one warp's on a GPU.
inline constexpr index_t many_rows = 64;
inline constexpr index_t many_rows_of_warps = 1024;

// `order`: the axes with the scanned one among the last, `target` that of the result so.
template <class To, class Op, expression V>
void submit_row_scan(const V& v, const layout<V::rank>& target, const tensor<To, V::rank>& y,
                     const Op& op, typename V::value_type neutral, std::vector<buffer> reads,
                     const char* name, std::source_location where) {
  walk_maker<V::rank> maker(v.shape(), 1);
  maker.add(target);
  v.leaves(maker);
  const walk<V::rank> w = maker.make();
  const auto to = rows_of(target_elements<To>{y.data()}, target, w);
  using scan_type = row_scan<std::decay_t<decltype(to)>, Op, decltype(v.rows(w))>;
  using running = typename scan_type::running;
  using total_type = typename scan_type::total_type;
  scan_type scan{to,       v.rows(w),   op,     total_type{static_cast<running>(neutral)},
                 w.rows(), w.columns(), nullptr};
  buffer totals;
  const bool on_device = y.device().kind() != device_kind::cpu;
  if (scan.chunks() > 1 && (on_device || scan.count < many_rows)) {
    const auto bytes = static_cast<std::size_t>(scan.count * scan.chunks()) * sizeof(total_type);
    totals = buffer(y.device(), bytes, where);
    scan.totals = static_cast<total_type*>(totals.data());
  }
  const bool is_short =
      on_device && scan.totals == nullptr &&
      (scan.columns <= device_rows::scanned_part || scan.count >= many_rows_of_warps);
  queue_of(y.device(), where)
      .submit(
          std::move(reads), {y.memory()}, y.size(),
          [scan, totals, is_short](const auto& stream) {
            if (is_short) return launch_scan<scan_part::short_rows>(stream, scan);
            if (scan.totals == nullptr) return launch_scan<scan_part::whole_rows>(stream, scan);
            launch_scan<scan_part::totals>(stream, scan);
            launch_scan<scan_part::starts>(stream, scan);
            launch_scan<scan_part::chunks>(stream, scan);
          },
          name, where);
}

template <class To, class Op, expression V>
void submit_column_scan(const V& v, const layout<V::rank>& target, const tensor<To, V::rank>& y,
                        const reduction_order<V::rank>& order, const walk<V::rank>& w, const Op& op,
                        std::vector<buffer> reads, const char* name, std::source_location where) {
  const auto to = rows_of(target_elements<To>{y.data()}, target, w);
  column_scan_kernel<std::decay_t<decltype(to)>, Op, decltype(v.rows(w))> kernel{
      to,          v.rows(w), op, order.outer, order.reduced, order.inner / w.columns(),
      w.columns(), w.piece};
  submit_kernel("topos::scan", kernel, y.device(), std::move(reads), {y.memory()}, y.size(), name,
                where);
}

template <class Op, operand X>
[[nodiscard]] auto scanned(const char* name, const X& x, index_t axis, const Op& op, int neutral,
                           std::source_location where) {
  using T = value_of_t<X>;
  using to = std::conditional_t<is_half<T>, T, sum_t<T>>;
  constexpr std::size_t rank = node_t<X>::rank;
  static_assert(rank > 0, "topos: a scan is taken along an axis");
  const auto e = convert<sum_t<T>>(as_node(x));
  axis_set<rank> set{};
  const std::size_t along = checked_axis(name, axis, rank, where);
  set[along] = true;
  const shape<rank> extents = e.shape();
  tensor<to, rank> y(extents, e.device().value_or(default_device::current()), where);
  if (y.size() == 0) return y;
  std::vector<buffer> reads = memory_read_by(e);
  const layout<rank> dense = layout<rank>::dense(extents);
  const reduction_order<rank> order(e, set);
  if (!order.by_rows && extents[along] > 1) {
    const auto v = e.viewed(extents, order.axes);
    const layout<rank> target = order.axes(dense);
    // The columns stay apart from the scanned axis, as those of a reduction do.
    walk_maker<rank> maker(v.shape());
    const layout<rank> totals = order.axes(reduced_layout<rank>(extents, set));
    maker.add(totals);
    maker.add(target);
    v.leaves(maker);
    walk<rank> w = maker.make();
    w.go_down(totals, panel_of(w.columns()));
    if (w.columns() >= fewest_columns) {
      submit_column_scan(v, target, y, order, w, op, std::move(reads), name, where);
      return y;
    }
  }
  const permute_view<rank> last = with_last<rank>(along);
  submit_row_scan(e.viewed(extents, last), last(dense), y, op, sum_t<T>(neutral), std::move(reads),
                  name, where);
  return y;
}

}  // namespace detail

/// The running sum along an axis: enqueues it, and returns a tensor of x's shape at once. Types as
/// those of sum. Its bits do not depend on the number of threads. Throws `out_of_range`.
template <operand X>
[[nodiscard]] auto cumsum(const X& x, index_t axis,
                          std::source_location where = std::source_location::current()) {
  return detail::scanned("cumsum", x, axis, detail::add_op{}, 0, where);
}
/// The running sum of all elements in row-major order: a tensor of one axis.
template <operand X>
[[nodiscard]] auto cumsum(const X& x,
                          std::source_location where = std::source_location::current()) {
  return cumsum(reshape(x, shape<1>{-1}, where), 0, where);
}

/// The running product along an axis: see cumsum.
template <operand X>
[[nodiscard]] auto cumprod(const X& x, index_t axis,
                           std::source_location where = std::source_location::current()) {
  return detail::scanned("cumprod", x, axis, detail::multiply_op{}, 1, where);
}
/// The running product of all elements in row-major order: a tensor of one axis.
template <operand X>
[[nodiscard]] auto cumprod(const X& x,
                           std::source_location where = std::source_location::current()) {
  return cumprod(reshape(x, shape<1>{-1}, where), 0, where);
}

}  // namespace topos
