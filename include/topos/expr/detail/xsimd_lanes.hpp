// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes by xsimd (8.1 to 14).

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <topos/core/config.hpp>
#include <topos/expr/detail/lanes_in_memory.hpp>
#include <type_traits>
#include <xsimd/xsimd.hpp>

namespace topos::lane {

template <class T>
using batch = xsimd::batch<T>;
template <class T>
using mask = xsimd::batch_bool<T>;

template <class T>
inline constexpr index_t width_of = static_cast<index_t>(batch<T>::size);

template <class T>
batch<T> load(const T* from) {
  return batch<T>::load_unaligned(from);
}
template <class T, class A>
void store(T* to, const xsimd::batch<T, A>& values) {
  values.store_unaligned(to);
}
template <class T, class A>
xsimd::batch<T, A> select(const xsimd::batch_bool<T, A>& m, const xsimd::batch<T, A>& a,
                          const xsimd::batch<T, A>& b) {
#ifdef __AVX512F__
  // xsimd 8's own does not compile without optimisation.
  if constexpr (std::is_integral_v<T> && sizeof(a.data) == 64 && sizeof(T) == 4)
    return _mm512_mask_blend_epi32(m.data, b.data, a.data);
  else if constexpr (std::is_integral_v<T> && sizeof(a.data) == 64 && sizeof(T) == 8)
    return _mm512_mask_blend_epi64(m.data, b.data, a.data);
  else
#endif
    return xsimd::select(m, a, b);
}
#if defined(__AVX2__) && !defined(__AVX512F__)
/// By AVX2: all bits of a truth are alike.
template <class T, class A>
void store(bool* to, const xsimd::batch_bool<T, A>& values) {
  static_assert(sizeof(values.data) == 32 && sizeof(T) >= 4);
  const auto bits = std::bit_cast<__m256i>(values.data);
  // Whatever half of a word is taken of 64-bit ones.
  __m128i truths = _mm_packs_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
  if constexpr (sizeof(T) == 8) truths = _mm_packs_epi32(truths, truths);
  truths = _mm_and_si128(_mm_packs_epi16(truths, truths), _mm_set1_epi8(1));
  const std::int64_t bytes = _mm_cvtsi128_si64(truths);
  std::memcpy(to, &bytes, sizeof(values.data) / sizeof(T));
}
#else
/// By way of numbers, which compilers narrow at once; xsimd's own goes bit by bit.
template <class T, class A>
void store(bool* to, const xsimd::batch_bool<T, A>& values) {
  using B = xsimd::batch<T, A>;
  T numbers[B::size];
  lane::select(values, B(T(1)), B(T(0))).store_unaligned(numbers);
  for (std::size_t i = 0; i < B::size; ++i) to[i] = numbers[i] != T(0);
}
#endif
template <class T>
batch<T> splat(T value) {
  return batch<T>(value);
}

/// Words rotated to the left by whole bytes.
template <int Bytes, class A>
xsimd::batch<std::uint32_t, A> rotated_by_bytes(const xsimd::batch<std::uint32_t, A>& words) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  // AVX2 rotates nothing, but one instruction moves bytes, where three shift and join.
  const auto of_word = [](int at) {
    int from = 0;
    for (int byte = 0; byte < 4; ++byte) from |= (at * 4 + (byte + 4 - Bytes) % 4) << 8 * byte;
    return from;
  };
  const __m128i from = _mm_setr_epi32(of_word(0), of_word(1), of_word(2), of_word(3));
  return _mm256_shuffle_epi8(words.data, _mm256_broadcastsi128_si256(from));
#else
  return (words << 8 * Bytes) | (words >> (32 - 8 * Bytes));
#endif
}

/// To be called before the C library's functions are, for each lane: some begin with instructions
/// of SSE, which take ten times as long while the upper halves of registers are in use, and g++
/// does not see that they are where a function takes lanes by reference and returns them.
inline void before_calls() {
#ifdef __AVX__
  _mm256_zeroupper();
#endif
}

// Masks are inverted by ~: xsimd 8's own ! compares them with false, by AVX2 the halves of a
// register one after the other.

/// Where numbers differ, or one is NaN: xsimd 8's own != is false of NaN where lanes are AVX-512's.
template <class T, class A>
auto differs(const xsimd::batch<T, A>& a, const xsimd::batch<T, A>& b) {
  return ~(a == b);
}
/// Where truths differ: xsimd 8's own ^ is | where lanes are AVX-512's, and its own != compares
/// true lanes as NaN where they are SSE2's.
template <class T, class A>
auto differs(const xsimd::batch_bool<T, A>& a, const xsimd::batch_bool<T, A>& b) {
  return (a & ~b) | (b & ~a);
}
/// A mask of lanes of another type, of the same width.
template <class To, class T, class A>
auto mask_cast(const xsimd::batch_bool<T, A>& m) {
  using target = xsimd::batch_bool<To, A>;
  if constexpr (std::is_same_v<To, T>) {
    return m;
  } else if constexpr (requires { target(m.data); }) {
    return target(m.data);
  } else if constexpr (sizeof(m) == sizeof(target) && sizeof(T) == sizeof(To)) {
    return std::bit_cast<target>(m);
  } else {
    bool values[target::size];
    m.store_unaligned(values);
    return target::load_unaligned(values);
  }
}
/// 1 where a mask is true and 0 elsewhere, in words of the size of what it is a mask of.
template <class T, class A>
auto ones(const xsimd::batch_bool<T, A>& m) {
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static_assert(sizeof(T) == sizeof(word));
  return lane::select(mask_cast<word>(m), batch<word>(1), batch<word>(0));
}
/// The lanes' bits as lanes of another type.
template <class To, class T, class A>
auto bits_as(const xsimd::batch<T, A>& x) {
  if constexpr (std::is_same_v<To, T>)
    return x;
  else
    return xsimd::bitwise_cast<xsimd::batch<To, A>>(x);
}
template <class A>
auto to_float(const xsimd::batch<std::int32_t, A>& x) {
  return xsimd::to_float(x);
}

/// Towards 0, to the ends of the type, and 0 of NaN.
template <class A>
auto to_integer(const xsimd::batch<float, A>& x) {
  using whole = xsimd::batch<std::int32_t, A>;
  using B = xsimd::batch<float, A>;
  // What is out of range is the lowest of all, or held at an end already.
  const auto above = lane::mask_cast<std::int32_t>(x >= B(2147483648.0f));
  const auto number = lane::mask_cast<std::int32_t>(x == x);
  const whole held = lane::select(above, whole(INT32_MAX), xsimd::to_int(x));
  return lane::select(number, held, whole(0));
}
/// The floats that round to a sixteen-bit type as whole numbers do: where one has no float, the odd
/// one of its two neighbours, which is never halfway between two numbers of that type.
template <class A>
auto to_odd_float(const xsimd::batch<std::int32_t, A>& x) {
  using whole = xsimd::batch<std::int32_t, A>;
  const whole rest = x & whole(127);
  const whole odd = (x & whole(~127)) | lane::select(rest > whole(0), whole(128), whole(0));
  const auto large = (x > whole(1 << 24)) | (x < whole(-(1 << 24)));
  return lane::to_float(lane::select(large, odd, x));
}

/// A product as it was rounded: see lanes.hpp.
template <class T, class A>
xsimd::batch<T, A> rounded(xsimd::batch<T, A> x) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
  asm("" : "+v"(x.data));
#elif defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
  asm("" : "+x"(x.data));
#elif defined(__GNUC__) && !defined(__clang__) && defined(__aarch64__)
  asm("" : "+w"(x.data));
#endif
  return x;
}

using xsimd::abs;
using xsimd::acos;
using xsimd::any;
using xsimd::asin;
using xsimd::asinh;
using xsimd::atan;
using xsimd::atanh;
using xsimd::copysign;
using xsimd::cosh;
using xsimd::max;
using xsimd::min;
using xsimd::sinh;
using xsimd::sqrt;

namespace detail {

template <class T, class A>
xsimd::batch<T, A> with_sign_of(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& result) {
#ifdef __SSE4_1__
  static_cast<void>(x);
  return result;
#else
  return xsimd::copysign(result, x);
#endif
}

}  // namespace detail

// Whole numbers with the sign of x, which xsimd 8's own lose of zeros where the machine has no
// instruction for them.
#define TOPOS_ROUNDING(name)                             \
  template <class T, class A>                            \
  xsimd::batch<T, A> name(const xsimd::batch<T, A>& x) { \
    return detail::with_sign_of(x, xsimd::name(x));      \
  }
TOPOS_ROUNDING(ceil)
TOPOS_ROUNDING(floor)
TOPOS_ROUNDING(nearbyint)
TOPOS_ROUNDING(trunc)
#undef TOPOS_ROUNDING

/// Whether `fma` rounds once: where the machine has an instruction for it.
#if defined(__FMA__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

/// a * b + c. xsimd 8's own rounds twice where lanes are AVX-512's.
template <class T, class A>
xsimd::batch<T, A> fma(const xsimd::batch<T, A>& a, const xsimd::batch<T, A>& b,
                       const xsimd::batch<T, A>& c) {
#ifdef __AVX512F__
  if constexpr (sizeof(a) == 64 && std::is_same_v<T, float>) return _mm512_fmadd_ps(a, b, c);
  if constexpr (sizeof(a) == 64 && std::is_same_v<T, double>) return _mm512_fmadd_pd(a, b, c);
#endif
  return xsimd::fma(a, b, c);
}

namespace detail {

/// `result`, but for the lanes of a mask, which are `function` of those of x, one by one: where
/// xsimd's own are wrong.
template <class T, class A, class Function, class... B>
xsimd::batch<T, A> mended(const xsimd::batch_bool<T, A>& wrong, const xsimd::batch<T, A>& result,
                          Function function, const B&... x) {
  if (!xsimd::any(wrong)) [[likely]]
    return result;
  constexpr std::size_t width = xsimd::batch<T, A>::size;
  const lanes_in_memory<bool, width> which(wrong);
  lanes_in_memory<T, width> to(result);
  const auto mend = [&](const auto&... from) {
    lane::before_calls();
    for (std::size_t i = 0; i < width; ++i) {
      if (which.values[i]) to.values[i] = function(from.values[i]...);
    }
  };
  mend(lanes_in_memory<typename B::value_type, width>(x)...);
  return xsimd::batch<T, A>::load_unaligned(to.values);
}

template <class T, class A>
xsimd::batch_bool<T, A> is_denormal(const xsimd::batch<T, A>& x) {
  const xsimd::batch<T, A> zero(T(0));
  return (xsimd::abs(x) < xsimd::batch<T, A>(std::numeric_limits<T>::min())) & (x != zero);
}

/// `all(x)` of xsimd 8's, but `one` of denormals, of which its own are wrong. Its own that
/// select among whole numbers g++ does not compile for AVX-512 unless it optimises.
template <class T, class A, class All, class One>
xsimd::batch<T, A> mended_where_denormal(const xsimd::batch<T, A>& x, All all, One one) {
#if defined(__AVX512BW__) && !defined(__OPTIMIZE__) && !defined(__clang__)
  if constexpr (sizeof(x) == 64)
    return mended(xsimd::batch_bool<T, A>(true), x, one, x);
  else
#endif
    return mended(is_denormal(x), all(x), one, x);
}

}  // namespace detail

template <class T, class A>
xsimd::batch<T, A> cbrt(const xsimd::batch<T, A>& x) {
  return detail::mended_where_denormal(
      x, [](const auto& v) { return xsimd::cbrt(v); }, [](T v) { return std::cbrt(v); });
}

/// acosh, NaN below 1, where xsimd's own has any value.
template <class T, class A>
xsimd::batch<T, A> acosh(const xsimd::batch<T, A>& x) {
  const xsimd::batch<T, A> nan(std::numeric_limits<T>::quiet_NaN());
  return xsimd::select(x < xsimd::batch<T, A>(T(1)), nan, xsimd::acosh(x));
}

/// atan2; where an argument is 0, infinite or NaN, lane by lane: xsimd's own loses signs there.
template <class T, class A>
xsimd::batch<T, A> atan2(const xsimd::batch<T, A>& y, const xsimd::batch<T, A>& x) {
  const xsimd::batch<T, A> zero(T(0));
  const auto plain = xsimd::isfinite(y) & xsimd::isfinite(x) & (y != zero) & (x != zero);
  return detail::mended(
      ~plain, xsimd::atan2(y, x), [](T b, T a) { return std::atan2(b, a); }, y, x);
}

/// What is left of a / b without its whole part, exact. Needs `has_fma`.
template <class T, class A>
xsimd::batch<T, A> fmod(const xsimd::batch<T, A>& a, const xsimd::batch<T, A>& b) {
  using B = xsimd::batch<T, A>;
  constexpr T whole = sizeof(T) == 4 ? T(1 << 23) : T(std::int64_t{1} << 52);
  const B size = xsimd::abs(a);
  const B by = xsimd::abs(b);
  // Rounded up to a whole number, this is one too large, and the rest negative.
  const B quotient = xsimd::trunc(size / by);
  const B rest = lane::fma(-quotient, by, size);
  const B mended_rest = xsimd::select(rest < B(T(0)), rest + by, rest);
  const auto plain = (quotient < B(whole)) & (by <= B(std::numeric_limits<T>::max()));
  return detail::mended(
      ~plain, xsimd::copysign(mended_rest, a), [](T x, T y) { return std::fmod(x, y); }, a, b);
}

/// log1p with the sign of x: xsimd's own is +0 of -0.
template <class T, class A>
xsimd::batch<T, A> log1p(const xsimd::batch<T, A>& x) {
  return xsimd::copysign(xsimd::log1p(x), x);
}

}  // namespace topos::lane
