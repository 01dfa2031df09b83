// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tensors over memory that the caller has, without a copy.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <source_location>
#include <topos/memory/buffer.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>

namespace topos {

namespace detail {

/// Checks that there are elements of T where a tensor of a shape is to have them.
template <element T, std::size_t Rank>
void require_elements(const char* operation, const void* data, const shape<Rank>& extents,
                      std::source_location where) {
  const index_t size = size_of_shape(extents, where);
  if (size > std::numeric_limits<index_t>::max() / index_t{sizeof(T)}) {
    throw shape_mismatch(
        concat(operation, ": the bytes of shape ", to_string(extents), " do not fit 63 bits"),
        where);
  }
  if (data == nullptr && size != 0) {
    throw invalid_argument(concat(operation, ": a null pointer for the shape ", to_string(extents)),
                           where);
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) {
    throw invalid_argument(concat(operation, ": the memory at ", data, " is not aligned to the ",
                                  alignof(T), " bytes that ", dtype_name_v<T>, " needs"),
                           where);
  }
}

/// A tensor over row-major memory of another, which may be written to if `Pointer` is `T*`.
template <element T, std::size_t Rank, class Pointer>
[[nodiscard]] tensor<T, Rank> adopt_elements(const char* operation, Pointer data,
                                             const shape<Rank>& extents, device d,
                                             std::shared_ptr<void> keeper,
                                             std::source_location where) {
  require_elements<T>(operation, data, extents, where);
  const auto bytes = static_cast<std::size_t>(size_of_shape(extents)) * sizeof(T);
  return {buffer::adopt(d, data, bytes, std::move(keeper)), 0, extents};
}

/// What `from_blob` does with memory that its caller ends.
struct keep_blob {
  void operator()(const void* /*data*/) const noexcept {}
};

template <element T, std::size_t Rank, class Pointer, class Deleter>
[[nodiscard]] tensor<T, Rank> from_blob(Pointer data, const shape<Rank>& extents, device d,
                                        Deleter deleter, std::source_location where) {
  tensor<T, Rank> result = adopt_elements<T>("from_blob", data, extents, d, nullptr, where);
  if constexpr (std::same_as<Deleter, keep_blob>) return result;
  // Only now: what throws before leaves the memory to the caller.
  std::shared_ptr<void> keeper(
      nullptr, [data, deleter = std::move(deleter)](void*) mutable { std::invoke(deleter, data); });
  return adopt_elements<T>("from_blob", data, extents, d, std::move(keeper), where);
}

}  // namespace detail

/// A tensor over row-major memory of a shape, which may be given in braces, on a device, without a
/// copy: what is computed from it reads that memory, and work that updates the tensor in place
/// writes it. Its content has to be there already, and nobody else may change it.
///
/// `deleter(data)` is called when the last tensor, expression and queued work that needs the memory
/// is gone, on any thread, and must not throw; without one the memory has to outlive them all.
/// Throws `invalid_argument` for a null or misaligned pointer and `shape_mismatch` for an
/// impossible shape, and does not call the deleter then.
template <element T, std::size_t Rank, std::invocable<T*> Deleter = detail::keep_blob>
[[nodiscard]] tensor<T, Rank> from_blob(
    T* data, shape<Rank> extents, device d = cpu(), Deleter deleter = {},
    std::source_location where = std::source_location::current()) {
  return detail::from_blob<T>(data, extents, d, std::move(deleter), where);
}
template <element T, std::size_t Rank, std::invocable<T*> Deleter = detail::keep_blob>
[[nodiscard]] tensor<T, Rank> from_blob(
    T* data, const index_t (&extents)[Rank], device d = cpu(), Deleter deleter = {},
    std::source_location where = std::source_location::current()) {
  return detail::from_blob<T>(data, std::to_array(extents), d, std::move(deleter), where);
}

/// The same of memory that is only read: an update of the tensor goes to memory of its own.
template <element T, std::size_t Rank, std::invocable<const T*> Deleter = detail::keep_blob>
[[nodiscard]] tensor<T, Rank> from_blob(
    const T* data, shape<Rank> extents, device d = cpu(), Deleter deleter = {},
    std::source_location where = std::source_location::current()) {
  return detail::from_blob<T>(data, extents, d, std::move(deleter), where);
}
template <element T, std::size_t Rank, std::invocable<const T*> Deleter = detail::keep_blob>
[[nodiscard]] tensor<T, Rank> from_blob(
    const T* data, const index_t (&extents)[Rank], device d = cpu(), Deleter deleter = {},
    std::source_location where = std::source_location::current()) {
  return detail::from_blob<T>(data, std::to_array(extents), d, std::move(deleter), where);
}

}  // namespace topos
