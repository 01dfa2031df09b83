// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sixteen-bit floating-point types for storage: values convert to float to be computed with.

#include <cstdint>
#include <topos/core/config.hpp>

namespace topos {

/// bfloat16: the upper half of a float; conversion rounds to nearest, ties to even.
struct bf16 {
  std::uint16_t bits = 0;

  bf16() = default;
  KOKKOS_FUNCTION explicit bf16(float value) {
    const auto word = Kokkos::bit_cast<std::uint32_t>(value);
    const bool nan = (word & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounded = word + 0x7fffU + ((word >> 16U) & 1U);
    bits = static_cast<std::uint16_t>((nan ? word | 0x400000U : rounded) >> 16U);
  }
  KOKKOS_FUNCTION operator float() const {
    return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

/// IEEE binary16; conversion rounds to nearest, ties to even, and keeps subnormals.
struct f16 {
  std::uint16_t bits = 0;

  f16() = default;
  KOKKOS_FUNCTION explicit f16(float value) : bits(rounded(value)) {}
  KOKKOS_FUNCTION operator float() const {
    // A GPU has instructions for both ways.
    KOKKOS_IF_ON_DEVICE((return Kokkos::Experimental::cast_from_half<float>(
                                    Kokkos::bit_cast<Kokkos::Experimental::half_t>(bits));))
    KOKKOS_IF_ON_HOST((return widened();))
  }

 private:
  static constexpr std::uint16_t nan = 0x7e00U;

  static KOKKOS_FUNCTION std::uint16_t rounded(float value) {
    const auto word = Kokkos::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((word >> 16U) & 0x8000U);
    const std::uint32_t magnitude = word & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return sign | nan;
    KOKKOS_IF_ON_DEVICE(
        (return Kokkos::bit_cast<std::uint16_t>(Kokkos::Experimental::cast_to_half(value));))
    KOKKOS_IF_ON_HOST((return static_cast<std::uint16_t>(sign | rounded_magnitude(magnitude));))
  }

  static std::uint32_t rounded_magnitude(std::uint32_t magnitude) {
    if (magnitude >= 0x477ff000U) return 0x7c00U;  // 65520 and more round to infinity
    if (magnitude < 0x38800000U) {
      // Subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low mantissa bits.
      const float shifted = Kokkos::bit_cast<float>(magnitude) + 0.5f;
      return Kokkos::bit_cast<std::uint32_t>(shifted) - 0x3f000000U;
    }
    const std::uint32_t rebased = magnitude - (112U << 23U);
    return (rebased + 0xfffU + ((rebased >> 13U) & 1U)) >> 13U;
  }

  [[nodiscard]] float widened() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7fffU;
    std::uint32_t word = (magnitude << 13U) + (112U << 23U);
    if (magnitude >= 0x7c00U) {
      word += 112U << 23U;  // infinity and NaN
    } else if (magnitude < 0x400U) {
      // Subnormal: the bits count multiples of 2^-24.
      word = Kokkos::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
    }
    return Kokkos::bit_cast<float>(sign | word);
  }
};

}  // namespace topos
