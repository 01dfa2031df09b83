// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tensors to and from other libraries, through DLPack, without copies.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <topos/core/dtype.hpp>
#include <topos/io/detail/strided.hpp>
#include <topos/io/dlpack_abi.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>

namespace topos {

namespace detail {

/// DLPack's name of an element type.
template <element T>
[[nodiscard]] constexpr dlpack::data_type dlpack_type() noexcept {
  using dlpack::type_code;
  constexpr type_code code = std::same_as<T, bool>       ? type_code::boolean
                             : std::same_as<T, bf16>     ? type_code::bfloat
                             : std::same_as<T, f16>      ? type_code::floating
                             : std::floating_point<T>    ? type_code::floating
                             : std::unsigned_integral<T> ? type_code::unsigned_integer
                             : std::integral<T>          ? type_code::integer
                                                         : type_code::complex;
  return {code, static_cast<std::uint8_t>(8 * sizeof(T)), 1};
}

/// A type as the errors name it: "float32", or what topos does not have by its numbers.
[[nodiscard]] inline std::string dlpack_type_name(const dlpack::data_type& type) {
  constexpr std::string_view names[] = {"int",    "uint",    "float", "handle",
                                        "bfloat", "complex", "bool"};
  const auto code = static_cast<std::size_t>(type.code);
  std::string text =
      code < std::size(names) ? std::string(names[code]) : concat("type ", code, " of ");
  text += std::to_string(type.bits);
  return type.lanes == 1 ? text : concat(text, " x ", type.lanes, " lanes");
}

[[nodiscard]] inline device dlpack_device(const dlpack::device& d, std::source_location where) {
  switch (d.type) {
    case dlpack::device_type::cpu:
    case dlpack::device_type::cuda_host:
      return cpu();
    case dlpack::device_type::cuda:
    case dlpack::device_type::cuda_managed:
      return cuda(d.index, where);
  }
  throw invalid_device(concat("from_dlpack: the array is on a device of DLPack's type ",
                              static_cast<std::int32_t>(d.type), ", which topos does not have"),
                       where);
}

/// Checks all that can be known of an array before it is taken over.
template <element T, std::size_t Rank>
void require_dlpack(const dlpack::tensor& x, std::source_location where) {
  constexpr dlpack::data_type wanted = dlpack_type<T>();
  if (x.dtype != wanted) {
    throw dtype_mismatch(concat("from_dlpack: the array's elements are ", dlpack_type_name(x.dtype),
                                ", asked for were ", dlpack_type_name(wanted)),
                         where);
  }
  if (x.ndim != static_cast<std::int32_t>(Rank)) {
    throw shape_mismatch(
        concat("from_dlpack: the array has ", x.ndim, " axes, asked for were ", Rank), where);
  }
  if (Rank != 0 && x.shape == nullptr) {
    throw invalid_argument("from_dlpack: the array's shape is a null pointer", where);
  }
}

/// The elements of an array, whose memory `keeper` keeps.
template <element T, std::size_t Rank>
[[nodiscard]] tensor_node<T, Rank> dlpack_elements(const dlpack::tensor& x,
                                                   std::shared_ptr<void> keeper,
                                                   std::source_location where) {
  layout<Rank> l;
  for (std::size_t axis = 0; axis != Rank; ++axis) l.extents[axis] = x.shape[axis];
  static_cast<void>(size_of_shape(l.extents, where));
  l = layout<Rank>::dense(l.extents);
  if (x.strides != nullptr) {
    for (std::size_t axis = 0; axis != Rank; ++axis) l.strides[axis] = x.strides[axis];
  }
  const auto* first =
      x.data == nullptr ? nullptr : static_cast<const std::byte*>(x.data) + x.byte_offset;
  return strided_elements<T, Rank>("from_dlpack", reinterpret_cast<const T*>(first), l.extents,
                                   l.strides, dlpack_device(x.device, where), std::move(keeper),
                                   where);
}

/// Gives an array back, once it was taken over.
template <class Managed>
struct dlpack_keeper {
  Managed* managed;
  bool taken = false;

  explicit dlpack_keeper(Managed* m) : managed(m) {}
  dlpack_keeper(const dlpack_keeper&) = delete;
  dlpack_keeper& operator=(const dlpack_keeper&) = delete;
  ~dlpack_keeper() {
    if (taken && managed->deleter != nullptr) managed->deleter(managed);
  }
};

template <element T, std::size_t Rank, class Managed>
[[nodiscard]] tensor<T, Rank> import_dlpack(Managed* managed, std::source_location where) {
  const dlpack::tensor& x = managed->dl_tensor;
  require_dlpack<T, Rank>(x, where);
  const auto keeper = std::make_shared<dlpack_keeper<Managed>>(managed);
  const tensor_node<T, Rank> elements = dlpack_elements<T, Rank>(x, keeper, where);
  // A GPU may still be copying out of page-locked memory when its last tensor is gone.
  const bool pinned = x.device.type == dlpack::device_type::cuda_host;
  tensor<T, Rank> result =
      pinned ? tensor<T, Rank>(elements, where) : dense_tensor<T, Rank>(elements, where);
  keeper->taken = true;
  return result;
}

/// What an exported array needs as long as its consumer has it.
template <class Managed, element T, std::size_t Rank>
struct dlpack_export {
  Managed managed{};
  tensor<T, Rank> kept;
  std::int64_t extents[Rank == 0 ? 1 : Rank]{};
  std::int64_t strides[Rank == 0 ? 1 : Rank]{};

  explicit dlpack_export(tensor<T, Rank> x) : kept(std::move(x)) {
    const auto dense = layout<Rank>::dense(kept.shape());
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      extents[axis] = dense.extents[axis];
      strides[axis] = dense.strides[axis];
    }
    const device d = kept.device();
    managed.dl_tensor = {
        kept.data(),
        {d.kind() == device_kind::cpu ? dlpack::device_type::cpu : dlpack::device_type::cuda,
         d.index()},
        static_cast<std::int32_t>(Rank),
        dlpack_type<T>(),
        extents,
        strides,
        0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      auto* const all = static_cast<dlpack_export*>(self->manager_ctx);
      // What the consumer launched may still use the memory, and our queues know nothing of it.
      const device d = all->kept.device();
      backend::visit(d.kind(), [&](auto b) { decltype(b)::finish(d.index()); });
      delete all;
    };
  }
};

/// Waits for the elements, and where nobody else has them for what still reads them; whether they
/// may be written now.
template <element T, std::size_t Rank>
[[nodiscard]] bool finish_for_export(const tensor<T, Rank>& x) {
  x.block_until_ready();
  if (!x.memory().is_unique()) return false;
  block_until_ready(x.device());
  return !x.memory().is_held();  // by a copy that another device makes
}

}  // namespace detail

/// A tensor for another library, without a copy: DLPack 1.0's DLManagedTensorVersioned, whose
/// consumer calls its deleter once. Waits for the elements, and rethrows what they failed with. The
/// array is flagged as read-only, unless the tensor was moved in and nobody else holds its memory:
/// then the consumer may write it.
template <element T, std::size_t Rank>
[[nodiscard]] dlpack::managed_tensor_versioned* to_dlpack(tensor<T, Rank> x) {
  using exported = detail::dlpack_export<dlpack::managed_tensor_versioned, T, Rank>;
  const bool alone = detail::finish_for_export(x);
  auto made = std::make_unique<exported>(std::move(x));
  made->managed.version = dlpack::current;
  made->managed.flags = alone ? 0 : dlpack::read_only;
  return &made.release()->managed;
}

/// The same for libraries from before DLPack 1.0: DLManagedTensor. It cannot say that it is
/// read-only, so the consumer must not write it unless the tensor was moved in.
template <element T, std::size_t Rank>
[[nodiscard]] dlpack::managed_tensor* to_dlpack_unversioned(tensor<T, Rank> x) {
  using exported = detail::dlpack_export<dlpack::managed_tensor, T, Rank>;
  static_cast<void>(detail::finish_for_export(x));
  return &std::make_unique<exported>(std::move(x)).release()->managed;
}

/// A tensor of another library's array of T with `Rank` axes, which it takes over: its deleter is
/// called, on any thread, once nothing needs its memory. A dense, row-major array is shared, and
/// never written; any other, and page-locked memory, is copied, which is enqueued. Its content has
/// to be there already, and nobody may change it.
///
/// Throws, and leaves the array to the caller: `invalid_argument` for null and misaligned pointers,
/// `not_supported` for another major version, `dtype_mismatch`, `shape_mismatch`, and
/// `invalid_device` for a device that is not here.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_dlpack(
    dlpack::managed_tensor_versioned* managed,
    std::source_location where = std::source_location::current()) {
  if (managed == nullptr) throw invalid_argument("from_dlpack: a null pointer", where);
  if (managed->version.major != dlpack::current.major) {
    throw not_supported(
        detail::concat("from_dlpack: the array is of DLPack ", managed->version.major, '.',
                       managed->version.minor, "; topos reads ", dlpack::current.major, ".x"),
        where);
  }
  return detail::import_dlpack<T, Rank>(managed, where);
}

/// The same of an array from before DLPack 1.0.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_dlpack(
    dlpack::managed_tensor* managed, std::source_location where = std::source_location::current()) {
  if (managed == nullptr) throw invalid_argument("from_dlpack: a null pointer", where);
  return detail::import_dlpack<T, Rank>(managed, where);
}

/// Another library's array as a tensor on a device: taken over by `from_dlpack`, which says what is
/// thrown, and copied where it is on another device. Where that copy is what fails, with
/// `transfer_forbidden` or `out_of_memory`, the array was taken over, and is given back by then.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> device_put(
    dlpack::managed_tensor_versioned* managed, device d,
    std::source_location where = std::source_location::current()) {
  return device_put(from_dlpack<T, Rank>(managed, where), d, where);
}
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> device_put(
    dlpack::managed_tensor* managed, device d,
    std::source_location where = std::source_location::current()) {
  return device_put(from_dlpack<T, Rank>(managed, where), d, where);
}

}  // namespace topos
