// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kokkos Views as tensors, and tensors as Views, without copies.

#include <concepts>
#include <cstddef>
#include <memory>
#include <source_location>
#include <topos/backend/backend.hpp>
#include <topos/io/detail/strided.hpp>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>

namespace topos {

namespace detail {

/// Whether what a backend runs may read a memory space.
template <class Backend, class Space>
[[nodiscard]] constexpr bool reads_space() {
  if constexpr (requires { typename Backend::execution_space; }) {
    return Kokkos::SpaceAccessibility<typename Backend::execution_space,
                                      typename Space::memory_space>::accessible;
  } else {
    return false;
  }
}

/// A memory space, or an execution space with one, that tensors live in.
template <class Space>
concept tensor_space = requires {
  typename Space::memory_space;
}
&&(reads_space<backend::host, Space>() || reads_space<backend::cuda, Space>());

/// The device on which a pointer into a memory space is of use, the CPU where both may read it.
template <tensor_space Space>
[[nodiscard]] device view_device(const void* pointer) {
  if constexpr (reads_space<backend::host, Space>()) {
    static_cast<void>(pointer);
    return cpu();
  } else {
    return pointer == nullptr ? cuda() : cuda(backend::cuda::owner_of(pointer));
  }
}

/// Views whose last axis is contiguous by their type, but for padding of the others.
template <class View>
inline constexpr bool is_row_major =
    std::same_as<typename View::array_layout, Kokkos::LayoutRight> ||
    (std::same_as<typename View::array_layout, Kokkos::LayoutLeft> && View::rank <= 1);

/// Gives a View back, unless Kokkos has ended: it then takes none.
struct release_view {
  template <class View>
  void operator()(View* view) const noexcept {
    if (!Kokkos::is_finalized()) delete view;
  }
};

}  // namespace detail

/// A Kokkos View of elements that tensors have, plainly accessed.
template <class V>
concept kokkos_view = Kokkos::is_view_v<V> && element<typename V::non_const_value_type> &&
    std::is_lvalue_reference_v<typename V::reference_type> &&
    detail::tensor_space<typename V::memory_space>;

/// The elements of a View where they are, on the device of its memory space: a tensor that shares
/// its memory for a row-major View (of padded rows: a copy, enqueued), and for one of another
/// layout an expression that reads it in place.
///
/// The View is kept as long as its memory is needed and is never written through the result. What
/// writes it has to be done, and nobody may write it as long as the result is used: a View is no
/// value. Of an unmanaged View, its owner has to keep the memory.
template <kokkos_view View>
[[nodiscard]] auto from_view(const View& view,
                             std::source_location where = std::source_location::current()) {
  using T = typename View::non_const_value_type;
  constexpr std::size_t rank = View::rank;
  shape<rank> extents{};
  shape<rank> strides{};
  for (std::size_t axis = 0; axis != rank; ++axis) {
    extents[axis] = static_cast<index_t>(view.extent(axis));
    strides[axis] = static_cast<index_t>(view.stride(axis));
  }
  auto elements = detail::strided_elements<T, rank>(
      "from_view", view.data(), extents, strides,
      detail::view_device<typename View::memory_space>(view.data()),
      std::shared_ptr<View>(new View(view), detail::release_view{}), where);
  if constexpr (detail::is_row_major<View>) {
    return detail::dense_tensor<T, rank>(elements, where);
  } else {
    return elements;
  }
}

/// The elements of a View as a tensor on a device: see `from_view`, whose memory it shares where
/// that is the View's own device and the View is row-major, and is a copy elsewhere.
template <kokkos_view View>
[[nodiscard]] auto device_put(const View& view, device d,
                              std::source_location where = std::source_location::current()) {
  return device_put(from_view(view, where), d, where);
}

/// An unmanaged, row-major View of a tensor's elements in a memory space: by default the host's, of
/// a tensor on the CPU. Waits for the elements. Throws `device_mismatch` if the tensor is not in
/// that space, and what its computation failed with. Valid as long as a copy of the tensor lives
/// that nobody changes.
template <detail::tensor_space Space = Kokkos::HostSpace, element T, std::size_t Rank>
[[nodiscard]] detail::kernel_view<Space, const T, Rank> as_view(
    const tensor<T, Rank>& x, std::source_location where = std::source_location::current()) {
  const bool here = x.device().kind() == device_kind::cpu
                        ? detail::reads_space<backend::host, Space>()
                        : detail::reads_space<backend::cuda, Space>();
  if (!here) {
    throw device_mismatch(
        detail::concat("as_view: the tensor ", to_string(x.shape()), " is on ", x.device(),
                       ", which is not ", Space::name(), "; move it with device_put first"),
        where);
  }
  x.block_until_ready();
  return detail::view_of<Space>(detail::view_parts<const T, Rank>{x.data(), x.shape()});
}

}  // namespace topos
