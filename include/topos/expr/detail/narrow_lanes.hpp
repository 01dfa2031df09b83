// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of float that are stored as integers of one byte or two, by AVX2 and AVX-512: compilers
/// make many more operations of such a conversion.

#include <concepts>
#include <limits>
#include <topos/core/config.hpp>

#if TOPOS_HAS_XSIMD
#include <topos/expr/detail/xsimd_lanes.hpp>
#else
#include <topos/expr/detail/scalar_lanes.hpp>
#endif

#if TOPOS_HAS_XSIMD && defined(__AVX2__)
#include <immintrin.h>
#endif

namespace topos::lane {

#if TOPOS_HAS_XSIMD && defined(__AVX2__)

/// Whether lanes of T are stored as integers of To.
template <class T, class To>
inline constexpr bool narrows = std::same_as<T, float>&& std::integral<To> && sizeof(To) <= 2 &&
                                !std::same_as<To, bool>;

/// Lanes to memory as integers: towards 0, to the ends of their type, and NaN as 0.
template <class To>
  requires narrows<float, To>
void store_narrow(To* to, const batch<float>& x) {
  constexpr auto lowest = static_cast<float>(std::numeric_limits<To>::min());
  constexpr auto highest = static_cast<float>(std::numeric_limits<To>::max());
#ifdef __AVX512F__
  // Of a number and another the second is taken where the first is NaN.
  __m512 held = _mm512_max_ps(x, _mm512_set1_ps(lowest));
  held = _mm512_min_ps(held, _mm512_set1_ps(highest));
  if constexpr (lowest != 0) held = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), held);
  const __m512i whole = _mm512_cvttps_epi32(held);
  if constexpr (sizeof(To) == 1)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(whole));
  else
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(whole));
#else
  __m256 held = _mm256_max_ps(x, _mm256_set1_ps(lowest));
  held = _mm256_min_ps(held, _mm256_set1_ps(highest));
  if constexpr (lowest != 0) held = _mm256_and_ps(held, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
  const __m256i whole = _mm256_cvttps_epi32(held);
  const __m128i low = _mm256_castsi256_si128(whole);
  const __m128i high = _mm256_extracti128_si256(whole, 1);
  // They fit: nothing is held at an end here.
  const __m128i shorts = lowest == 0 ? _mm_packus_epi32(low, high) : _mm_packs_epi32(low, high);
  if constexpr (sizeof(To) == 2)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), shorts);
  else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), lowest == 0 ? _mm_packus_epi16(shorts, shorts)
                                                                 : _mm_packs_epi16(shorts, shorts));
#endif
}

#else

template <class T, class To>
inline constexpr bool narrows = false;

template <class To>
  requires narrows<float, To>
void store_narrow(To* to, const batch<float>& x);

#endif

}  // namespace topos::lane
