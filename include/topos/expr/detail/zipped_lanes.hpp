// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two batches whose lanes lie in turn in memory, as the parts of complex numbers do.

#include <concepts>
#include <topos/core/config.hpp>
#include <topos/expr/detail/machine_lanes.hpp>

namespace topos::lane {

template <class T>
struct batch_pair {
  batch<T> first;
  batch<T> second;
};

#if TOPOS_HAS_XSIMD && defined(__AVX512F__)

/// a0 b0 a1 b1 ... in two batches.
template <class T>
batch_pair<T> zipped(const batch<T>& a, const batch<T>& b) {
  if constexpr (std::same_as<T, float>) {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return {_mm512_permutex2var_ps(a, low, b), _mm512_permutex2var_ps(a, high, b)};
  } else {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    return {_mm512_permutex2var_pd(a, low, b), _mm512_permutex2var_pd(a, high, b)};
  }
}

/// Every second lane of both, from the first and from the second one on.
template <class T>
batch_pair<T> unzipped(const batch<T>& a, const batch<T>& b) {
  if constexpr (std::same_as<T, float>) {
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return {_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)};
  } else {
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    return {_mm512_permutex2var_pd(a, even, b), _mm512_permutex2var_pd(a, odd, b)};
  }
}

#elif TOPOS_HAS_XSIMD && defined(__AVX2__)

template <class T>
batch_pair<T> zipped(const batch<T>& a, const batch<T>& b) {
  if constexpr (std::same_as<T, float>) {
    const __m256 low = _mm256_unpacklo_ps(a, b);
    const __m256 high = _mm256_unpackhi_ps(a, b);
    return {_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31)};
  } else {
    const __m256d low = _mm256_unpacklo_pd(a, b);
    const __m256d high = _mm256_unpackhi_pd(a, b);
    return {_mm256_permute2f128_pd(low, high, 0x20), _mm256_permute2f128_pd(low, high, 0x31)};
  }
}

template <class T>
batch_pair<T> unzipped(const batch<T>& a, const batch<T>& b) {
  constexpr int in_order = _MM_SHUFFLE(3, 1, 2, 0);
  if constexpr (std::same_as<T, float>) {
    const auto ordered = [](__m256 x) {
      return batch<T>(_mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), in_order)));
    };
    return {ordered(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0))),
            ordered(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)))};
  } else {
    return {_mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), in_order),
            _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), in_order)};
  }
}

#else

template <class T>
batch_pair<T> zipped(const batch<T>& a, const batch<T>& b) {
  T parts[2][width_of<T>];
  T both[2 * width_of<T>];
  lane::store(parts[0], a);
  lane::store(parts[1], b);
  for (index_t i = 0; i < width_of<T>; ++i) {
    both[2 * i] = parts[0][i];
    both[2 * i + 1] = parts[1][i];
  }
  return {lane::load(both), lane::load(both + width_of<T>)};
}

template <class T>
batch_pair<T> unzipped(const batch<T>& a, const batch<T>& b) {
  T both[2 * width_of<T>];
  T parts[2][width_of<T>];
  lane::store(both, a);
  lane::store(both + width_of<T>, b);
  for (index_t i = 0; i < width_of<T>; ++i) {
    parts[0][i] = both[2 * i];
    parts[1][i] = both[2 * i + 1];
  }
  return {lane::load(parts[0]), lane::load(parts[1])};
}

#endif

}  // namespace topos::lane
