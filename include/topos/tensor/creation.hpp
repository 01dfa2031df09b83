// SPDX-License-Identifier: Apache-2.0
#pragma once

/// New tensors.
///
/// A shape may be given in braces, `zeros<int>({2, 3})`, and where nothing follows it as numbers,
/// `zeros<int>(2, 3)`. Where no type is named the elements are float, or of a value's type.

#include <array>
#include <ranges>
#include <span>
#include <topos/expr/generators.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>

namespace topos {

namespace detail {

/// Numbers of another type than T that become one.
template <class S, class T>
concept number_for = scalar<S> && !std::same_as<S, T> && (is_complex<T> || !is_complex<S>);

}  // namespace detail

/// A tensor of a shape with any content; returns at once.
template <element T = float, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> empty(shape<Rank> extents, device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return tensor<T, Rank>(extents, d, where);
}
template <element T = float, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> empty(const index_t (&extents)[Rank],
                                    device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return empty<T>(std::to_array(extents), d, where);
}

template <element T = float, std::integral... I>
  requires(sizeof...(I) > 0)
[[nodiscard]] tensor<T, sizeof...(I)> empty(I... extents) {
  return empty<T>(shape<sizeof...(I)>{static_cast<index_t>(extents)...});
}

/// A tensor that holds `value` everywhere; returns at once. A number of another type is converted,
/// as where it is assigned to a slice. Throws `invalid_argument` for a whole number that integers
/// of type T do not have.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> full(shape<Rank> extents, std::type_identity_t<T> value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  (void)size_of_shape(extents, where);
  return tensor<T, Rank>(detail::filled<T>(value, extents, d), where);
}
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> full(const index_t (&extents)[Rank], std::type_identity_t<T> value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return full<T>(std::to_array(extents), value, d, where);
}

template <element T, std::size_t Rank, detail::number_for<T> S>
[[nodiscard]] tensor<T, Rank> full(shape<Rank> extents, S value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  detail::require_fits<T>("full", value, where);
  return full<T>(extents, detail::convert_op<T>{}(value), d, where);
}
template <element T, std::size_t Rank, detail::number_for<T> S>
[[nodiscard]] tensor<T, Rank> full(const index_t (&extents)[Rank], S value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return full<T>(std::to_array(extents), value, d, where);
}

/// The same in the type of the value: `full({2, 3}, 7)` is of int.
template <int = 0, element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> full(shape<Rank> extents, T value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return full<T>(extents, value, d, where);
}
template <int = 0, element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> full(const index_t (&extents)[Rank], T value,
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return full<T>(std::to_array(extents), value, d, where);
}

/// A tensor of zeros; returns at once.
template <element T = float, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> zeros(shape<Rank> extents, device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return full<T, Rank>(extents, T{}, d, where);
}
template <element T = float, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> zeros(const index_t (&extents)[Rank],
                                    device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return zeros<T>(std::to_array(extents), d, where);
}

template <element T = float, std::integral... I>
  requires(sizeof...(I) > 0)
[[nodiscard]] tensor<T, sizeof...(I)> zeros(I... extents) {
  return zeros<T>(shape<sizeof...(I)>{static_cast<index_t>(extents)...});
}

/// A tensor of ones; returns at once.
template <element T = float, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> ones(shape<Rank> extents, device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return full<T, Rank>(extents, T(1.0f), d, where);
}
template <element T = float, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> ones(const index_t (&extents)[Rank],
                                   device d = default_device::current(),
                                   std::source_location where = std::source_location::current()) {
  return ones<T>(std::to_array(extents), d, where);
}

template <element T = float, std::integral... I>
  requires(sizeof...(I) > 0)
[[nodiscard]] tensor<T, sizeof...(I)> ones(I... extents) {
  return ones<T>(shape<sizeof...(I)>{static_cast<index_t>(extents)...});
}

/// A copy of host memory, row-major, of a shape. Blocks until the memory is copied. Throws
/// `shape_mismatch` if the number of elements differs.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_host(
    std::span<const T> values, shape<Rank> extents, device d = default_device::current(),
    std::source_location where = std::source_location::current()) {
  return detail::copy_of("from_host", values, extents, d, where);
}
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_host(
    std::span<const T> values, const index_t (&extents)[Rank], device d = default_device::current(),
    std::source_location where = std::source_location::current()) {
  return from_host<T>(values, std::to_array(extents), d, where);
}
template <std::ranges::contiguous_range Values, std::size_t Rank>
  requires element<std::ranges::range_value_t<Values>>
[[nodiscard]] auto from_host(const Values& values, shape<Rank> extents,
                             device d = default_device::current(),
                             std::source_location where = std::source_location::current()) {
  using T = std::ranges::range_value_t<Values>;
  return from_host<T>(std::span<const T>(values), extents, d, where);
}
template <std::ranges::contiguous_range Values, std::size_t Rank>
  requires element<std::ranges::range_value_t<Values>>
[[nodiscard]] auto from_host(const Values& values, const index_t (&extents)[Rank],
                             device d = default_device::current(),
                             std::source_location where = std::source_location::current()) {
  return from_host(values, std::to_array(extents), d, where);
}

/// A tensor of the values in braces, which may be nested: `array({1, 2, 3})`,
/// `array<float>({{1, 2}, {3, 4}})`. Nested braces are axes also where the elements are complex:
/// these are written as numbers, `array({complex(1.0, 2.0)})` of a `using complex =
/// Kokkos::complex<double>`. Blocks until they are copied.
template <element T, std::size_t N>
[[nodiscard]] tensor<T, 1> array(const T (&values)[N], device d = default_device::current(),
                                 std::source_location where = std::source_location::current()) {
  return from_host<T, 1>(values, {N}, d, where);
}
template <element T, std::size_t N, std::size_t M>
[[nodiscard]] tensor<T, 2> array(const T (&values)[N][M], device d = default_device::current(),
                                 std::source_location where = std::source_location::current()) {
  return from_host<T, 2>(std::span<const T>(*values, N * M), {N, M}, d, where);
}
template <element T, std::size_t N, std::size_t M, std::size_t L>
[[nodiscard]] tensor<T, 3> array(const T (&values)[N][M][L], device d = default_device::current(),
                                 std::source_location where = std::source_location::current()) {
  return from_host<T, 3>(std::span<const T>(**values, N * M * L), {N, M, L}, d, where);
}

/// Of sixteen-bit floats the numbers are written as float: `array<f16>({1, 2.5})`.
template <element T, std::size_t N>
  requires detail::is_half<T>
[[nodiscard]] tensor<T, 1> array(const float (&values)[N], device d = default_device::current(),
                                 std::source_location where = std::source_location::current()) {
  return tensor<T, 1>(detail::convert<T>(array<float>(values, d, where).node()), where);
}
template <element T, std::size_t N, std::size_t M>
  requires detail::is_half<T>
[[nodiscard]] tensor<T, 2> array(const float (&values)[N][M], device d = default_device::current(),
                                 std::source_location where = std::source_location::current()) {
  return tensor<T, 2>(detail::convert<T>(array<float>(values, d, where).node()), where);
}
template <element T, std::size_t N, std::size_t M, std::size_t L>
  requires detail::is_half<T>
[[nodiscard]] tensor<T, 3> array(const float (&values)[N][M][L],
                                 device d = default_device::current(),
                                 std::source_location where = std::source_location::current()) {
  return tensor<T, 3>(detail::convert<T>(array<float>(values, d, where).node()), where);
}

/// Tensors like another: of its shape, and on its device and of its element type unless others are
/// named.
template <class T = void, operand X>
[[nodiscard]] auto empty_like(const X& x, std::optional<device> d = {},
                              std::source_location where = std::source_location::current()) {
  using value = std::conditional_t<std::is_void_v<T>, detail::value_of_t<X>, T>;
  decltype(auto) node = detail::as_node(x);
  return empty<value>(shape<detail::node_t<X>::rank>(node.shape()),
                      d.value_or(node.device().value_or(default_device::current())), where);
}
template <class T = void, operand X>
[[nodiscard]] auto full_like(
    const X& x,
    std::type_identity_t<std::conditional_t<std::is_void_v<T>, detail::value_of_t<X>, T>> value,
    std::optional<device> d = {}, std::source_location where = std::source_location::current()) {
  using element = std::conditional_t<std::is_void_v<T>, detail::value_of_t<X>, T>;
  decltype(auto) node = detail::as_node(x);
  return full<element>(shape<detail::node_t<X>::rank>(node.shape()), value,
                       d.value_or(node.device().value_or(default_device::current())), where);
}
template <class T = void, operand X, detail::scalar S,
          class Element = std::conditional_t<std::is_void_v<T>, detail::value_of_t<X>, T>>
  requires detail::number_for<S, Element>
[[nodiscard]] auto full_like(const X& x, S value, std::optional<device> d = {},
                             std::source_location where = std::source_location::current()) {
  detail::require_fits<Element>("full_like", value, where);
  return full_like<Element>(x, detail::convert_op<Element>{}(value), d, where);
}
template <class T = void, operand X>
[[nodiscard]] auto zeros_like(const X& x, std::optional<device> d = {},
                              std::source_location where = std::source_location::current()) {
  using value = std::conditional_t<std::is_void_v<T>, detail::value_of_t<X>, T>;
  return full_like<value>(x, value{}, d, where);
}
template <class T = void, operand X>
[[nodiscard]] auto ones_like(const X& x, std::optional<device> d = {},
                             std::source_location where = std::source_location::current()) {
  using value = std::conditional_t<std::is_void_v<T>, detail::value_of_t<X>, T>;
  return full_like<value>(x, value(1.0f), d, where);
}

}  // namespace topos
