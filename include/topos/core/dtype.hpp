// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The types that a tensor's elements may have, and their names.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <topos/core/config.hpp>
#include <topos/core/half.hpp>

namespace topos {

/// The element type of a tensor, at run time.
enum class dtype : std::uint8_t {
  bool8,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
};

namespace detail {

template <class T>
struct dtype_of;

#define TOPOS_DTYPE(type, value, text)             \
  template <>                                      \
  struct dtype_of<type> {                          \
    static constexpr dtype id = dtype::value;      \
    static constexpr std::string_view name = text; \
  };
TOPOS_DTYPE(bool, bool8, "bool")
TOPOS_DTYPE(std::int8_t, int8, "int8")
TOPOS_DTYPE(std::int16_t, int16, "int16")
TOPOS_DTYPE(std::int32_t, int32, "int32")
TOPOS_DTYPE(std::int64_t, int64, "int64")
TOPOS_DTYPE(std::uint8_t, uint8, "uint8")
TOPOS_DTYPE(std::uint16_t, uint16, "uint16")
TOPOS_DTYPE(std::uint32_t, uint32, "uint32")
TOPOS_DTYPE(std::uint64_t, uint64, "uint64")
TOPOS_DTYPE(f16, float16, "float16")
TOPOS_DTYPE(bf16, bfloat16, "bfloat16")
TOPOS_DTYPE(float, float32, "float32")
TOPOS_DTYPE(double, float64, "float64")
TOPOS_DTYPE(Kokkos::complex<float>, complex64, "complex64")
TOPOS_DTYPE(Kokkos::complex<double>, complex128, "complex128")
#undef TOPOS_DTYPE

}  // namespace detail

/// A type that tensors can hold.
template <class T>
concept element = requires {
  detail::dtype_of<T>::id;
};

/// The run-time name of an element type.
template <element T>
inline constexpr dtype dtype_v = detail::dtype_of<T>::id;

/// The name that NumPy gives an element type: "float32", "int64", ...
template <element T>
inline constexpr std::string_view dtype_name_v = detail::dtype_of<T>::name;

/// The name that NumPy gives an element type, at run time.
[[nodiscard]] constexpr std::string_view to_string(dtype type) noexcept {
  constexpr std::string_view names[] = {
      "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
      "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names[static_cast<std::size_t>(type)];
}

/// Bytes that one element takes.
[[nodiscard]] constexpr std::size_t size_of(dtype type) noexcept {
  constexpr std::size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<std::size_t>(type)];
}

}  // namespace topos
