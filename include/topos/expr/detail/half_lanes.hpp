// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of sixteen-bit floats: lanes of float whose values a sixteen-bit type has.

#include <cstddef>
#include <cstdint>
#include <topos/core/half.hpp>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace topos::lane {

/// Whether a sixteen-bit type has lanes: f16 where the CPU converts it.
#if defined(__F16C__) || defined(__AVX512F__)
template <class T>
inline constexpr bool is_half_with_lanes = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;
#else
template <class T>
inline constexpr bool is_half_with_lanes = std::is_same_v<T, bf16>;
#endif

namespace detail {

// The word of a float rounded to bf16, in its upper half, as half.hpp does it.
inline batch<float> to_bf16(const batch<float>& x) {
#ifdef __AVX512F__
  const __m512i word = _mm512_castps_si512(x);
  const __m512i even = _mm512_and_si512(_mm512_srli_epi32(word, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(0x7fff)), even);
  const __m512i quiet = _mm512_set1_epi32(0x400000);
  const __m512i kept =
      _mm512_mask_or_epi32(up, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), word, quiet);
  return _mm512_castsi512_ps(
      _mm512_and_si512(kept, _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
#elif defined(__AVX2__)
  const __m256i word = _mm256_castps_si256(x);
  const __m256i even = _mm256_and_si256(_mm256_srli_epi32(word, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(_mm256_add_epi32(word, _mm256_set1_epi32(0x7fff)), even);
  const __m256 quiet = _mm256_or_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x400000)));
  const __m256 kept =
      _mm256_blendv_ps(_mm256_castsi256_ps(up), quiet, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_and_ps(kept, _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xffff0000U))));
#else
  using U = xsimd::batch<std::uint32_t>;
  const U word = lane::bits_as<std::uint32_t>(x);
  const U up = word + U(0x7fffU) + ((word >> 16) & U(1U));
  const auto nan = lane::mask_cast<std::uint32_t>(lane::differs(x, x));
  return lane::bits_as<float>(lane::select(nan, word | U(0x400000U), up) & U(0xffff0000U));
#endif
}

}  // namespace detail

/// Lanes rounded to T, to nearest, ties to even.
template <class T>
batch<float> to_half(const batch<float>& x) {
  if constexpr (std::is_same_v<T, bf16>) {
    return detail::to_bf16(x);
  } else {
#ifdef __AVX512F__
    return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
    return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#endif
  }
}

#ifdef __AVX512F__
/// Lanes of sixteen-bit floats in a register.
template <class T>
batch<float> from_halves(__m256i bits) {
  if constexpr (std::is_same_v<T, f16>)
    return _mm512_cvtph_ps(bits);
  else
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
#elif defined(__AVX2__)
template <class T>
batch<float> from_halves(__m128i bits) {
#ifdef __F16C__
  if constexpr (std::is_same_v<T, f16>) return _mm256_cvtph_ps(bits);
#endif
  if constexpr (std::is_same_v<T, bf16>)
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
#endif

template <class T>
  requires is_half_with_lanes<T> batch<float> load(const T* from) {
#ifdef __AVX512F__
    return from_halves<T>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__AVX2__)
    return from_halves<T>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
#ifdef __F16C__
    if constexpr (std::is_same_v<T, f16>)
      return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
    if constexpr (std::is_same_v<T, bf16>) {
      std::uint32_t words[batch<float>::size];
      for (std::size_t i = 0; i < batch<float>::size; ++i)
        words[i] = static_cast<std::uint32_t>(from[i].bits) << 16U;
      return lane::bits_as<float>(lane::load(words));
    }
#endif
  }

template <class T>
  requires is_half_with_lanes<T> batch<float> splat(T value) {
    return batch<float>(static_cast<float>(value));
  }

#if defined(__AVX512F__)
/// Lanes that are values of T, as sixteen-bit floats in a register.
template <class T>
__m256i to_halves(const batch<float>& values) {
  if constexpr (std::is_same_v<T, f16>)
    return _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
  else
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(values), 16));
}
#elif defined(__AVX2__)
template <class T>
__m128i to_halves(const batch<float>& values) {
#ifdef __F16C__
  if constexpr (std::is_same_v<T, f16>) return _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
#endif
  if constexpr (std::is_same_v<T, bf16>) {
    const __m256i words = _mm256_srli_epi32(_mm256_castps_si256(values), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  }
}
#endif

/// Lanes that are values of T.
template <class T>
  requires is_half_with_lanes<T>
void store(T* to, const batch<float>& values) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), to_halves<T>(values));
#elif defined(__AVX2__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), to_halves<T>(values));
#else
#ifdef __F16C__
  if constexpr (std::is_same_v<T, f16>)
    return _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                            _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
#endif
  std::uint32_t words[batch<float>::size];
  lane::store(words, lane::bits_as<std::uint32_t>(values));
  for (std::size_t i = 0; i < batch<float>::size; ++i)
    to[i].bits = static_cast<std::uint16_t>(words[i] >> 16U);
#endif
}

}  // namespace topos::lane
