// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The first lanes of a batch from and to memory, by the masks of AVX2 and AVX-512; lanes that
/// change places; half batches.

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

/// Whether the machine turns lanes of T round without memory.
#ifdef __AVX2__
template <class T>
inline constexpr bool has_turns = std::same_as<T, float> || std::same_as<T, double>;
#else
template <class T>
inline constexpr bool has_turns = false;
#endif

/// Half a batch, where some processors take half the time for one: those of 64 bytes.
#ifdef __AVX512F__
template <class T>
inline constexpr bool has_halves = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
using half_batch = typename xsimd::make_sized_batch<T, batch<T>::size / 2>::type;

/// A batch with half a one in its first lanes, and any numbers in the others.
inline batch<float> whole(const half_batch<float>& lanes) { return _mm512_castps256_ps512(lanes); }
inline batch<double> whole(const half_batch<double>& lanes) {
  return _mm512_castpd256_pd512(lanes);
}
#else
template <class T>
inline constexpr bool has_halves = false;
template <class T>
using half_batch = batch<T>;
#endif
/// A batch itself.
template <class T>
const batch<T>& whole(const batch<T>& lanes) {
  return lanes;
}

#ifdef __AVX512F__

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
