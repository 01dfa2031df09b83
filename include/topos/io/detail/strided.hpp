// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements that another library holds, anywhere in its memory, as an expression.

#include <cstddef>
#include <memory>
#include <source_location>
#include <topos/core/layout.hpp>
#include <topos/memory/buffer.hpp>
#include <topos/tensor/from_blob.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>

namespace topos::detail {

/// The elements from `data` on, as the strides (in elements) say; `keeper` keeps their memory. They
/// are never written.
template <element T, std::size_t Rank>
[[nodiscard]] tensor_node<T, Rank> strided_elements(const char* operation, const T* data,
                                                    const shape<Rank>& extents,
                                                    const shape<Rank>& strides, device d,
                                                    std::shared_ptr<void> keeper,
                                                    std::source_location where) {
  require_elements<T>(operation, data, extents, where);
  const auto bytes = static_cast<std::size_t>(size_of_shape(extents)) * sizeof(T);
  return {memory_source<T>{buffer::adopt(d, data, bytes, std::move(keeper))},
          layout<Rank>{0, extents, strides}};
}

/// A tensor of such elements, which shares their memory where they are dense and row-major, and
/// else is a copy that is enqueued.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> dense_tensor(const tensor_node<T, Rank>& elements,
                                           std::source_location where) {
  if (elements.where.is_dense() || size_of_shape(elements.where.extents) == 0) {
    return {elements.source.memory, elements.where.offset, elements.where.extents};
  }
  return tensor<T, Rank>(elements, where);
}

}  // namespace topos::detail
