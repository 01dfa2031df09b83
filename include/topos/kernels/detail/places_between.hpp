// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which of some numbers lie between two, on the host.

#include <bit>
#include <concepts>
#include <cstdint>
#include <topos/core/config.hpp>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace topos::detail::host_rows {

/// Whether the machine finds some of them at once.
#ifdef __AVX512F__
template <class T>
inline constexpr bool finds_at_once = std::same_as<T, std::int32_t>;
#else
template <class T>
inline constexpr bool finds_at_once = false;
#endif

/// Memory for the places of `count` numbers has room for so many more.
inline constexpr index_t spare_places = 16;

/// Writes the places of those numbers that lie in [low, past), in their order; says how many.
/// Without a branch for each, which would be guessed wrong.
template <class T>
index_t places_between(std::int32_t* to, const T* from, index_t count, index_t low, index_t past) {
  index_t i = 0;
  index_t n = 0;
#ifdef __AVX512F__
  if constexpr (finds_at_once<T>) {
    constexpr int width = 16;
    const __m512i least = _mm512_set1_epi32(static_cast<int>(low));
    const __m512i end = _mm512_set1_epi32(static_cast<int>(past));
    __m512i place = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; i + width <= count; i += width) {
      const __m512i x = _mm512_loadu_si512(from + i);
      const __mmask16 within =
          _mm512_mask_cmplt_epi32_mask(_mm512_cmpge_epi32_mask(x, least), x, end);
      // In a register first: to compress into memory takes some processors many times as long.
      _mm512_storeu_si512(to + n, _mm512_maskz_compress_epi32(within, place));
      n += std::popcount(static_cast<unsigned>(within));
      place = _mm512_add_epi32(place, _mm512_set1_epi32(width));
    }
  }
#endif
  for (; i < count; ++i) {
    to[n] = static_cast<std::int32_t>(i);
    n += static_cast<index_t>(from[i]) >= low && static_cast<index_t>(from[i]) < past;
  }
  return n;
}

}  // namespace topos::detail::host_rows
