// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements by a mask, and where it is true. How many there are is known when the mask is computed,
/// so that these wait for it.

#include <array>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <topos/device/common_device.hpp>
#include <topos/expr/gather.hpp>
#include <topos/kernels/pack.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/scan.hpp>
#include <vector>

namespace topos {

namespace detail {

/// What a source has where a mask is true; `reads` is the memory of both. (Of a type that is to be
/// deduced, or what it calls would be compiled for who never calls it.)
template <class Source, std::same_as<bool> Truth>
[[nodiscard]] tensor<typename Source::value_type, 1> packed(const char* name,
                                                            const tensor<Truth, 1>& mask,
                                                            const Source& from,
                                                            std::vector<buffer> reads,
                                                            std::source_location where) {
  using T = typename Source::value_type;
  const index_t size = mask.size();
  const device d = mask.device();
  const auto submit = [&](const char* label, const auto& kernel, const auto& out) {
    submit_kernel(label, kernel, d, reads, {out.memory()}, size, name, where);
  };
  if (size == 0) return tensor<T, 1>({0}, d, where);
  if (d != cpu()) {
    const tensor<std::int64_t, 1> running = cumsum(astype<std::int64_t>(mask), 0, where);
    const tensor<T, 1> y({running.item({size - 1}, where)}, d, where);
    reads.push_back(running.memory());
    submit("topos::pack", place_kernel<Source>{mask.data(), size, from, running.data(), y.data()},
           y);
    return y;
  }
  host_rows::count_true_kernel counting{mask.data(), size, nullptr};
  const tensor<index_t, 1> counts({counting.items()}, d, where);
  counting.counts = counts.data();
  submit("topos::count", counting, counts);
  counts.block_until_ready();
  index_t* const first = counts.data();
  index_t* const past = first + counts.size();
  const index_t count = std::accumulate(first, past, index_t{0});
  std::exclusive_scan(first, past, first, index_t{0});
  const tensor<T, 1> y({count}, d, where);
  reads.push_back(counts.memory());
  submit("topos::pack",
         host_rows::pack_kernel<Source>{mask.data(), size, from, first, count, y.data()}, y);
  return y;
}

/// Whether elements are not 0, in memory.
template <operand X>
[[nodiscard]] tensor<bool, node_t<X>::rank> mask_of(const X& x, std::source_location where) {
  if constexpr (std::same_as<value_of_t<X>, bool>)
    return eval(x, where);
  else
    return eval(as_truths(x), where);
}

/// Throws unless a mask has a shape, and is where x is.
template <std::size_t N, class X>
void require_mask(const char* name, const tensor<bool, N>& mask, const X& x,
                  const shape<N>& expected, std::source_location where) {
  if (mask.shape() != expected) {
    throw shape_mismatch(concat(name, ": a condition ", to_string(mask.shape()), " for ",
                                to_string(x.shape()), "; expected ", to_string(expected)),
                         where);
  }
  common_device(name, "the condition", mask, "x", x, where);
}

/// The index along an axis of elements that are numbered in row-major order.
struct unravel_op : quick {
  divisor inner;  // elements of an index
  divisor extent;

  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t number) const {
    const index_t along = inner.quotient(number);
    return along - extent.quotient(along) * extent;
  }
};

}  // namespace detail

/// The numbers, in row-major order, of the elements that are not 0: numpy.flatnonzero. Waits until
/// they are counted; rethrows what the computation of x failed with.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] tensor<std::int64_t, 1> flatnonzero(
    const X& x, std::source_location where = std::source_location::current()) {
  const tensor<bool, 1> mask = detail::mask_of(x, where).reshape({-1}, where);
  return detail::packed("flatnonzero", mask, detail::packed_numbers{}, {mask.memory()}, where);
}

/// Their indices along each axis, `auto [i, j] = nonzero(x)`: numpy.nonzero. Waits, as flatnonzero.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto nonzero(const X& x,
                           std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const tensor<bool, rank> mask = detail::mask_of(x, where);
  const shape<rank> extents = mask.shape();
  std::array<tensor<std::int64_t, 1>, rank> indices;
  const tensor<std::int64_t, 1> numbers = flatnonzero(mask, where);
  index_t inner = 1;
  for (std::size_t axis = rank; axis-- > 0; inner *= extents[axis]) {
    indices[axis] = detail::make_node("nonzero", where,
                                      detail::unravel_op{{}, inner, extents[axis]}, numbers.node());
  }
  return indices;
}

/// The elements of x where a condition of its shape is not 0, in row-major order: numpy.extract,
/// x[mask]. Waits until they are counted, not until they are moved. Throws `shape_mismatch` and
/// `device_mismatch`.
template <operand M, operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] tensor<detail::value_of_t<X>, 1> extract(
    const M& condition, const X& x, std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  constexpr std::size_t rank = detail::node_t<X>::rank;
  static_assert(detail::node_t<M>::rank == rank,
                "topos: extract takes a condition for each element; whole rows are taken by "
                "compress(condition, x, axis)");
  const tensor<bool, rank> mask = detail::mask_of(condition, where);
  const tensor<T, rank> elements = eval(x, where);
  detail::require_mask("extract", mask, elements, elements.shape(), where);
  return detail::packed("extract", mask.reshape({-1}, where),
                        detail::memory_elements<T>{elements.data()},
                        {mask.memory(), elements.memory()}, where);
}

/// The slices along an axis of x for which a condition is not 0: numpy.compress, x[mask] of rows.
/// Waits until they are counted. Throws `shape_mismatch` unless there is a condition for each,
/// `out_of_range`, `device_mismatch`.
template <operand M, operand X>
  requires(detail::node_t<M>::rank == 1 && detail::node_t<X>::rank > 0)
[[nodiscard]] auto compress(const M& condition, const X& x, index_t axis,
                            std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = detail::node_t<X>::rank;
  const std::size_t along = detail::checked_axis("compress", axis, rank, where);
  decltype(auto) node = detail::as_node(x);
  const tensor<bool, 1> mask = detail::mask_of(condition, where);
  detail::require_mask("compress", mask, node, shape<1>{node.shape()[along]}, where);
  return eval(take(node, flatnonzero(mask, where), axis, where), where);
}

}  // namespace topos
