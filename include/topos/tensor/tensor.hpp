// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tensor: elements in rows on one device, a value that is cheap to copy.

#include <algorithm>
#include <limits>
#include <memory>
#include <source_location>
#include <span>
#include <topos/async/event.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/default_device.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/kernels/map.hpp>

namespace topos {

/// A dense row-major array of `Rank` axes on one device. Copies share memory; no operation changes
/// what another tensor holds. Its content may still be being computed: reading it waits.
template <element T, std::size_t Rank>
class tensor {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;

  /// A tensor without elements, on the CPU.
  tensor() requires(Rank > 0) : extents_{} {}

  /// Room for a shape on a device, with any content. Throws `out_of_memory`.
  explicit tensor(topos::shape<Rank> extents, topos::device d = default_device::current(),
                  std::source_location where = std::source_location::current())
      : extents_(extents), memory_(d, bytes_of(extents, where), where) {}

  /// Enqueues one fused kernel that computes an expression, and returns at once.
  template <expression E>
    requires(std::same_as<typename E::value_type, T>&& E::rank == Rank)
  tensor(const E& e, std::source_location where = std::source_location::current())
      : tensor(e.shape(), e.device().value_or(default_device::current()), where) {
    detail::map(e, memory_, 0, where);
  }

  /// A tensor over memory that is written already, or by queued work that knows the buffer.
  tensor(buffer memory, index_t offset, topos::shape<Rank> extents)
      : extents_(extents), memory_(std::move(memory)), offset_(offset) {}

  [[nodiscard]] topos::device device() const noexcept { return memory_.where(); }
  [[nodiscard]] const topos::shape<Rank>& shape() const noexcept { return extents_; }
  [[nodiscard]] index_t size() const noexcept {
    std::size_t size = 1;  // which may wrap on the way to 0
    for (const index_t extent : extents_) size *= static_cast<std::size_t>(extent);
    return static_cast<index_t>(size);
  }

  /// The index of its GPU, -1 on the CPU.
  [[nodiscard]] int get_device() const noexcept {
    return device().kind() == device_kind::cpu ? -1 : device().index();
  }

  /// True once its content is computed (or has failed to be).
  [[nodiscard]] bool is_ready() const { return detail::is_ready(memory_); }

  /// Waits until its content is computed; rethrows what its computation failed with.
  const tensor& block_until_ready() const {
    detail::block_until_ready(memory_);
    return *this;
  }

  /// The elements in row-major order. Waits for them. Throws `device_mismatch` if the tensor is
  /// not on the CPU: see cpu(). Valid as long as a copy of this tensor lives.
  [[nodiscard]] std::span<const T> host(
      std::source_location where = std::source_location::current()) const {
    if (device() != topos::cpu()) {
      throw device_mismatch(detail::concat("host: the tensor ", to_string(extents_), " is on ",
                                           device(), "; copy it with .cpu() first"),
                            where);
    }
    block_until_ready();
    return {data(), static_cast<std::size_t>(size())};
  }

  /// The same elements in the same order under another shape, without a copy. Throws
  /// `shape_mismatch` if the number of elements differs.
  template <std::size_t N>
  [[nodiscard]] tensor<T, N> reshape(
      topos::shape<N> extents, std::source_location where = std::source_location::current()) const {
    if (size_of_shape(extents, where) != size()) {
      throw shape_mismatch(
          detail::concat("reshape: ", to_string(extents_), " has ", size(), " elements, ",
                         to_string(extents), " has ", size_of_shape(extents, where)),
          where);
    }
    return {memory_, offset_, extents};
  }

  /// Element `i` of the first axis, without a copy. Throws `out_of_range`.
  [[nodiscard]] tensor<T, Rank - 1> row(
      index_t i, std::source_location where = std::source_location::current()) const
      requires(Rank > 0) {
    if (i < 0 || i >= extents_[0]) {
      throw out_of_range(
          detail::concat("row: index ", i, " of a tensor of shape ", to_string(extents_)), where);
    }
    topos::shape<Rank - 1> rest;
    std::copy(extents_.begin() + 1, extents_.end(), rest.begin());
    return {memory_, offset_ + i * (size() / extents_[0]), rest};
  }

  /// The tensor as a leaf of an expression.
  [[nodiscard]] detail::tensor_node<T, Rank> node() const { return {memory_, offset_, extents_}; }

  /// The buffer that holds the elements, for queued work.
  [[nodiscard]] const buffer& memory() const noexcept { return memory_; }

  /// The first element; of use on the device, to queued work or once that is done.
  [[nodiscard]] T* data() const noexcept {
    return memory_.data() == nullptr ? nullptr : static_cast<T*>(memory_.data()) + offset_;
  }

 private:
  static std::size_t bytes_of(const topos::shape<Rank>& extents, std::source_location where) {
    const auto size = static_cast<std::size_t>(size_of_shape(extents, where));
    if (size > std::numeric_limits<index_t>::max() / sizeof(T)) {
      throw shape_mismatch(
          detail::concat("tensor: the bytes of shape ", to_string(extents), " do not fit 63 bits"),
          where);
    }
    return size * sizeof(T);
  }

  topos::shape<Rank> extents_;
  buffer memory_;
  index_t offset_ = 0;
};

/// The tensor of an expression: `tensor y(a + b)`.
template <expression E>
tensor(const E&) -> tensor<typename E::value_type, E::rank>;

/// Enqueues one fused kernel that computes an expression, and returns its result at once.
template <expression E>
[[nodiscard]] tensor<typename E::value_type, E::rank> eval(
    const E& e, std::source_location where = std::source_location::current()) {
  return tensor<typename E::value_type, E::rank>(e, where);
}

}  // namespace topos
