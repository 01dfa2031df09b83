// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where values stand among sorted elements.

#include <topos/device/common_device.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/kernels/search.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos {

/// Of elements that equal a value: whether its place is before or after them.
enum class side { left, right };

/// For each of some values, or one number, its place among the elements of a vector in ascending
/// order, as int64: how many come before it. numpy.searchsorted; NaN comes after all numbers, as
/// `sort` has it. `searchsorted(bounds, x, side::right)` is numpy.digitize. Types promote as in a
/// comparison. Enqueues it, and returns the tensor at once; elements in another order give numbers
/// that mean nothing. Throws `device_mismatch`.
template <operand X, detail::operand_or_scalar V>
[[nodiscard]] auto searchsorted(const X& elements, const V& values, side where_equal = side::left,
                                std::source_location where = std::source_location::current()) {
  using T = detail::common_t<X, V>;
  static_assert(!detail::is_complex<T>, "topos: complex numbers have no order");
  static_assert(detail::node_t<X>::rank == 1, "topos: searchsorted takes a vector of elements");
  const auto table = detail::node_as<T>(elements);
  const auto sought = detail::node_as<T>(values, "searchsorted", where);
  constexpr std::size_t rank = std::decay_t<decltype(sought)>::rank;
  const device d =
      detail::common_device("searchsorted", "the elements", table, "the values", sought, where)
          .value_or(default_device::current());
  const default_device scope(d);  // what reads no memory goes there, too
  const auto made = [&](const auto& x, const auto& node) {
    using result = tensor<T, std::decay_t<decltype(node)>::rank>;
    if constexpr (std::same_as<std::decay_t<decltype(x)>, result>)
      return x;
    else
      return result(node, where);
  };
  const tensor<T, 1> sorted = made(elements, table);
  const tensor<T, rank> wanted = made(values, sought);
  tensor<std::int64_t, rank> places(wanted.shape(), d, where);
  using kernel = detail::search_kernel<detail::memory_elements<T>, std::int64_t>;
  detail::submit_kernel("topos::searchsorted",
                        kernel{{wanted.data()},
                               wanted.size(),
                               sorted.data(),
                               sorted.size(),
                               where_equal == side::right,
                               places.data()},
                        d, {sorted.memory(), wanted.memory()}, {places.memory()},
                        wanted.size() * 64, "searchsorted", where);
  return places;
}

}  // namespace topos
