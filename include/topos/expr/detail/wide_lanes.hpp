// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of a wider type than the elements that they are loaded from, by AVX2 and AVX-512.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace topos::lane {

#ifdef __AVX2__

/// Whether lanes of To are loaded from elements of T: of smaller integers and truths, or of floats
/// as double.
template <class T, class To>
inline constexpr bool widens = sizeof(T) < sizeof(To) &&
                               sizeof(To) >= 4 && std::is_arithmetic_v<To> &&
                               (std::is_integral_v<T> ||
                                (std::is_same_v<T, float> && std::is_same_v<To, double>));

namespace detail {

template <std::size_t Bytes>
inline __m128i load_bytes(const void* from) {
  if constexpr (Bytes == 16) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  } else {
    std::int64_t word = 0;
    std::memcpy(&word, from, Bytes);
    return _mm_cvtsi64_si128(word);
  }
}

/// `Count` small integers; truths are 0 or 1.
template <int Count, class T>
inline __m128i load_small(const T* from) {
  const __m128i bytes = load_bytes<Count * sizeof(T)>(from);
  if constexpr (std::is_same_v<T, bool>)
    return _mm_min_epu8(bytes, _mm_set1_epi8(1));
  else
    return bytes;
}

/// Four, or eight, integers of 32 bits.
template <class T>
inline __m128i four_of_32(const T* from) {
  const __m128i x = load_small<4>(from);
  if constexpr (sizeof(T) == 4)
    return x;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? _mm_cvtepi16_epi32(x) : _mm_cvtepu16_epi32(x);
  else
    return std::is_signed_v<T> ? _mm_cvtepi8_epi32(x) : _mm_cvtepu8_epi32(x);
}
template <class T>
inline __m256i eight_of_32(const T* from) {
  if constexpr (sizeof(T) == 4) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  } else {
    const __m128i x = load_small<8>(from);
    if constexpr (sizeof(T) == 2)
      return std::is_signed_v<T> ? _mm256_cvtepi16_epi32(x) : _mm256_cvtepu16_epi32(x);
    else
      return std::is_signed_v<T> ? _mm256_cvtepi8_epi32(x) : _mm256_cvtepu8_epi32(x);
  }
}

#ifdef __AVX512F__

template <class T>
inline __m512i sixteen_of_32(const T* from) {
  if constexpr (sizeof(T) == 2) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return std::is_signed_v<T> ? _mm512_cvtepi16_epi32(x) : _mm512_cvtepu16_epi32(x);
  } else {
    const __m128i x = load_small<16>(from);
    return std::is_signed_v<T> ? _mm512_cvtepi8_epi32(x) : _mm512_cvtepu8_epi32(x);
  }
}

#endif

}  // namespace detail

/// The lanes from memory on, as To.
template <class To, class T>
  requires widens<T, To> batch<To> load_wide(const T* from) {
    constexpr bool of_signs = std::is_signed_v<T>;
#ifdef __AVX512F__
    if constexpr (std::is_same_v<T, float>)
      return _mm512_cvtps_pd(_mm256_loadu_ps(from));
    else if constexpr (std::is_same_v<To, float>)
      return _mm512_cvtepi32_ps(detail::sixteen_of_32(from));
    else if constexpr (sizeof(To) == 4)
      return detail::sixteen_of_32(from);
    else if constexpr (std::is_same_v<To, double>)
      return of_signs || sizeof(T) < 4 ? _mm512_cvtepi32_pd(detail::eight_of_32(from))
                                       : _mm512_cvtepu32_pd(detail::eight_of_32(from));
    else
      return of_signs || sizeof(T) < 4 ? _mm512_cvtepi32_epi64(detail::eight_of_32(from))
                                       : _mm512_cvtepu32_epi64(detail::eight_of_32(from));
#else
    if constexpr (std::is_same_v<T, float>) {
      return _mm256_cvtps_pd(_mm_loadu_ps(from));
    } else if constexpr (std::is_same_v<To, float>) {
      return _mm256_cvtepi32_ps(detail::eight_of_32(from));
    } else if constexpr (sizeof(To) == 4) {
      return detail::eight_of_32(from);
    } else if constexpr (std::is_same_v<To, double>) {
      if constexpr (of_signs || sizeof(T) < 4) {
        return _mm256_cvtepi32_pd(detail::four_of_32(from));
      } else {
        // As if signed, moved down by 2^31 and up again.
        const __m128i moved = _mm_xor_si128(detail::four_of_32(from), _mm_set1_epi32(INT32_MIN));
        return _mm256_add_pd(_mm256_cvtepi32_pd(moved), _mm256_set1_pd(2147483648.0));
      }
    } else {
      return of_signs || sizeof(T) < 4 ? _mm256_cvtepi32_epi64(detail::four_of_32(from))
                                       : _mm256_cvtepu32_epi64(detail::four_of_32(from));
    }
#endif
  }

#else

/// Whether lanes of To are loaded from elements of T.
template <class T, class To>
inline constexpr bool widens = false;

#endif

/// The first `count` lanes from memory, as To; the others are 0.
template <class To, class T>
  requires widens<T, To> batch<To> load_wide(const T* from, index_t count) {
    T values[width_of<To>] = {};
    for (index_t i = 0; i < count; ++i) values[i] = from[i];
    return lane::load_wide<To>(values);
  }

}  // namespace topos::lane
