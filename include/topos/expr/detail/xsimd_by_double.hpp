// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions of float lanes that are computed in lanes of double and rounded once, where xsimd has
/// none or is off by many units in the last place; and hypot of double.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <topos/expr/detail/xsimd_erf.hpp>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <topos/expr/detail/xsimd_pow.hpp>

namespace topos::lane {

namespace detail {

using doubles = batch<double>;
using floats = batch<float>;

/// Half of the lanes, as double: `Half` is 0 or 1.
template <int Half>
doubles widened(const floats& x) {
#if defined(__AVX512F__)
  const __m512d bits = _mm512_castps_pd(x);
  return _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(bits, Half)));
#elif defined(__AVX__)
  return _mm256_cvtps_pd(_mm256_extractf128_ps(x, Half));
#else
  const lanes_in_memory<float, floats::size> from(x);
  double to[doubles::size];
  for (std::size_t i = 0; i < doubles::size; ++i)
    to[i] = static_cast<double>(from.values[Half * doubles::size + i]);
  return doubles::load_unaligned(to);
#endif
}

inline floats narrowed(const doubles& low, const doubles& high) {
#if defined(__AVX512F__)
  const __m512d bits = _mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)));
  return _mm512_castpd_ps(_mm512_insertf64x4(bits, _mm256_castps_pd(_mm512_cvtpd_ps(high)), 1));
#elif defined(__AVX__)
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high),
                              1);
#else
  float to[floats::size];
  const lanes_in_memory<double, doubles::size> from[] = {
      lanes_in_memory<double, doubles::size>(low), lanes_in_memory<double, doubles::size>(high)};
  for (std::size_t i = 0; i < floats::size; ++i)
    to[i] = static_cast<float>(from[i / doubles::size].values[i % doubles::size]);
  return floats::load_unaligned(to);
#endif
}

/// `function` of lanes as double.
template <class Function, class... B>
floats by_double(Function function, const B&... x) {
  return narrowed(function(widened<0>(x)...), function(widened<1>(x)...));
}

/// 2^t where |t| is at most 200, to some 34 bits: scripts/reference/pow.py.
inline doubles exp2_of(const doubles& t) {
  static constexpr double p[] = {
      0.9999999999595618,   0.6931471805568324,    0.24022651213498092,    0.055504109063258665,
      0.009618025613318034, 0.0013333478473685416, 0.00015469729214118296, 1.5303700711365693e-05};
  // 1.5 * 2^52 leaves a whole number to the lowest bits.
  const doubles magic(6755399441055744.0);
  const doubles whole = t + magic;
  const doubles power = polynomial(t - (whole - magic), p);
  return lane::bits_as<double>(lane::bits_as<std::uint64_t>(power) +
                               (lane::bits_as<std::uint64_t>(whole) << 52));
}

/// The logarithm to base 2 of a positive number, to some 38 bits: k + s p(s^2) of x = 2^k m, where
/// m is in [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m + 1); scripts/reference/pow.py.
inline doubles log2_of(const doubles& x) {
  static constexpr double p[] = {2.885390081777851,   0.9617966941122649,  0.5770779426603044,
                                 0.41220922406110433, 0.31990680380701336, 0.28288502340748234};
  const auto [k, m] = split_at_root(x);
  const doubles s = (m - doubles(1.0)) / (m + doubles(1.0));
  return lane::fma(s, polynomial(s * s, p), k);
}

/// The square root of numbers of floats' squares, to some 28 bits.
inline doubles sqrt_of(const doubles& x) {
#if defined(__AVX512F__)
  // A step of Newton's from 14 bits: a root of eight doubles takes four times as long. 0 becomes
  // what no float is.
  const doubles number = xsimd::max(doubles(1e-290), x);
  const doubles inverse = _mm512_rsqrt14_pd(number);
  const doubles root = number * inverse;
  return lane::fma(root * doubles(0.5), lane::fma(-root, inverse, doubles(1.0)), root);
#else
  return xsimd::sqrt(x);
#endif
}

}  // namespace detail

/// x to the power y, within 0.51 units in the last place; but where x is negative or not finite, or
/// y is not finite, lane by lane. (0 to a positive power is 0 without that.)
inline batch<float> pow(const batch<float>& x, const batch<float>& y) {
  using detail::doubles;
  using detail::floats;
  const floats infinity(std::numeric_limits<float>::infinity());
  const floats zero(0.0F);
  const auto none = detail::powers_of_zero(x, y);
  const auto plain = (((x > zero) & (x < infinity)) | none) & (xsimd::abs(y) < infinity);
  const floats result = detail::by_double(
      [](const doubles& base, const doubles& exponent) {
        const doubles t = exponent * detail::log2_of(base);
        return detail::exp2_of(xsimd::min(xsimd::max(t, doubles(-200.0)), doubles(200.0)));
      },
      x, y);
  return detail::mended(
      ~plain, xsimd::select(none, zero, result), [](float a, float b) { return std::pow(a, b); }, x,
      y);
}

/// sqrt(x^2 + y^2), infinite also where the other is NaN.
inline batch<float> hypot(const batch<float>& x, const batch<float>& y) {
  using detail::doubles;
  const batch<float> result = detail::by_double(
      [](const doubles& a, const doubles& b) { return detail::sqrt_of(lane::fma(a, a, b * b)); }, x,
      y);
  const batch<float> infinity(std::numeric_limits<float>::infinity());
  return xsimd::select((xsimd::abs(x) == infinity) | (xsimd::abs(y) == infinity), infinity, result);
}

/// The root of the sum of squares, but where these are beyond what double has, lane by lane.
template <class A>
xsimd::batch<double, A> hypot(const xsimd::batch<double, A>& x, const xsimd::batch<double, A>& y) {
  using B = xsimd::batch<double, A>;
  const B a = xsimd::abs(x);
  const B b = xsimd::abs(y);
  const B larger = xsimd::max(a, b);
  const B smaller = xsimd::min(a, b);
  const B result = xsimd::sqrt(lane::fma(larger, larger, B(smaller * smaller)));
  // NaN is not below the bound: it is the larger one, or makes the other so.
  const auto plain = (larger > B(0x1p-450)) & (a < B(0x1p510)) & (b < B(0x1p510));
  return detail::mended(
      ~plain, result, [](double v, double w) { return std::hypot(v, w); }, x, y);
}

/// 1 - erf(x), within 0.51 units in the last place: exp(-x^2) p((|x| - 2)/(|x| + 2)), or 2 less
/// that, scripts/reference/erf.py.
inline batch<float> erfc(const batch<float>& x) {
  using detail::doubles;
  static constexpr double p[] = {
      0.25539567631096477,    -0.427185847469041,     0.24165819415530918,
      -0.07897857795556708,   0.0037328958535365387,  0.006997413125505936,
      -0.000847198722236997,  -0.0009816472911990148, 4.39809614265398e-05,
      0.0001733010202043016,  2.5872358992852486e-05, -2.612320298704032e-05,
      -1.076083449762705e-05, 1.2402688434592926e-06, 1.0984147617997846e-06};
  return detail::by_double(
      [](const doubles& v) {
        // From 10.1 on it is 0; NaN is not above that, and stays.
        const doubles size =
            xsimd::select(xsimd::abs(v) > doubles(10.1), doubles(10.1), xsimd::abs(v));
        const doubles above = detail::exp2_of(size * size * doubles(-1.4426950408889634)) *
                              detail::polynomial((size - doubles(2.0)) / (size + doubles(2.0)), p);
        return xsimd::select(v < doubles(0.0), doubles(2.0) - above, above);
      },
      x);
}

}  // namespace topos::lane
