// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One lane at a time: what lanes are where there is no SIMD library.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <topos/core/config.hpp>
#include <utility>

namespace topos::lane {

template <class T>
struct mask {
  bool value;
  friend mask operator&(mask a, mask b) { return {a.value && b.value}; }
  friend mask operator|(mask a, mask b) { return {a.value || b.value}; }
  friend mask operator^(mask a, mask b) { return {a.value != b.value}; }
  friend mask operator~(mask a) { return {!a.value}; }
};

template <class T>
struct batch {
  T value;
  void store_unaligned(T* to) const { *to = value; }
  friend batch operator+(batch a, batch b) { return {static_cast<T>(a.value + b.value)}; }
  friend batch operator-(batch a, batch b) { return {static_cast<T>(a.value - b.value)}; }
  friend batch operator*(batch a, batch b) { return {static_cast<T>(a.value * b.value)}; }
  friend batch operator/(batch a, batch b) { return {static_cast<T>(a.value / b.value)}; }
  friend batch operator-(batch a) { return {static_cast<T>(-a.value)}; }
  friend batch operator&(batch a, batch b) { return {static_cast<T>(a.value & b.value)}; }
  friend batch operator|(batch a, batch b) { return {static_cast<T>(a.value | b.value)}; }
  friend batch operator^(batch a, batch b) { return {static_cast<T>(a.value ^ b.value)}; }
  friend batch operator~(batch a) { return {static_cast<T>(~a.value)}; }
  friend batch operator<<(batch a, int n) { return {static_cast<T>(a.value << n)}; }
  friend batch operator>>(batch a, int n) { return {static_cast<T>(a.value >> n)}; }
  friend mask<T> operator==(batch a, batch b) { return {a.value == b.value}; }
  friend mask<T> operator!=(batch a, batch b) { return {a.value != b.value}; }
  friend mask<T> operator<(batch a, batch b) { return {a.value < b.value}; }
  friend mask<T> operator<=(batch a, batch b) { return {a.value <= b.value}; }
  friend mask<T> operator>(batch a, batch b) { return {a.value > b.value}; }
  friend mask<T> operator>=(batch a, batch b) { return {a.value >= b.value}; }
};

template <class T>
inline constexpr index_t width_of = 1;

template <int Bytes>
inline batch<std::uint32_t> rotated_by_bytes(batch<std::uint32_t> words) {
  return {(words.value << 8 * Bytes) | (words.value >> (32 - 8 * Bytes))};
}
inline void before_calls() {}

/// Whether the machine moves some lanes of T.
template <class T>
inline constexpr bool has_masks = false;

/// Every step-th number, if numbers so far apart come in whole loads; else what `otherwise` gives.
template <class T, class Otherwise>
auto picked_apart(const T* /*from*/, index_t /*step*/, const Otherwise& otherwise) {
  return otherwise();
}

/// Turns as many rows and columns as come in whole registers: none.
template <class T>
index_t turn_rows(T* /*to*/, index_t /*pitch*/, const T* /*from*/, index_t /*stride*/,
                  index_t /*rows*/, index_t /*columns*/) {
  return 0;
}
template <class T>
index_t turn_columns(T* /*to*/, const T* /*from*/, index_t /*pitch*/, index_t /*rows*/,
                     index_t /*columns*/) {
  return 0;
}
/// Copies numbers that lie `step` apart, as many of `count` as come in whole loads: none.
template <class T>
index_t copy_whole(T* /*out*/, const T* /*from*/, index_t /*step*/, index_t /*count*/) {
  return 0;
}
template <class T>
index_t interleave(T* /*to*/, const T* /*from*/, index_t /*step*/, index_t /*columns*/,
                   index_t /*rows*/) {
  return 0;
}

/// Whether the machine turns lanes of T round without memory.
template <class T>
inline constexpr bool has_turns = false;

template <class T>
inline constexpr bool has_halves = false;
template <class T>
using half_batch = batch<T>;
template <class T>
const batch<T>& whole(const batch<T>& lanes) {
  return lanes;
}

/// Whether a sixteen-bit type has lanes, and lanes rounded to it.
template <class T>
inline constexpr bool is_half_with_lanes = false;
template <class T>
batch<float> to_half(batch<float> x) {
  return {static_cast<float>(T(x.value))};
}

template <class T>
batch<T> load(const T* from) {
  return {*from};
}
template <class T>
void store(T* to, const batch<T>& values) {
  *to = values.value;
}
template <class T>
void store(bool* to, const mask<T>& values) {
  *to = values.value;
}
template <class T>
batch<T> splat(T value) {
  return {value};
}
template <class T>
batch<T> select(mask<T> m, batch<T> a, batch<T> b) {
  return m.value ? a : b;
}
template <class T>
mask<T> differs(batch<T> a, batch<T> b) {
  return {a.value != b.value};
}
template <class T>
mask<T> differs(mask<T> a, mask<T> b) {
  return {a.value != b.value};
}
template <class T>
bool any(mask<T> m) {
  return m.value;
}
template <class T>
batch<T> rounded(batch<T> x) {
  return {lane::rounded(x.value)};
}
template <class To, class T>
mask<To> mask_cast(mask<T> m) {
  return {m.value};
}
template <class T>
batch<std::uint32_t> ones(mask<T> m) {
  return {m.value};
}
template <class To, class T>
batch<To> bits_as(batch<T> x) {
  return {std::bit_cast<To>(x.value)};
}
inline batch<float> to_float(batch<std::int32_t> x) { return {static_cast<float>(x.value)}; }
/// Those that are one number are converted as such.
template <class T>
void to_integer(batch<T> x) = delete;
template <class T>
void to_odd_float(batch<T> x) = delete;

/// Whether `fma` rounds once.
inline constexpr bool has_fma = true;
template <class T>
batch<T> fma(batch<T> a, batch<T> b, batch<T> c) {
  return {std::fma(a.value, b.value, c.value)};
}
#define TOPOS_LANE_FUNCTION(name)         \
  template <class T>                      \
  batch<T> name(batch<T> a, batch<T> b) { \
    return {std::name(a.value, b.value)}; \
  }
TOPOS_LANE_FUNCTION(atan2)
TOPOS_LANE_FUNCTION(copysign)
TOPOS_LANE_FUNCTION(fmod)
TOPOS_LANE_FUNCTION(hypot)
TOPOS_LANE_FUNCTION(pow)
#undef TOPOS_LANE_FUNCTION
template <class T>
batch<T> max(batch<T> a, batch<T> b) {
  return a.value > b.value ? a : b;
}
template <class T>
batch<T> min(batch<T> a, batch<T> b) {
  return a.value < b.value ? a : b;
}
template <class T>
batch<T> abs(batch<T> a) {
  return {a.value < T(0) || (a.value == T(0)) ? static_cast<T>(T(0) - a.value) : a.value};
}
template <>
inline batch<float> abs(batch<float> a) {
  return {std::fabs(a.value)};
}
template <>
inline batch<double> abs(batch<double> a) {
  return {std::fabs(a.value)};
}

#define TOPOS_LANE_FUNCTION(name) \
  template <class T>              \
  batch<T> name(batch<T> a) {     \
    return {std::name(a.value)};  \
  }
TOPOS_LANE_FUNCTION(acos)
TOPOS_LANE_FUNCTION(acosh)
TOPOS_LANE_FUNCTION(asin)
TOPOS_LANE_FUNCTION(asinh)
TOPOS_LANE_FUNCTION(atan)
TOPOS_LANE_FUNCTION(atanh)
TOPOS_LANE_FUNCTION(cbrt)
TOPOS_LANE_FUNCTION(ceil)
TOPOS_LANE_FUNCTION(cos)
TOPOS_LANE_FUNCTION(cosh)
TOPOS_LANE_FUNCTION(erf)
TOPOS_LANE_FUNCTION(erfc)
TOPOS_LANE_FUNCTION(exp)
TOPOS_LANE_FUNCTION(exp2)
TOPOS_LANE_FUNCTION(expm1)
TOPOS_LANE_FUNCTION(floor)
TOPOS_LANE_FUNCTION(lgamma)
TOPOS_LANE_FUNCTION(log)
TOPOS_LANE_FUNCTION(log10)
TOPOS_LANE_FUNCTION(log1p)
TOPOS_LANE_FUNCTION(log2)
TOPOS_LANE_FUNCTION(nearbyint)
TOPOS_LANE_FUNCTION(sin)
TOPOS_LANE_FUNCTION(sinh)
TOPOS_LANE_FUNCTION(sqrt)
TOPOS_LANE_FUNCTION(tan)
TOPOS_LANE_FUNCTION(tanh)
TOPOS_LANE_FUNCTION(tgamma)
TOPOS_LANE_FUNCTION(trunc)
#undef TOPOS_LANE_FUNCTION

/// The sine and the cosine.
template <class T>
std::pair<batch<T>, batch<T>> sincos(batch<T> a) {
  return {{std::sin(a.value)}, {std::cos(a.value)}};
}

/// x 2^e, rounded once.
template <class T, std::signed_integral I>
batch<T> ldexp(batch<T> x, batch<I> e) {
  return {std::scalbln(x.value, static_cast<long>(e.value))};
}
/// x as a number of [0.5, 1), or 0, infinite or NaN as x is, that a power of 2 makes x.
template <class T>
batch<T> significand(batch<T> x) {
  int exponent = 0;
  return {std::frexp(x.value, &exponent)};
}
/// The power that makes x of its significand, 0 where x is 0, infinite or NaN.
template <class T>
batch<std::int32_t> exponent(batch<T> x) {
  int exponent = 0;
  (void)std::frexp(x.value, &exponent);
  return {std::isfinite(x.value) ? exponent : 0};
}
/// The number next to x towards y.
template <class T>
batch<T> nextafter(batch<T> x, batch<T> y) {
  return {std::nextafter(x.value, y.value)};
}

}  // namespace topos::lane
