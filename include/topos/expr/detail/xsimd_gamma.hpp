// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The gamma function of float lanes and its logarithm, in lanes of double.

#include <cmath>
#include <limits>
#include <topos/expr/detail/xsimd_by_double.hpp>
#include <topos/expr/detail/xsimd_lanes.hpp>

namespace topos::lane {

namespace detail {

/// The logarithm to base 2 of gamma(x) of positive numbers, to some 32 bits; also near its zeros,
/// 1 and 2. (x - 2) p(x - 2) in [1, 3); below 1.5, gamma(x) is gamma(x + 1) / x; from 3 on
/// Stirling's formula. scripts/reference/gamma.py.
inline doubles log2_of_gamma(const doubles& x) {
  static constexpr double near[] = {
      0.6099488636120962,      0.46522158974300243,    -0.0971688306132578,
      0.02969184115516702,     -0.010655103033765831,  0.004169974086519221,
      -0.001720708324764721,   0.0007362270788260747,  -0.00032238680741302584,
      0.00014048585271164292,  -6.338607276123922e-05, 3.49778311831545e-05,
      -1.6184946405591787e-05, 9.94952559713684e-07,   -4.122696561238467e-07,
      3.909282649726236e-06,   -1.8515357838747977e-06};
  static constexpr double far[] = {0.12022458578755865, -0.004007209872109664,
                                   0.0011321093624279178, -0.0006556014807844239};
  const doubles one(1.0);
  const doubles logarithm = log2_of(x);
  const auto is_small = x < doubles(1.5);
  const doubles r = xsimd::min(doubles(3.0), x) - xsimd::select(is_small, one, doubles(2.0));
  const doubles below = xsimd::select(is_small, logarithm, doubles(0.0));
  const doubles of_near = lane::fma(r, polynomial(r, near), -below);
  if (!xsimd::any(x >= doubles(3.0))) return of_near;
  const doubles inverse = one / x;
  const doubles rest =
      lane::fma(inverse, polynomial(inverse * inverse, far), doubles(1.3257480647361595));
  const doubles of_far =
      lane::fma(x - doubles(0.5), logarithm, lane::fma(x, doubles(-1.4426950408889634), rest));
  return xsimd::select(x < doubles(3.0), of_near, of_far);
}

/// sin(pi x) of positive numbers, to some 35 bits.
inline doubles sine_of_half_turns(const doubles& x) {
  static constexpr double p[] = {3.141592653536132,  -5.167712764593,     2.550163317938427,
                                 -0.599252186531583, 0.08205035020147247, -0.007028303855203096};
  const doubles whole = lane::nearbyint(x);
  const doubles half = whole * doubles(0.5);
  const doubles r = x - whole;
  return xsimd::select(half == lane::nearbyint(half), r, -r) * polynomial(r * r, p);
}

/// |x|, but not further than where all that is made of it is beyond what float has.
inline doubles size_for_gamma(const doubles& x) {
  return xsimd::min(doubles(1e39), xsimd::abs(x));  // NaN stays
}

}  // namespace detail

/// The gamma function, within 0.51 units in the last place; NaN at -1, -2, ... and -infinity. Below
/// 0 by gamma(-x) gamma(x) = -pi / (x sin(pi x)).
inline batch<float> tgamma(const batch<float>& x) {
  using detail::doubles;
  const batch<float> result = detail::by_double(
      [](const doubles& v) {
        const doubles size = detail::size_for_gamma(v);
        const doubles t = detail::log2_of_gamma(size);
        const doubles of_size =
            detail::exp2_of(detail::held_between(doubles(-200.0), doubles(200.0), t));
        const auto is_negative = v < doubles(0.0);
        if (!xsimd::any(is_negative)) return of_size;
        const doubles sine = detail::sine_of_half_turns(size);
        const doubles mirrored = doubles(-3.141592653589793) / (size * sine * of_size);
        const doubles nan(std::numeric_limits<double>::quiet_NaN());
        return xsimd::select(is_negative, xsimd::select(sine == doubles(0.0), nan, mirrored),
                             of_size);
      },
      x);
  const batch<float> zero(0.0F);
  return xsimd::select(x == zero, batch<float>(1.0F) / x, result);
}

/// The logarithm of the absolute value of gamma(x), within 0.6 units in the last place; infinite
/// at 0, -1, -2, ... and -infinity. Near its zeros below 0 lane by lane.
inline batch<float> lgamma(const batch<float>& x) {
  using detail::doubles;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const batch<float> zero(0.0F);
  const batch<float> result = detail::by_double(
      [](const doubles& v) {
        const doubles size = detail::size_for_gamma(v);
        const doubles logarithm_of_2(0.6931471805599453);
        const doubles of_size = detail::log2_of_gamma(size) * logarithm_of_2;
        const doubles positive = xsimd::select(v == doubles(0.0), doubles(infinity), of_size);
        const auto is_negative = v < doubles(0.0);
        if (!xsimd::any(is_negative)) return positive;
        const doubles sine = xsimd::abs(detail::sine_of_half_turns(size));
        const doubles ratio = doubles(3.141592653589793) / (size * sine);
        const doubles mirrored = lane::fma(detail::log2_of(ratio), logarithm_of_2, -of_size);
        return xsimd::select(is_negative,
                             xsimd::select(sine == doubles(0.0), doubles(infinity), mirrored),
                             positive);
      },
      x);
  return detail::mended(
      (x < zero) & (xsimd::abs(result) < batch<float>(0x1p-6F)), result,
      [](float v) { return static_cast<float>(std::lgamma(static_cast<double>(v))); }, x);
}

}  // namespace topos::lane
