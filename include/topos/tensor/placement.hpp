// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Moving tensors between devices.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <topos/tensor/detail/pinned_memory.hpp>
#include <topos/tensor/tensor.hpp>
#include <topos/tensor/transfer_guard.hpp>

namespace topos {

namespace detail {

/// Enqueues a copy between two buffers, one of them a GPU's, beside what that computes.
inline void copy_on(device gpu, const buffer& to, std::size_t to_offset, const buffer& from,
                    std::size_t from_offset, std::size_t bytes, std::source_location where) {
  queues::all()
      .transfers(gpu, to.where().kind() == device_kind::cpu, where)
      .submit(
          {from}, {to}, always_queued,
          [target = static_cast<std::byte*>(to.data()) + to_offset,
           source = static_cast<const std::byte*>(from.data()) + from_offset,
           bytes](const auto& stream) { stream.copy(target, source, bytes); },
          "topos::device_put", where);
}

/// Copies host memory into a buffer that no work uses yet; blocks until the memory was read.
inline void copy_from_host(const buffer& to, const void* from, std::size_t bytes,
                           std::source_location where) {
  if (bytes == 0) return;
  if (to.where().kind() == device_kind::cpu) {
    std::memcpy(to.data(), from, bytes);
    return;
  }
  transfer_guard::pass(cpu(), to.where(), bytes, where);
  // In parts: while the GPU copies some, the CPU fills the next.
  constexpr std::size_t most = std::size_t{4} << 20;
  std::array<std::uint64_t, 16> under_way{};
  for (std::size_t done = 0; done < bytes; done += most) {
    const std::size_t part = std::min(most, bytes - done);
    std::uint64_t& copied = under_way[done / most % under_way.size()];
    wait_for(ticket{copied});  // so that what is pinned stays little
    const buffer staged = pinned_memory::all().allocate(to.where(), part);
    std::memcpy(staged.data(), static_cast<const std::byte*>(from) + done, part);
    copy_on(to.where(), to, done, staged, 0, part, where);
    copied = to.ticket();
  }
}

/// A copy of a part of a buffer on another device.
[[nodiscard]] inline buffer copied_to(device d, const buffer& from, std::size_t offset,
                                      std::size_t bytes, std::source_location where) {
  const bool to_host = d.kind() == device_kind::cpu;
  const bool pinned = to_host && bytes != 0 && bytes <= pinned_memory::largest;
  const buffer result =
      pinned ? pinned_memory::all().allocate(from.where(), bytes) : buffer(d, bytes, where);
  if (bytes == 0) return result;
  if (!to_host && from.where().kind() == device_kind::cpu) {
    wait_for(ticket{from.ticket()});
    if (!from.poison()) {
      copy_from_host(result, static_cast<const std::byte*>(from.data()) + offset, bytes, where);
      return result;
    }
  } else {
    transfer_guard::pass(from.where(), d, bytes, where);
  }
  copy_on(to_host ? from.where() : d, result, 0, from, offset, bytes, where);
  return result;
}

/// A copy of host memory as a tensor; `name` is who makes it.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> copy_of(const char* name, std::span<const T> values,
                                      const shape<Rank>& extents, device d,
                                      std::source_location where) {
  if (size_of_shape(extents, where) != static_cast<index_t>(values.size())) {
    throw shape_mismatch(
        concat(name, ": ", values.size(), " values for the shape ", to_string(extents)), where);
  }
  tensor<T, Rank> result(extents, d, where);
  copy_from_host(result.memory(), values.data(), values.size_bytes(), where);
  return result;
}

}  // namespace detail

/// The tensor on a device: itself, without a copy, if it is there already. A copy to the CPU
/// returns at once, if it has no more than 256 MiB; a copy from the CPU to a GPU blocks until
/// the source is computed and read, and goes on beside what the GPU computes; one between GPUs
/// returns at once. What comes to the CPU lies in
/// pinned memory, which memory_stats does not count. See transfer_guard.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> device_put(
    const tensor<T, Rank>& x, device d,
    std::source_location where = std::source_location::current()) {
  if (x.device() == d) return x;
  return {detail::copied_to(d, x.memory(), static_cast<std::size_t>(x.offset()) * sizeof(T),
                            static_cast<std::size_t>(x.size()) * sizeof(T), where),
          0, x.shape()};
}

/// A copy of host memory (a vector, span or array), row-major, of a shape, on a device. Blocks
/// until the memory is read. Throws `shape_mismatch` if the number of elements differs.
template <std::ranges::contiguous_range Values, std::size_t Rank>
  requires element<std::ranges::range_value_t<Values>>
[[nodiscard]] auto device_put(const Values& values, shape<Rank> extents, device d,
                              std::source_location where = std::source_location::current()) {
  using T = std::ranges::range_value_t<Values>;
  return detail::copy_of("device_put", std::span<const T>(values), extents, d, where);
}
template <std::ranges::contiguous_range Values, std::size_t Rank>
  requires element<std::ranges::range_value_t<Values>>
[[nodiscard]] auto device_put(const Values& values, const index_t (&extents)[Rank], device d,
                              std::source_location where = std::source_location::current()) {
  return device_put(values, std::to_array(extents), d, where);
}

/// The same as a tensor of one axis.
template <std::ranges::contiguous_range Values>
  requires element<std::ranges::range_value_t<Values>>
[[nodiscard]] auto device_put(const Values& values, device d,
                              std::source_location where = std::source_location::current()) {
  return device_put(values, shape<1>{static_cast<index_t>(std::ranges::size(values))}, d, where);
}

/// The tensor of an operand on a device: computed where what it reads is, then moved.
template <operand X>
[[nodiscard]] auto device_put(const X& x, device d,
                              std::source_location where = std::source_location::current()) {
  return device_put(eval(x, where), d, where);
}

namespace detail {

/// The element of a tensor at an index, in its memory.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, 0> element_at(const tensor<T, Rank>& x, const shape<Rank>& index,
                                      std::source_location where) {
  const auto view = view_of_element(x.shape(), index, where);
  const auto place = view(layout<Rank>::dense(x.shape(), x.offset()));
  return {x.memory(), place.offset, {}};
}

/// The element of what has one: what `item` gives.
template <element T, std::size_t Rank>
[[nodiscard]] T only_value(const tensor<T, Rank>& x, std::source_location where) {
  if (x.size() != 1) {
    throw shape_mismatch(concat("item: a tensor of shape ", to_string(x.shape()), " has ", x.size(),
                                " elements, not 1"),
                         where);
  }
  const tensor<T, Rank> here = device_put(x, cpu(), where);
  return here.host(where)[0];
}
template <operand X>
[[nodiscard]] auto only_value(const X& x, std::source_location where) {
  return only_value(eval(x, where), where);
}

}  // namespace detail

}  // namespace topos
