// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a distribution's formula is made of, for one number on any device and for lanes on the
/// host: exactly rounded operations alone, so that all of them give the same bits.
///
/// Sums of products are spelt fma: compilers may fuse what is not, and may not.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

namespace topos::random::detail {

template <class V>
concept number = std::is_arithmetic_v<V>;

namespace real_of_detail {
template <class V>
struct type {
  using real = lane::value_t<V>;
};
template <number V>
struct type<V> {
  using real = V;
};
}  // namespace real_of_detail

/// The type of a number, or of lanes' numbers.
template <class V>
using real_of = typename real_of_detail::type<V>::real;

/// A number as V: itself, or lanes of it.
TOPOS_HOST_BRANCH
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V constant(real_of<V> value) {
  if constexpr (number<V>)
    return value;
  else
    return lane::splat(value);
}

/// Whether a condition holds, in any lane.
TOPOS_HOST_BRANCH
template <class Mask>
KOKKOS_FORCEINLINE_FUNCTION bool any_of(const Mask& mask) {
  if constexpr (std::same_as<Mask, bool>)
    return mask;
  else if constexpr (requires { any(mask); })
    return any(mask);
  else
    return mask.value;
}

/// The unsigned integer as wide as a real.
template <class T>
using word_of = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// One operation a name, chosen by what it is given. (Lanes' own functions, which
/// argument-dependent lookup finds too, are more special than these and do the same.)
#define TOPOS_REAL_FUNCTION(name, parameters, call) \
  TOPOS_HOST_BRANCH                                 \
  template <class V>                                \
  KOKKOS_FORCEINLINE_FUNCTION V name parameters {   \
    if constexpr (number<V>)                        \
      return Kokkos::name call;                     \
    else                                            \
      return lane::name call;                       \
  }
TOPOS_REAL_FUNCTION(abs, (const V& x), (x))
TOPOS_REAL_FUNCTION(sqrt, (const V& x), (x))
#undef TOPOS_REAL_FUNCTION

// Of numbers as of lanes: the second where one is NaN.
#define TOPOS_REAL_FUNCTION(name, sign)                        \
  TOPOS_HOST_BRANCH                                            \
  template <class V>                                           \
  KOKKOS_FORCEINLINE_FUNCTION V name(const V& a, const V& b) { \
    if constexpr (number<V>)                                   \
      return a sign b ? a : b;                                 \
    else                                                       \
      return lane::name(a, b);                                 \
  }
TOPOS_REAL_FUNCTION(max, >)
TOPOS_REAL_FUNCTION(min, <)
#undef TOPOS_REAL_FUNCTION

/// a * b + c of lanes, with one rounding.
template <class V>
V fused_lanes(const V& a, const V& b, const V& c) {
  if constexpr (lane::has_fma) {
    return lane::fma(a, b, c);
  } else {
    using T = real_of<V>;
    return lane::each([](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
  }
}

/// a * b + c with one rounding.
TOPOS_HOST_BRANCH
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V fused(const V& a, const V& b, const V& c) {
  if constexpr (number<V>)
    return Kokkos::fma(a, b, c);
  else
    return fused_lanes(a, b, c);
}

TOPOS_HOST_BRANCH
template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION V select(const Mask& condition, const V& a, const V& b) {
  if constexpr (number<V>)
    return condition ? a : b;
  else
    return lane::select(condition, a, b);
}

TOPOS_HOST_BRANCH
template <class To, class V>
KOKKOS_FORCEINLINE_FUNCTION auto bits_as(const V& x) {
  if constexpr (number<V>)
    return Kokkos::bit_cast<To>(x);
  else
    return lane::bits_as<To>(x);
}

/// The bits of a real's mantissa, and its exponent's of [1, 2).
template <class T>
inline constexpr int mantissa_bits = sizeof(T) == 8 ? 52 : 23;
template <class T>
inline constexpr word_of<T> exponent_of_one = sizeof(T) == 8 ? 0x3ff : 0x7f;

/// Lanes of the numbers of [1, 2) whose mantissas are the first bits of words.
template <class T, class Words>
auto lanes_above_one(const Words& bits) {
  constexpr int mantissa = mantissa_bits<T>;
  constexpr auto exponent = exponent_of_one<T>;
#if TOPOS_HAS_XSIMD && defined(__AVX512VBMI2__)
  // One instruction in place of two.
  if constexpr (sizeof(Words) == 64 && sizeof(T) == 8)
    return lane::bits_as<T>(Words(_mm512_shldi_epi64(_mm512_set1_epi64(exponent), bits, mantissa)));
  else if constexpr (sizeof(Words) == 64)
    return lane::bits_as<T>(Words(_mm512_shldi_epi32(_mm512_set1_epi32(exponent), bits, mantissa)));
  else
#endif
  {
    constexpr int below = 8 * static_cast<int>(sizeof(T)) - mantissa;
    return lane::bits_as<T>(Words((bits >> below) | lane::splat(exponent << mantissa)));
  }
}

/// The number of [1, 2) whose mantissa is a word's first bits.
TOPOS_HOST_BRANCH
template <class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION auto above_one(const Word& bits) {
  if constexpr (number<Word>) {
    constexpr int below = 8 * static_cast<int>(sizeof(T)) - mantissa_bits<T>;
    constexpr Word one = exponent_of_one<T> << mantissa_bits<T>;
    return Kokkos::bit_cast<T>((bits >> below) | one);
  } else {
    return lanes_above_one<T>(bits);
  }
}

}  // namespace topos::random::detail
