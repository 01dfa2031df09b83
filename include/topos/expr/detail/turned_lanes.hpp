// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of few numbers turned into columns in registers: by AVX2 or AVX-512, numbers of four or
/// eight bytes.

#include <cstddef>
#include <cstdint>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace topos::lane {

#ifdef __AVX2__

namespace detail {

// Registers as parts of 16 bytes, in which numbers of neighbouring columns lie: part p of register
// k is of row p * (numbers of a part) + k, so that what is turned within the parts is in order.
#ifdef __AVX512F__
struct parts_of_rows {
  using lanes = __m512i;
  static constexpr index_t count = 4;

  static lanes load(const std::byte* from, index_t apart) {
    const auto part = [&](index_t p) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + p * apart));
    };
    const __m512i two = _mm512_inserti32x4(_mm512_castsi128_si512(part(0)), part(1), 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(two, part(2), 2), part(3), 3);
  }
  static void store(void* to, lanes x) { _mm512_storeu_si512(to, x); }
  static lanes low_4(lanes a, lanes b) { return _mm512_unpacklo_epi32(a, b); }
  static lanes high_4(lanes a, lanes b) { return _mm512_unpackhi_epi32(a, b); }
  static lanes low_8(lanes a, lanes b) { return _mm512_unpacklo_epi64(a, b); }
  static lanes high_8(lanes a, lanes b) { return _mm512_unpackhi_epi64(a, b); }
};
#else
struct parts_of_rows {
  using lanes = __m256i;
  static constexpr index_t count = 2;

  static lanes load(const std::byte* from, index_t apart) {
    const auto part = [&](index_t p) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + p * apart));
    };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1);
  }
  static void store(void* to, lanes x) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
  static lanes low_4(lanes a, lanes b) { return _mm256_unpacklo_epi32(a, b); }
  static lanes high_4(lanes a, lanes b) { return _mm256_unpackhi_epi32(a, b); }
  static lanes low_8(lanes a, lanes b) { return _mm256_unpacklo_epi64(a, b); }
  static lanes high_8(lanes a, lanes b) { return _mm256_unpackhi_epi64(a, b); }
};
#endif

/// As many columns as numbers go into 16 bytes, of as many rows as into a register; the first of
/// those columns are wanted.
template <std::size_t Size>
[[gnu::always_inline]] inline void turn_part(std::byte* to, index_t pitch, const std::byte* from,
                                             index_t stride, index_t wanted) {
  using parts = parts_of_rows;
  constexpr index_t rows = 16 / static_cast<index_t>(Size);
  typename parts::lanes x[rows];
  typename parts::lanes turned[rows];
  for (index_t k = 0; k < rows; ++k) x[k] = parts::load(from + k * stride, rows * stride);
  if constexpr (Size == 4) {
    const auto low = parts::low_4(x[0], x[1]);
    const auto high = parts::high_4(x[0], x[1]);
    const auto next_low = parts::low_4(x[2], x[3]);
    const auto next_high = parts::high_4(x[2], x[3]);
    turned[0] = parts::low_8(low, next_low);
    turned[1] = parts::high_8(low, next_low);
    turned[2] = parts::low_8(high, next_high);
    turned[3] = parts::high_8(high, next_high);
  } else {
    turned[0] = parts::low_8(x[0], x[1]);
    turned[1] = parts::high_8(x[0], x[1]);
  }
  for (index_t c = 0; c < rows; ++c) {
    if (c < wanted) parts::store(to + c * pitch, turned[c]);
  }
}

/// Some of the first rows; says how many. Parts that would be loaded from beyond a row begin
/// before: what they share with the ones before is turned twice. Strides are in bytes.
template <std::size_t Size>
[[gnu::noinline]] index_t turn_rows(std::byte* to, index_t pitch, const std::byte* from,
                                    index_t stride, index_t rows, index_t columns) {
  constexpr index_t size = Size;
  constexpr index_t of_part = 16 / size;
  constexpr index_t at_once = parts_of_rows::count * of_part;
  if (columns < of_part) {  // what is loaded with a row has to be of the next ones
    if (stride <= 0) return 0;
    rows -= (16 - columns * size + stride - 1) / stride;
  }
  if (rows < at_once) return 0;
  for (index_t next = 0; next < rows; next += at_once) {
    const index_t r = next + at_once <= rows ? next : rows - at_once;
    for (index_t part = 0; part < columns; part += of_part) {
      const index_t c = part + of_part <= columns || part == 0 ? part : columns - of_part;
      turn_part<Size>(to + c * pitch + r * size, pitch, from + r * stride + c * size, stride,
                      columns);
    }
  }
  return rows;
}

}  // namespace detail

#endif

/// to[c * pitch + r] = from[r * stride + c] for some of the first rows, as many as come in whole
/// registers: says how many. No number behind the last row is read.
template <class T>
index_t turn_whole([[maybe_unused]] T* to, [[maybe_unused]] index_t pitch,
                   [[maybe_unused]] const T* from, [[maybe_unused]] index_t stride,
                   [[maybe_unused]] index_t rows, [[maybe_unused]] index_t columns) {
#ifdef __AVX2__
  if constexpr (std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {
    constexpr index_t size = sizeof(T);
    return detail::turn_rows<sizeof(T)>(reinterpret_cast<std::byte*>(to), pitch * size,
                                        reinterpret_cast<const std::byte*>(from), stride * size,
                                        rows, columns);
  }
#endif
  return 0;
}

}  // namespace topos::lane
