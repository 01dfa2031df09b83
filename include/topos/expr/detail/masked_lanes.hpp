// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The first lanes of a batch from and to memory, by the masks of AVX2 and AVX-512; lanes from
/// places that lie apart, and lanes that change places.

#include <concepts>
#include <topos/expr/detail/xsimd_lanes.hpp>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace topos::lane {

/// Whether the machine moves some lanes of T.
#ifdef __AVX2__
template <class T>
inline constexpr bool has_masks = sizeof(T) == 4 || sizeof(T) == 8;
#else
template <class T>
inline constexpr bool has_masks = false;
#endif

/// Whether the machine loads numbers of T that lie apart.
#ifdef __AVX512F__
template <class T>
inline constexpr bool has_gather = has_masks<T>;
#else
template <class T>
inline constexpr bool has_gather = false;
#endif

/// Whether such numbers, `step` apart, come with others in whole loads.
template <class T>
inline bool comes_whole(index_t step) {
  return has_gather<T> && (step == 2 || step == -1);
}

/// Whether the machine turns lanes of T round without memory.
#ifdef __AVX2__
template <class T>
inline constexpr bool has_turns = std::same_as<T, float> || std::same_as<T, double>;
#else
template <class T>
inline constexpr bool has_turns = false;
#endif

#ifdef __AVX512F__

static_assert(sizeof(batch<float>) == 64, "topos: xsimd's default lanes are not those of AVX-512");

namespace detail {

/// Every second number, or each from here down.
template <class T>
batch<T> gather_whole(const T* from, index_t step) {
  constexpr index_t width = width_of<T>;
  const bool down = step != 2;
  const __m512i low = _mm512_loadu_si512(down ? from - (width - 1) : from);
  const __m512i high = _mm512_loadu_si512(down ? from - (width - 1) : from + (width - 1));
  __m512i picked;
  if constexpr (sizeof(T) == 4) {
    const __m512i i = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i twice = _mm512_add_epi32(_mm512_add_epi32(i, i), _mm512_srli_epi32(i, 3));
    const __m512i places = down ? _mm512_sub_epi32(_mm512_set1_epi32(15), i) : twice;
    picked = _mm512_permutex2var_epi32(low, places, high);
  } else {
    const __m512i i = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i twice = _mm512_add_epi64(_mm512_add_epi64(i, i), _mm512_srli_epi64(i, 2));
    const __m512i places = down ? _mm512_sub_epi64(_mm512_set1_epi64(7), i) : twice;
    picked = _mm512_permutex2var_epi64(low, places, high);
  }
  if constexpr (std::same_as<T, float>)
    return _mm512_castsi512_ps(picked);
  else if constexpr (std::same_as<T, double>)
    return _mm512_castsi512_pd(picked);
  else
    return picked;
}

}  // namespace detail

/// Every step-th number; all of them lie within 2^31 numbers.
template <class T>
batch<T> gather(const T* from, index_t step) {
  if (comes_whole<T>(step)) return detail::gather_whole(from, step);
  const __m512i places =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(static_cast<int>(step)));
  if constexpr (std::same_as<T, float>)
    return _mm512_i32gather_ps(places, from, 4);
  else if constexpr (std::same_as<T, double>)
    return _mm512_i32gather_pd(_mm512_castsi512_si256(places), from, 8);
  else if constexpr (sizeof(T) == 4)
    return _mm512_i32gather_epi32(places, from, 4);
  else
    return _mm512_i32gather_epi64(_mm512_castsi512_si256(places), from, 8);
}

/// The first `Distance` lanes become those that come `Distance` after them.
template <index_t Distance, class T>
batch<T> turned(const batch<T>& lanes) {
  constexpr index_t bytes = Distance * static_cast<index_t>(sizeof(T));
  constexpr int halves = _MM_SHUFFLE(1, 0, 3, 2);
  constexpr int neighbours = _MM_SHUFFLE(2, 3, 0, 1);
  if constexpr (std::same_as<T, float>) {
    if constexpr (bytes >= 16)
      return _mm512_shuffle_f32x4(lanes, lanes, bytes == 32 ? halves : neighbours);
    else
      return _mm512_permute_ps(lanes, bytes == 8 ? halves : neighbours);
  } else {
    if constexpr (bytes >= 16)
      return _mm512_shuffle_f64x2(lanes, lanes, bytes == 32 ? halves : neighbours);
    else
      return _mm512_permute_pd(lanes, 0x55);
  }
}

template <class T>
T first_lane(const batch<T>& lanes) {
  if constexpr (std::same_as<T, float>)
    return _mm512_cvtss_f32(lanes);
  else
    return _mm512_cvtsd_f64(lanes);
}

namespace detail {
/// The lanes before lane `count`.
template <class T>
inline auto before(index_t count) {
  return static_cast<std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>>((1U << count) - 1U);
}
}  // namespace detail

template <class T>
batch<T> load_masked(const T* from, index_t count) {
  if constexpr (std::same_as<T, float>)
    return _mm512_maskz_loadu_ps(detail::before<T>(count), from);
  else if constexpr (std::same_as<T, double>)
    return _mm512_maskz_loadu_pd(detail::before<T>(count), from);
  else if constexpr (sizeof(T) == 4)
    return _mm512_maskz_loadu_epi32(detail::before<T>(count), from);
  else
    return _mm512_maskz_loadu_epi64(detail::before<T>(count), from);
}

template <class T>
void store_masked(T* to, const batch<T>& lanes, index_t count) {
  if constexpr (std::same_as<T, float>)
    _mm512_mask_storeu_ps(to, detail::before<T>(count), lanes);
  else if constexpr (std::same_as<T, double>)
    _mm512_mask_storeu_pd(to, detail::before<T>(count), lanes);
  else if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(to, detail::before<T>(count), lanes);
  else
    _mm512_mask_storeu_epi64(to, detail::before<T>(count), lanes);
}

#elif defined(__AVX2__)

static_assert(sizeof(batch<float>) == 32, "topos: xsimd's default lanes are not those of AVX2");

template <index_t Distance, class T>
batch<T> turned(const batch<T>& lanes) {
  constexpr index_t bytes = Distance * static_cast<index_t>(sizeof(T));
  if constexpr (std::same_as<T, float>) {
    if constexpr (bytes == 16)
      return _mm256_permute2f128_ps(lanes, lanes, 1);
    else
      return _mm256_permute_ps(lanes,
                               bytes == 8 ? _MM_SHUFFLE(1, 0, 3, 2) : _MM_SHUFFLE(2, 3, 0, 1));
  } else {
    if constexpr (bytes == 16)
      return _mm256_permute2f128_pd(lanes, lanes, 1);
    else
      return _mm256_permute_pd(lanes, 0x5);
  }
}

template <class T>
T first_lane(const batch<T>& lanes) {
  if constexpr (std::same_as<T, float>)
    return _mm256_cvtss_f32(lanes);
  else
    return _mm256_cvtsd_f64(lanes);
}

namespace detail {
/// The lanes before lane `count`.
template <class T>
inline __m256i before(index_t count) {
  if constexpr (sizeof(T) == 4)
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  else
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
}  // namespace detail

template <class T>
batch<T> load_masked(const T* from, index_t count) {
  if constexpr (std::same_as<T, float>)
    return _mm256_maskload_ps(from, detail::before<T>(count));
  else if constexpr (std::same_as<T, double>)
    return _mm256_maskload_pd(from, detail::before<T>(count));
  else if constexpr (sizeof(T) == 4)
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(from), detail::before<T>(count));
  else
    return _mm256_maskload_epi64(reinterpret_cast<const long long*>(from),
                                 detail::before<T>(count));
}

template <class T>
void store_masked(T* to, const batch<T>& lanes, index_t count) {
  if constexpr (std::same_as<T, float>)
    _mm256_maskstore_ps(to, detail::before<T>(count), lanes);
  else if constexpr (std::same_as<T, double>)
    _mm256_maskstore_pd(to, detail::before<T>(count), lanes);
  else if constexpr (sizeof(T) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), detail::before<T>(count), lanes);
  else
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), detail::before<T>(count), lanes);
}

#endif

}  // namespace topos::lane
