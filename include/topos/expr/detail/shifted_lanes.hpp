// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes shifted by as many bits as other lanes say, by AVX2 and AVX-512. Shifts by the width or
/// more leave nothing of a number but its sign, if to the right.

#include <concepts>
#include <topos/core/config.hpp>
#include <topos/expr/detail/machine_lanes.hpp>
#include <type_traits>

namespace topos::lane {

/// Whether the machine shifts lanes of T to the left and to the right.
#if TOPOS_HAS_XSIMD && defined(__AVX512F__)
template <class T>
inline constexpr bool has_shifts = std::integral<T> && sizeof(T) >= 4;
#elif TOPOS_HAS_XSIMD && defined(__AVX2__)
template <class T>  // there is none of 64 bits with a sign
inline constexpr bool has_shifts = std::integral<T> &&
                                   (sizeof(T) == 4 || (sizeof(T) == 8 && std::is_unsigned_v<T>));
#else
template <class T>
inline constexpr bool has_shifts = false;
#endif

template <class T>
  requires has_shifts<T> batch<T> shifted_left([[maybe_unused]] const batch<T>& x,
                                               [[maybe_unused]] const batch<T>& by) {
#if TOPOS_HAS_XSIMD && defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return _mm512_sllv_epi32(x, by);
    else
      return _mm512_sllv_epi64(x, by);
#elif TOPOS_HAS_XSIMD && defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      return _mm256_sllv_epi32(x, by);
    else
      return _mm256_sllv_epi64(x, by);
#endif
  }

template <class T>
  requires has_shifts<T> batch<T> shifted_right([[maybe_unused]] const batch<T>& x,
                                                [[maybe_unused]] const batch<T>& by) {
    [[maybe_unused]] constexpr bool has_sign = std::is_signed_v<T>;
#if TOPOS_HAS_XSIMD && defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return has_sign ? _mm512_srav_epi32(x, by) : _mm512_srlv_epi32(x, by);
    else
      return has_sign ? _mm512_srav_epi64(x, by) : _mm512_srlv_epi64(x, by);
#elif TOPOS_HAS_XSIMD && defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      return has_sign ? _mm256_srav_epi32(x, by) : _mm256_srlv_epi32(x, by);
    else
      return _mm256_srlv_epi64(x, by);
#endif
  }

}  // namespace topos::lane
