// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Moving tensors: the only way data crosses devices.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <topos/tensor/tensor.hpp>

namespace topos {

namespace detail {

/// Copies host memory into a buffer that nothing queued knows yet; blocks until the memory was
/// read.
inline void copy_from_host(const buffer& to, std::size_t byte_offset, const void* from,
                           std::size_t bytes, std::source_location where) {
  if (bytes == 0) return;
  void* target = static_cast<std::byte*>(to.data()) + byte_offset;
  if (to.where().kind() == device_kind::cpu) {
    std::memcpy(target, from, bytes);
    return;
  }
  work_queue& q = queue_of(to.where(), where);
  q.submit({}, {to}, always_queued,
           [target, from, bytes](const auto& stream) { stream.copy(target, from, bytes); });
  block_until_ready(to);
}

/// Copies `bytes` from one buffer to another, on any two devices, in the queue of the GPU among
/// them; waits for the source if that has another queue.
inline void copy_between(const buffer& to, const buffer& from, std::size_t from_offset,
                         std::size_t bytes, std::source_location where) {
  if (bytes == 0) return;
  const bool to_host = to.where().kind() == device_kind::cpu;
  const buffer& worker = to_host ? from : to;
  if (worker.where() != from.where()) block_until_ready(from);
  work_queue& q = queue_of(worker.where(), where);
  q.submit({from}, {to}, always_queued,
           [target = to.data(), source = static_cast<const std::byte*>(from.data()) + from_offset,
            bytes](const auto& stream) { stream.copy(target, source, bytes); });
  // The ticket is one of the GPU's queue, which a host buffer's owner does not ask.
  if (to_host && worker.where() != to.where()) {
    q.drain();
    to.set_ticket(0);
  }
}

}  // namespace detail

/// The tensor on a device: itself, without a copy, if it is there already. A copy to the CPU
/// blocks until it is done, a copy to a GPU until the source is computed.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> device_put(
    const tensor<T, Rank>& x, device d,
    std::source_location where = std::source_location::current()) {
  if (x.device() == d) return x;
  tensor<T, Rank> result(x.shape(), d, where);
  detail::copy_between(
      result.memory(), x.memory(),
      static_cast<std::size_t>(x.data() - static_cast<T*>(x.memory().data())) * sizeof(T),
      static_cast<std::size_t>(x.size()) * sizeof(T), where);
  return result;
}

}  // namespace topos
