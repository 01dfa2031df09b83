// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of a wider type than the elements in memory that they are loaded from or stored to, by
/// AVX2 and AVX-512. Compilers make many more operations of floats that become short integers.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <topos/core/config.hpp>
#include <topos/expr/detail/machine_lanes.hpp>
#include <type_traits>
#if TOPOS_HAS_XSIMD
#include <topos/expr/detail/half_lanes.hpp>
#include <topos/expr/detail/lanes_apart.hpp>
#endif

namespace topos::lane {

#if TOPOS_HAS_XSIMD && defined(__AVX2__)

/// Whether lanes of To are loaded from elements of T: of smaller integers and truths, or of smaller
/// floats as double.
template <class T, class To>
inline constexpr bool widens = sizeof(T) < sizeof(To) &&
                               sizeof(To) >= 4 && std::is_arithmetic_v<To> &&
                               (std::is_integral_v<T> ||
                                ((std::is_same_v<T, float> ||
                                  is_half_with_lanes<T>)&&std::is_same_v<To, double>));

namespace detail {

/// Some bytes in a register of 16, or of 32.
template <std::size_t Bytes>
inline auto load_bytes(const void* from) {
  if constexpr (Bytes == 32) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  } else if constexpr (Bytes == 16) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  } else {
    std::int64_t word = 0;
    std::memcpy(&word, from, Bytes);
    return _mm_cvtsi64_si128(word);
  }
}

/// Every step-th element, side by side in such a register. By shifts: what is stored one by one
/// would have to reach the cache before it is loaded at once.
template <std::size_t Count, class T>
inline auto shift_together(const T* from, index_t step) {
  constexpr std::size_t in_word = 8 / sizeof(T);
  constexpr std::size_t words = (Count + in_word - 1) / in_word;
  std::int64_t word[words < 2 ? 2 : words] = {};
  for (std::size_t i = 0; i < Count; ++i) {
    std::uint64_t element = 0;
    std::memcpy(&element, from + static_cast<index_t>(i) * step, sizeof(T));
    word[i / in_word] |= static_cast<std::int64_t>(element << i % in_word * 8 * sizeof(T));
  }
  if constexpr (words == 4)
    return _mm256_set_epi64x(word[3], word[2], word[1], word[0]);
  else
    return _mm_set_epi64x(word[1], word[0]);
}

/// The same in the way that takes the least time.
template <std::size_t Count, class T>
inline auto load_bytes_apart(const T* from, index_t step) {
  const auto shifted = [&] { return shift_together<Count>(from, step); };
  if constexpr (sizeof(T) == 4 && Count == 8) {
    const auto at = [&](index_t i) { return std::bit_cast<float>(from[i * step]); };
    return _mm256_castps_si256(
        _mm256_setr_ps(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)));
  } else if constexpr (sizeof(T) == 1 && Count == bytes_at_once) {
    const auto pick = [&]<int Step>(std::integral_constant<int, Step>) {
      return every_short<Step>(from);
    };
    return by_whole_step(step, pick, shifted);
  } else {
    return shifted();
  }
}

#ifdef __AVX512F__

/// Eight bytes, loaded before they are widened: g++ 12 ends with an internal error where it makes
/// one instruction of the load, the widening and a choice by a mask.
inline __m128i in_register(__m128i x) {
#if defined(__GNUC__) && !defined(__clang__)
  asm("" : "+v"(x));
#endif
  return x;
}

/// The elements of T in a register as lanes of To.
template <class To, class T, class Register>
inline batch<To> widened(Register x) {
  constexpr bool of_signs = std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, float>)
    return _mm512_cvtps_pd(_mm256_castsi256_ps(x));
  else if constexpr (std::is_same_v<T, f16>)
    return _mm512_cvtps_pd(_mm256_cvtph_ps(x));
  else if constexpr (std::is_same_v<T, bf16>)
    return widened<To, float>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
  else if constexpr (std::is_same_v<To, float>)
    return _mm512_cvtepi32_ps(widened<std::int32_t, T>(x));
  else if constexpr (sizeof(To) == 4 && sizeof(T) == 1)
    return of_signs ? _mm512_cvtepi8_epi32(x) : _mm512_cvtepu8_epi32(x);
  else if constexpr (sizeof(To) == 4)
    return of_signs ? _mm512_cvtepi16_epi32(x) : _mm512_cvtepu16_epi32(x);
  else if constexpr (std::is_same_v<To, double> && sizeof(T) == 1)
    return _mm512_cvtepi32_pd(of_signs ? _mm256_cvtepi8_epi32(x) : _mm256_cvtepu8_epi32(x));
  else if constexpr (std::is_same_v<To, double> && sizeof(T) == 2)
    return _mm512_cvtepi32_pd(of_signs ? _mm256_cvtepi16_epi32(x) : _mm256_cvtepu16_epi32(x));
  else if constexpr (std::is_same_v<To, double>)
    return of_signs ? _mm512_cvtepi32_pd(x) : _mm512_cvtepu32_pd(x);
  else if constexpr (sizeof(T) == 1)
    return of_signs ? _mm512_cvtepi8_epi64(in_register(x)) : _mm512_cvtepu8_epi64(in_register(x));
  else if constexpr (sizeof(T) == 2)
    return of_signs ? _mm512_cvtepi16_epi64(x) : _mm512_cvtepu16_epi64(x);
  else
    return of_signs ? _mm512_cvtepi32_epi64(x) : _mm512_cvtepu32_epi64(x);
}

#else

template <class To, class T, class Register>
inline batch<To> widened(Register x) {
  constexpr bool of_signs = std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, float>) {
    return _mm256_cvtps_pd(_mm_castsi128_ps(x));
  } else if constexpr (is_half_with_lanes<T>) {
    return _mm256_cvtps_pd(_mm256_castps256_ps128(from_halves<T>(x)));
  } else if constexpr (std::is_same_v<To, float>) {
    return _mm256_cvtepi32_ps(widened<std::int32_t, T>(x));
  } else if constexpr (sizeof(To) == 4 && sizeof(T) == 1) {
    return of_signs ? _mm256_cvtepi8_epi32(x) : _mm256_cvtepu8_epi32(x);
  } else if constexpr (sizeof(To) == 4) {
    return of_signs ? _mm256_cvtepi16_epi32(x) : _mm256_cvtepu16_epi32(x);
  } else if constexpr (std::is_same_v<To, double> && sizeof(T) == 1) {
    return _mm256_cvtepi32_pd(of_signs ? _mm_cvtepi8_epi32(x) : _mm_cvtepu8_epi32(x));
  } else if constexpr (std::is_same_v<To, double> && sizeof(T) == 2) {
    return _mm256_cvtepi32_pd(of_signs ? _mm_cvtepi16_epi32(x) : _mm_cvtepu16_epi32(x));
  } else if constexpr (std::is_same_v<To, double> && of_signs) {
    return _mm256_cvtepi32_pd(x);
  } else if constexpr (std::is_same_v<To, double>) {
    // As if signed, moved down by 2^31 and up again.
    const __m128i moved = _mm_xor_si128(x, _mm_set1_epi32(INT32_MIN));
    return _mm256_add_pd(_mm256_cvtepi32_pd(moved), _mm256_set1_pd(2147483648.0));
  } else if constexpr (sizeof(T) == 1) {
    return of_signs ? _mm256_cvtepi8_epi64(x) : _mm256_cvtepu8_epi64(x);
  } else if constexpr (sizeof(T) == 2) {
    return of_signs ? _mm256_cvtepi16_epi64(x) : _mm256_cvtepu16_epi64(x);
  } else {
    return of_signs ? _mm256_cvtepi32_epi64(x) : _mm256_cvtepu32_epi64(x);
  }
}

#endif

/// The same of truths, which become 0 or 1, too.
template <class To, class T, class Register>
inline batch<To> from_register(Register x) {
  if constexpr (std::is_same_v<T, bool>)
    return widened<To, unsigned char>(_mm_min_epu8(x, _mm_set1_epi8(1)));
  else
    return widened<To, T>(x);
}

}  // namespace detail

/// The lanes from memory on, as To.
template <class To, class T>
  requires widens<T, To> batch<To> load_wide(const T* from) {
    return detail::from_register<To, T>(detail::load_bytes<sizeof(T) * width_of<To>>(from));
  }

/// Every step-th element from memory, as To.
template <class To, class T>
  requires widens<T, To> batch<To> load_wide_apart(const T* from, index_t step) {
    return detail::from_register<To, T>(detail::load_bytes_apart<width_of<To>>(from, step));
  }

/// Integers of fewer bytes than an int.
template <class T>
inline constexpr bool is_short_integer = std::is_integral_v<T> && sizeof(T) <= 2 &&
                                         !std::is_same_v<T, bool>;

/// Whether lanes of elements of T are stored as To: floats as short integers, doubles also as
/// 32-bit ones and as sixteen-bit floats.
template <class T, class To>
inline constexpr bool narrows = std::is_same_v<T, double>
                                    ? is_short_integer<To> || std::is_same_v<To, std::int32_t> ||
                                          is_half_with_lanes<To>
                                    : is_short_integer<To> &&
                                          (std::is_same_v<T, float> || is_half_with_lanes<T>);

namespace detail {

/// Numbers that are whole ones of To but for what is behind their point: held at the ends of To,
/// and 0 of NaN.
template <class To, class T>
batch<T> held_within(const batch<T>& x) {
  constexpr auto lowest = static_cast<T>(std::numeric_limits<To>::min());
  constexpr auto highest = static_cast<T>(std::numeric_limits<To>::max());
  // Of a number and another the second is taken where the first is NaN.
  const batch<T> held = lane::min(lane::max(x, batch<T>(lowest)), batch<T>(highest));
  if constexpr (lowest == 0)
    return held;
  else
    return lane::select(x == x, held, batch<T>(T(0)));
}

/// Whole numbers that are short integers of To as such, in the first bytes of a register.
template <class To>
__m128i shortened(__m128i low, __m128i high) {
  constexpr bool of_signs = std::is_signed_v<To>;
  const __m128i shorts = of_signs ? _mm_packs_epi32(low, high) : _mm_packus_epi32(low, high);
  if constexpr (sizeof(To) == 2)
    return shorts;
  else
    return of_signs ? _mm_packs_epi16(shorts, shorts) : _mm_packus_epi16(shorts, shorts);
}

/// Eight of them to memory.
template <class To>
void store_whole(To* to, __m256i whole) {
  if constexpr (sizeof(To) == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), whole);
  } else {
    const __m128i all =
        shortened<To>(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    if constexpr (sizeof(To) == 2)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), all);
    else
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), all);
  }
}

}  // namespace detail

/// Lanes to memory as integers: towards 0, to the ends of their type, and NaN as 0.
template <std::integral To>
void store_narrow(To* to, const batch<float>& x) {
  const batch<float> held = detail::held_within<To>(x);
#ifdef __AVX512F__
  const __m512i whole = _mm512_cvttps_epi32(held);
  if constexpr (sizeof(To) == 1)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(whole));
  else
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(whole));
#else
  detail::store_whole(to, _mm256_cvttps_epi32(held));
#endif
}
template <std::integral To>
void store_narrow(To* to, const batch<double>& x) {
  const batch<double> held = detail::held_within<To>(x);
#ifdef __AVX512F__
  detail::store_whole(to, _mm512_cvttpd_epi32(held));
#else
  const __m128i whole = _mm256_cvttpd_epi32(held);
  if constexpr (sizeof(To) == 4) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), whole);
  } else {
    const std::int64_t bytes = _mm_cvtsi128_si64(detail::shortened<To>(whole, whole));
    std::memcpy(to, &bytes, 4 * sizeof(To));
  }
#endif
}

/// Lanes of doubles to memory as sixteen-bit floats, rounded once: by way of the float next to each
/// that is odd where it is not exact, and so never halfway between two of them.
template <class To>
  requires is_half_with_lanes<To>
void store_narrow(To* to, const batch<double>& x) {
#ifdef __AVX512F__
  const __m256 near = _mm512_cvtpd_ps(x);
  const __m512d back = _mm512_cvtps_pd(near);
  const auto above = _mm512_cmp_pd_mask(_mm512_abs_pd(back), _mm512_abs_pd(x), _CMP_GT_OQ);
  const auto inexact = _mm512_cmp_pd_mask(back, x, _CMP_NEQ_OQ);
  __m512i bits = _mm512_castps_si512(_mm512_castps256_ps512(near));
  bits = _mm512_mask_add_epi32(bits, above, bits, _mm512_set1_epi32(-1));
  bits = _mm512_mask_or_epi32(bits, inexact, bits, _mm512_set1_epi32(1));
  const batch<float> rounded = lane::to_half<To>(_mm512_castsi512_ps(bits));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_castsi256_si128(lane::to_halves<To>(rounded)));
#else
  const __m128 near = _mm256_cvtpd_ps(x);
  const __m256d back = _mm256_cvtps_pd(near);
  const __m256d sign = _mm256_set1_pd(-0.0);
  const auto shortened = [](__m256d truths) {
    const __m256 words = _mm256_castpd_ps(truths);
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm256_castps256_ps128(words), _mm256_extractf128_ps(words, 1), 0x88));
  };
  const __m256d above =
      _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, x), _CMP_GT_OQ);
  const __m256d inexact = _mm256_cmp_pd(back, x, _CMP_NEQ_OQ);
  __m128i bits = _mm_add_epi32(_mm_castps_si128(near), shortened(above));
  bits = _mm_or_si128(bits, _mm_and_si128(shortened(inexact), _mm_set1_epi32(1)));
  const batch<float> rounded = lane::to_half<To>(_mm256_castsi256_ps(_mm256_castsi128_si256(bits)));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), lane::to_halves<To>(rounded));
#endif
}

/// Lanes of doubles to memory as floats.
inline void store_narrow(float* to, const batch<double>& x) {
#ifdef __AVX512F__
  _mm256_storeu_ps(to, _mm512_cvtpd_ps(x));
#else
  _mm_storeu_ps(to, _mm256_cvtpd_ps(x));
#endif
}

#else

/// Whether lanes of To are loaded from elements of T.
template <class T, class To>
inline constexpr bool widens = false;

template <class To, class T>
  requires widens<T, To> batch<To> load_wide(const T* from);
template <class To, class T>
  requires widens<T, To> batch<To> load_wide_apart(const T* from, index_t step);

template <class T, class To>
inline constexpr bool narrows = false;

template <class To, class B>
void store_narrow(To* to, const B& x);

#endif

/// The first `count` lanes from memory, as To; the others are 0.
template <class To, class T>
  requires widens<T, To> batch<To> load_wide(const T* from, index_t count) {
    T values[width_of<To>] = {};
    for (index_t i = 0; i < count; ++i) values[i] = from[i];
    return lane::load_wide<To>(values);
  }

}  // namespace topos::lane
