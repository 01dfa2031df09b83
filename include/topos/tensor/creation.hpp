// SPDX-License-Identifier: Apache-2.0
#pragma once

/// New tensors.

#include <span>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>

namespace topos {

/// A tensor of a shape with any content; returns at once.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> empty(shape<Rank> extents, device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return tensor<T, Rank>(extents, d, where);
}

/// A tensor that holds `value` everywhere; returns at once.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> full(shape<Rank> extents, std::type_identity_t<T> value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  tensor<T, Rank> result(extents, d, where);
  detail::queue_of(d, where).submit(
      {}, {result.memory()}, result.size(),
      [kernel = detail::map_kernel<T, detail::constant_rows<T>>{
           result.data(),
           {value},
           result.size(),
           (result.size() + detail::map_chunk - 1) / detail::map_chunk}](const auto& stream) {
        stream.for_each("topos::full", kernel.chunks, detail::map_chunk, 0, kernel);
      });
  return result;
}

/// A tensor of zeros; returns at once.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> zeros(shape<Rank> extents, device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return full<T, Rank>(extents, T{}, d, where);
}

/// A tensor of ones; returns at once.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> ones(shape<Rank> extents, device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return full<T, Rank>(extents, static_cast<T>(1), d, where);
}

/// A copy of host memory, row-major, of a shape. Blocks until the memory is copied. Throws
/// `shape_mismatch` if the number of elements differs.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_host(
    std::span<const T> values, shape<Rank> extents, device d = default_device::current(),
    std::source_location where = std::source_location::current()) {
  if (size_of_shape(extents, where) != static_cast<index_t>(values.size())) {
    throw shape_mismatch(
        detail::concat("from_host: ", values.size(), " values for the shape ", to_string(extents)),
        where);
  }
  tensor<T, Rank> result(extents, d, where);
  detail::copy_from_host(result.memory(), 0, values.data(), values.size_bytes(), where);
  return result;
}

}  // namespace topos
