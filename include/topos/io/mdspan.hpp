// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tensors as mdspans, and mdspans as tensors: std::mdspan where the standard library has it
/// (C++23), else Kokkos' own.

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <topos/core/config.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <utility>
#include <version>
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

namespace topos {

namespace detail {

#if defined(__cpp_lib_mdspan)
inline constexpr bool has_mdspan = true;
template <class T, std::size_t Rank>
using mdspan_of = std::mdspan<T, std::dextents<index_t, Rank>>;
#elif TOPOS_HAS_KOKKOS_MDSPAN
inline constexpr bool has_mdspan = true;
template <class T, std::size_t Rank>
using mdspan_of = Kokkos::mdspan<T, Kokkos::dextents<index_t, Rank>>;
#else
inline constexpr bool has_mdspan = false;
template <class T, std::size_t Rank>
using mdspan_of = std::span<T>;
#endif

}  // namespace detail

/// A multidimensional span of elements that tensors have, of any layout and accessor: std::mdspan,
/// Kokkos::mdspan, or another library's of the same interface; but no Kokkos::View, which may have
/// them where the host does not read: see io/kokkos_view.hpp.
template <class M>
concept mdspan_like = !Kokkos::is_view<M>::value &&
                      element<std::remove_cv_t<typename M::element_type>> && requires(const M& m) {
  typename M::layout_type;
  { M::rank() } -> std::convertible_to<std::size_t>;
  { m.extent(0) } -> std::convertible_to<index_t>;
  { m.is_strided() } -> std::same_as<bool>;
  m.accessor().access(m.data_handle(), m.mapping().required_span_size());
};

namespace detail {

/// Whether the elements are neighbours in row-major order.
template <mdspan_like M>
[[nodiscard]] bool is_dense(const M& m) {
  if (!m.is_strided()) return false;
  if constexpr (M::rank() > 0) {  // else there are no strides to ask for
    index_t stride = 1;
    for (std::size_t axis = M::rank(); axis-- > 0;) {
      const auto extent = static_cast<index_t>(m.extent(axis));
      if (extent != 1 && static_cast<index_t>(m.stride(axis)) != stride) return false;
      stride *= extent;
    }
  }
  return true;
}

}  // namespace detail

/// The elements of a tensor on the CPU as an mdspan of constants, row-major. Waits for them. Throws
/// `device_mismatch` if the tensor is not on the CPU, and what its computation failed with. Valid
/// as long as a copy of the tensor lives that nobody changes.
template <element T, std::size_t Rank>
[[nodiscard]] detail::mdspan_of<const T, Rank> as_mdspan(
    const tensor<T, Rank>& x, std::source_location where = std::source_location::current()) {
  static_assert(detail::has_mdspan,
                "topos: as_mdspan needs std::mdspan (C++23's <mdspan>) or a Kokkos that was built "
                "with its own (Kokkos_ENABLE_IMPL_MDSPAN=ON, its default)");
  return detail::mdspan_of<const T, Rank>(x.host(where).data(), x.shape());
}

/// A tensor of the elements of an mdspan in host memory, as a copy, because an mdspan does not keep
/// what it shows (see `from_blob`). Blocks until they are copied.
template <mdspan_like M>
[[nodiscard]] auto from_mdspan(const M& m, device d = default_device::current(),
                               std::source_location where = std::source_location::current()) {
  using T = std::remove_cv_t<typename M::element_type>;
  constexpr std::size_t rank = M::rank();
  shape<rank> extents{};
  for (std::size_t axis = 0; axis != rank; ++axis) {
    extents[axis] = static_cast<index_t>(m.extent(axis));
  }
  const auto size = static_cast<std::size_t>(size_of_shape(extents, where));
  if constexpr (std::convertible_to<typename M::data_handle_type, const T*> &&
                std::same_as<typename M::reference, typename M::element_type&>) {
    if (detail::is_dense(m)) {
      return from_host<T, rank>(std::span<const T>(m.data_handle(), size), extents, d, where);
    }
  }
  // Not a vector, which has no bools.
  const auto values = std::make_unique<T[]>(size);
  shape<rank> index{};
  for (std::size_t i = 0; i < size; ++i) {
    const auto offset = [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      return m.mapping()(static_cast<typename M::index_type>(index[Axis])...);
    }
    (std::make_index_sequence<rank>());
    values[i] = m.accessor().access(m.data_handle(), static_cast<std::size_t>(offset));
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
  return from_host<T, rank>(std::span<const T>(values.get(), size), extents, d, where);
}

/// The same, as other values are put on a device.
template <mdspan_like M>
[[nodiscard]] auto device_put(const M& m, device d,
                              std::source_location where = std::source_location::current()) {
  return from_mdspan(m, d, where);
}

}  // namespace topos
