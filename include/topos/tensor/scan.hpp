// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Cumulative sums, products, minima and maxima.

#include <cstdint>
#include <limits>
#include <topos/expr/reshape.hpp>
#include <topos/kernels/column_scan.hpp>
#include <topos/kernels/reduction_order.hpp>
#include <topos/kernels/scan.hpp>
#include <topos/tensor/reduction.hpp>

namespace topos {

namespace detail {

// Along rows: w keeps the scanned axis apart, as the last one; `target` is the result's layout so.
template <class To, class Op, expression V>
[[nodiscard]] auto row_scan_of(const V& v, const layout<V::rank>& target, const walk<V::rank>& w,
                               const tensor<To, V::rank>& y, const Op& op,
                               typename V::value_type neutral) {
  const auto to = rows_of(target_elements<To>{y.data()}, target, w);
  using scan = row_scan<std::decay_t<decltype(to)>, Op, decltype(v.rows(w))>;
  const typename scan::total_type start{static_cast<typename scan::running>(neutral)};
  return scan{to, v.rows(w), op, start, w.rows(), w.columns()};
}

// Down columns of the axes in order.
template <class To, class Op, expression V>
[[nodiscard]] auto column_scan_of(const V& v, const layout<V::rank>& target, const walk<V::rank>& w,
                                  const tensor<To, V::rank>& y, const Op& op,
                                  const reduction_order<V::rank>& order) {
  const auto to = rows_of(target_elements<To>{y.data()}, target, w);
  return column_scan<std::decay_t<decltype(to)>, Op, decltype(v.rows(w))>{
      to, v.rows(w), op, order.outer, order.reduced, order.inner / w.columns(), w.columns()};
}

// Whether `length` rows of so many columns are combined with each other: a GPU does not so with few
// columns, nor the CPU where they are not one after the other, or few rows, too.
[[nodiscard]] inline bool goes_down(index_t length, index_t columns, index_t inner,
                                    const device& d) {
  constexpr index_t many_columns = 16;
  constexpr index_t many = 256;  // elements of a group
  return columns >= many_columns ||
         (d == cpu() && columns == inner && columns > 1 && length * columns >= many);
}

// Whether the CPU takes less time to write an expression down and scan that: where some elements
// cost less together, or all are computed once for the totals of chunks and once more.
template <expression E>
[[nodiscard]] bool is_written_down(const E& e, bool in_chunks, const device& d) {
  using row = decltype(e.rows(walk<E::rank>{}).row(0));
  return !host_rows::drawn_row<row>::type::is_quick &&
         (in_chunks || pairing_row<row>)&&d == cpu() && size_of_shape(e.shape()) > map_chunk;
}

// An expression scanned along an axis into y.
template <class To, class Op, expression E>
void submit_scan(const char* name, const E& e, std::size_t along, const Op& op,
                 typename E::value_type neutral, const tensor<To, E::rank>& y,
                 std::source_location where) {
  constexpr std::size_t rank = E::rank;
  const shape<rank> extents = e.shape();
  const layout<rank> dense = layout<rank>::dense(extents);
  const auto submit = [&](const auto& scan) {
    const std::size_t bytes = scan_bytes(y.device(), scan);
    if constexpr (std::same_as<To, typename E::value_type>) {
      if (is_written_down(e, bytes != 0, y.device())) {
        map(e, y.memory(), dense, where, name);
        return submit_scan(name, y.node(), along, op, neutral, y, where);
      }
    }
    const buffer room = bytes == 0 ? buffer() : buffer(y.device(), bytes, where);
    queue_of(y.device(), where)
        .submit(
            memory_read_by(e), {y.memory()}, y.size(),
            [scan, room](const auto& stream) { launch_scan(stream, scan, room.data()); }, name,
            where);
  };
  axis_set<rank> set{};
  set[along] = true;
  const reduction_order<rank> order(e, set);
  if (!order.by_rows && extents[along] > 1) {
    const auto v = e.viewed(extents, order.axes);
    const layout<rank> target = order.axes(dense);
    // The columns stay apart from the scanned axis, as those of a reduction do.
    const layout<rank> totals = order.axes(reduced_layout<rank>(extents, set));
    walk<rank> w = walk_of(v, {totals, target});
    w.go_down(totals, panel_of(w.columns()));
    if (goes_down(extents[along], w.columns(), order.inner, y.device()))
      return submit(column_scan_of(v, target, w, y, op, order));
  }
  const permute_view<rank> last = with_last<rank>(along);
  const auto by_rows = e.viewed(extents, last);
  submit(row_scan_of(by_rows, last(dense), walk_of(by_rows, {last(dense)}, 1), y, op, neutral));
}

// Computed in the type of `neutral`, which changes nothing that it is combined with.
template <class To, class Op, operand X, class Wide>
[[nodiscard]] tensor<To, node_t<X>::rank> scanned(const char* name, const X& x, index_t axis,
                                                  const Op& op, Wide neutral,
                                                  std::source_location where) {
  constexpr std::size_t rank = node_t<X>::rank;
  static_assert(rank > 0, "topos: a scan is taken along an axis");
  static_assert(!std::is_base_of_v<of_reals, Op> || !is_complex<Wide>,
                "topos: complex numbers have no order");
  const auto e = convert<Wide>(as_node(x));
  const std::size_t along = checked_axis(name, axis, rank, where);
  tensor<To, rank> y(e.shape(), e.device().value_or(default_device::current()), where);
  if (y.size() != 0) submit_scan(name, e, along, op, neutral, y, where);
  return y;
}

/// The type in which the extrema of a scan are compared: one that has lanes.
template <class T>
using extreme_t = std::conditional_t<std::integral<T> && sizeof(T) < sizeof(std::int32_t),
                                     std::int32_t, wide_t<T>>;

template <class T>
inline constexpr T least_of = std::numeric_limits<T>::has_infinity
                                  ? -std::numeric_limits<T>::infinity()
                                  : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T most_of = std::numeric_limits<T>::has_infinity
                                 ? std::numeric_limits<T>::infinity()
                                 : std::numeric_limits<T>::max();

}  // namespace detail

// The function `name` of an operand along an axis, and of all its elements.
#define TOPOS_SCAN(name, result, op, neutral)                                             \
  template <operand X>                                                                    \
  [[nodiscard]] auto name(const X& x, index_t axis,                                       \
                          std::source_location where = std::source_location::current()) { \
    using T = detail::value_of_t<X>;                                                      \
    return detail::scanned<result>(#name, x, axis, detail::op{}, neutral, where);         \
  }                                                                                       \
  template <operand X>                                                                    \
  [[nodiscard]] auto name(const X& x,                                                     \
                          std::source_location where = std::source_location::current()) { \
    return name(detail::flattened(x), 0, where);                                          \
  }

/// The running sum along an axis, without one of all elements in row-major order, as a tensor of
/// one axis: enqueues it, and returns a tensor of x's shape at once. Types as those of sum. Its
/// bits do not depend on the number of threads. Neighbours are added before what is before them:
/// sums of doubles may overflow where a sum of neighbours does, and that of numbers of one sign may
/// go back by a unit in the last place. Throws `out_of_range`.
TOPOS_SCAN(cumsum, detail::total_t<T>, add_op, -detail::sum_t<T>(0))  // so -0 stays -0

/// The running product: see cumsum.
TOPOS_SCAN(cumprod, detail::total_t<T>, multiply_op, detail::sum_t<T>(1))

/// The smallest and the largest element up to each, NaN from the first NaN on: see cumsum; of the
/// type of x, whose elements are no complex numbers.
TOPOS_SCAN(cummin, T, minimum_op, detail::most_of<detail::extreme_t<T>>)
TOPOS_SCAN(cummax, T, maximum_op, detail::least_of<detail::extreme_t<T>>)
#undef TOPOS_SCAN

}  // namespace topos
