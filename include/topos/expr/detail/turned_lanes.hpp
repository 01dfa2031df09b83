// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of few numbers turned into columns in registers, by AVX2 or AVX-512.

#include <bit>
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
  static void store(std::byte* to, index_t apart, lanes x) {
    const auto put = [&](index_t p, __m128i part) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + p * apart), part);
    };
    put(0, _mm512_castsi512_si128(x));
    put(1, _mm512_extracti32x4_epi32(x, 1));
    put(2, _mm512_extracti32x4_epi32(x, 2));
    put(3, _mm512_extracti32x4_epi32(x, 3));
  }
  static lanes load_whole(const void* from) { return _mm512_loadu_si512(from); }
  static void store_whole(void* to, lanes x) { _mm512_storeu_si512(to, x); }
  template <std::size_t Size>
  static lanes low(lanes a, lanes b) {
    return Size == 4 ? _mm512_unpacklo_epi32(a, b) : _mm512_unpacklo_epi64(a, b);
  }
  template <std::size_t Size>
  static lanes high(lanes a, lanes b) {
    return Size == 4 ? _mm512_unpackhi_epi32(a, b) : _mm512_unpackhi_epi64(a, b);
  }
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
  static void store(std::byte* to, index_t apart, lanes x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(x));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + apart), _mm256_extracti128_si256(x, 1));
  }
  static lanes load_whole(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static void store_whole(void* to, lanes x) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
  template <std::size_t Size>
  static lanes low(lanes a, lanes b) {
    return Size == 4 ? _mm256_unpacklo_epi32(a, b) : _mm256_unpacklo_epi64(a, b);
  }
  template <std::size_t Size>
  static lanes high(lanes a, lanes b) {
    return Size == 4 ? _mm256_unpackhi_epi32(a, b) : _mm256_unpackhi_epi64(a, b);
  }
};
#endif

// Registers of one part: of numbers of one byte or two, of which many go into it.
struct one_part {
  using lanes = __m128i;
  static constexpr index_t count = 1;

  static lanes load(const std::byte* from, index_t /*apart*/) { return load_whole(from); }
  static void store(std::byte* to, index_t /*apart*/, lanes x) { store_whole(to, x); }
  static lanes load_whole(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  static void store_whole(void* to, lanes x) { _mm_storeu_si128(static_cast<__m128i*>(to), x); }
  template <std::size_t Size>
  static lanes low(lanes a, lanes b) {
    return Size == 1 ? _mm_unpacklo_epi8(a, b) : _mm_unpacklo_epi16(a, b);
  }
  template <std::size_t Size>
  static lanes high(lanes a, lanes b) {
    return Size == 1 ? _mm_unpackhi_epi8(a, b) : _mm_unpackhi_epi16(a, b);
  }
};

/// The registers for numbers of so many bytes, how many of these go into a part, and rows that go
/// into as many registers.
template <std::size_t Size>
using registers_for = std::conditional_t<Size <= 2, one_part, parts_of_rows>;
template <std::size_t Size>
inline constexpr index_t of_part = 16 / static_cast<index_t>(Size);
template <std::size_t Size>
inline constexpr index_t rows_at_once = registers_for<Size>::count* of_part<Size>;

/// Turns what is within the parts of as many registers as numbers go into one: with each step the
/// number of a row's register goes into the place within its part, a bit at a time.
template <std::size_t Size>
[[gnu::always_inline]] inline void turn_within_parts(
    typename registers_for<Size>::lanes (&x)[of_part<Size>]) {
  using registers = registers_for<Size>;
  constexpr index_t half = of_part<Size> / 2;
  for (index_t step = 1; step < of_part<Size>; step *= 2) {
    typename registers::lanes next[of_part<Size>];
    for (index_t k = 0; k < half; ++k) {
      next[2 * k] = registers::template low<Size>(x[k], x[k + half]);
      next[2 * k + 1] = registers::template high<Size>(x[k], x[k + half]);
    }
    for (index_t k = 0; k < of_part<Size>; ++k) x[k] = next[k];
  }
}

/// Calls `turn(r, c)` for each place from which as many rows and columns as are turned at once
/// begin. Those that would go beyond the last begin before: what they share with the ones before is
/// turned twice.
template <std::size_t Size, class Turn>
[[gnu::always_inline]] inline void turn_each(index_t rows, index_t columns, const Turn& turn) {
  constexpr index_t at_once = rows_at_once<Size>;
  constexpr index_t wide = of_part<Size>;
  for (index_t next = 0; next < rows; next += at_once) {
    const index_t r = next + at_once <= rows ? next : rows - at_once;
    for (index_t part = 0; part < columns; part += wide)
      turn(r, part + wide <= columns || part == 0 ? part : columns - wide);
  }
}

/// Some of the first rows; says how many. Strides are in bytes.
template <std::size_t Size>
[[gnu::noinline]] index_t turn_rows(std::byte* to, index_t pitch, const std::byte* from,
                                    index_t stride, index_t rows, index_t columns) {
  using registers = registers_for<Size>;
  constexpr index_t size = Size;
  constexpr index_t wide = of_part<Size>;
  if (columns < wide) {  // what is loaded with a row has to be of the next ones
    if (stride <= 0) return 0;
    rows -= (16 - columns * size + stride - 1) / stride;
  }
  if (rows < rows_at_once<Size>) return 0;
  turn_each<Size>(
      rows, columns, [&](index_t r, index_t c) __attribute__((always_inline)) {
        typename registers::lanes x[wide];
        for (index_t k = 0; k < wide; ++k)
          x[k] = registers::load(from + (r + k) * stride + c * size, wide * stride);
        turn_within_parts<Size>(x);
        for (index_t k = 0; k < wide; ++k) {
          if (k < columns) registers::store_whole(to + (c + k) * pitch + r * size, x[k]);
        }
      });
  return rows;
}

/// The same the other way round: rows beside each other, of columns each of which begins `pitch`
/// behind the one before.
template <std::size_t Size>
[[gnu::noinline]] index_t turn_columns(std::byte* to, const std::byte* from, index_t pitch,
                                       index_t rows, index_t columns) {
  using registers = registers_for<Size>;
  constexpr index_t size = Size;
  constexpr index_t wide = of_part<Size>;
  if (columns < wide || rows < rows_at_once<Size>) return 0;
  turn_each<Size>(
      rows, columns, [&](index_t r, index_t c) __attribute__((always_inline)) {
        typename registers::lanes x[wide];
        for (index_t k = 0; k < wide; ++k)
          x[k] = registers::load_whole(from + (c + k) * pitch + r * size);
        turn_within_parts<Size>(x);
        for (index_t k = 0; k < wide; ++k)
          registers::store(to + ((r + k) * columns + c) * size, wide * columns * size, x[k]);
      });
  return rows;
}

/// Whether numbers are turned in registers.
template <class T>
inline constexpr bool turns = std::is_trivially_copyable_v<T> &&
                              sizeof(T) <= 8 && std::has_single_bit(sizeof(T));

}  // namespace detail

#endif

/// to[c * pitch + r] = from[r * stride + c] for some of the first rows, as many as come in whole
/// registers: says how many. No number behind the last row is read.
template <class T>
index_t turn_rows([[maybe_unused]] T* to, [[maybe_unused]] index_t pitch,
                  [[maybe_unused]] const T* from, [[maybe_unused]] index_t stride,
                  [[maybe_unused]] index_t rows, [[maybe_unused]] index_t columns) {
#ifdef __AVX2__
  if constexpr (detail::turns<T>) {
    constexpr index_t size = sizeof(T);
    return detail::turn_rows<sizeof(T)>(reinterpret_cast<std::byte*>(to), pitch * size,
                                        reinterpret_cast<const std::byte*>(from), stride * size,
                                        rows, columns);
  }
#endif
  return 0;
}

/// to[r * columns + c] = from[c * pitch + r] for some of the first rows, as many as come in whole
/// registers: says how many.
template <class T>
index_t turn_columns([[maybe_unused]] T* to, [[maybe_unused]] const T* from,
                     [[maybe_unused]] index_t pitch, [[maybe_unused]] index_t rows,
                     [[maybe_unused]] index_t columns) {
#ifdef __AVX2__
  if constexpr (detail::turns<T>) {
    constexpr index_t size = sizeof(T);
    return detail::turn_columns<sizeof(T)>(reinterpret_cast<std::byte*>(to),
                                           reinterpret_cast<const std::byte*>(from), pitch * size,
                                           rows, columns);
  }
#endif
  return 0;
}

}  // namespace topos::lane
