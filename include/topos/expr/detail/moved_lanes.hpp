// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes moved to other places of a batch, by AVX2 and AVX-512.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/detail/machine_lanes.hpp>

namespace topos::lane {

/// Lane i is lane i - Places of x; the first ones are those of `before`, a batch of equal lanes.
template <int Places, class T>
batch<T> moved_up(const batch<T>& x, const batch<T>& before);
/// All lanes as lane Place of x.
template <int Place, class T>
batch<T> splat_of(const batch<T>& x);
/// As moved_up, of each four of eight doubles by themselves.
template <int Places, class T>
batch<T> moved_up_in_fours(const batch<T>& x, const batch<T>& before);
/// The first four of one's eight doubles, and the last four of another's.
template <class T>
batch<T> fours_of(const batch<T>& first, const batch<T>& last);

#if TOPOS_HAS_XSIMD && defined(__AVX2__)

/// Whether there are lanes of T that are moved.
template <class T>
inline constexpr bool has_moves = sizeof(T) == 4 || sizeof(T) == 8;

template <int Places, class T>
batch<T> moved_up(const batch<T>& x, const batch<T>& before) {
  using words = batch<std::uint32_t>;
  constexpr int count = Places * static_cast<int>(sizeof(T) / 4);
  const words from = lane::bits_as<std::uint32_t>(x);
  const words first = lane::bits_as<std::uint32_t>(before);
#ifdef __AVX512F__
  return lane::bits_as<T>(words(_mm512_alignr_epi32(from, first, 16 - count)));
#else
  const __m256i places =
      _mm256_sub_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(count));
  return lane::bits_as<T>(words(
      _mm256_blend_epi32(_mm256_permutevar8x32_epi32(from, places), first, (1 << count) - 1)));
#endif
}

template <int Place, class T>
batch<T> splat_of(const batch<T>& x) {
  using words = batch<std::uint32_t>;
  const words from = lane::bits_as<std::uint32_t>(x);
#ifdef __AVX512F__
  if constexpr (sizeof(T) == 8)
    return lane::bits_as<T>(words(_mm512_permutexvar_epi64(_mm512_set1_epi64(Place), from)));
  else
    return lane::bits_as<T>(words(_mm512_permutexvar_epi32(_mm512_set1_epi32(Place), from)));
#else
  if constexpr (sizeof(T) == 8)
    return lane::bits_as<T>(words(_mm256_permute4x64_epi64(from, Place * 0x55)));
  else
    return lane::bits_as<T>(words(_mm256_permutevar8x32_epi32(from, _mm256_set1_epi32(Place))));
#endif
}

#ifdef __AVX512F__

template <int Places, class T>
batch<T> moved_up_in_fours(const batch<T>& x, const batch<T>& before) {
  static_assert(sizeof(T) == 8 && (Places == 1 || Places == 2));
  if constexpr (Places == 1)
    return batch<T>(_mm512_mask_permutex_pd(before, 0xee, x, 0x90));
  else
    return batch<T>(_mm512_mask_permutex_pd(before, 0xcc, x, 0x40));
}

template <class T>
batch<T> fours_of(const batch<T>& first, const batch<T>& last) {
  static_assert(sizeof(T) == 8);
  return batch<T>(_mm512_mask_blend_pd(0xf0, first, last));
}

#endif

#else

template <class T>
inline constexpr bool has_moves = false;

#endif

}  // namespace topos::lane
