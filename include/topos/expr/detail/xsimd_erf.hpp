// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The error function of lanes. Of double it is within two units in the last place, where xsimd 8's
/// own is off by some seventy.

#include <cstddef>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

namespace topos::lane {

namespace detail {

/// A polynomial, the constant coefficient first.
template <class B, std::size_t Count>
B polynomial(const B& x, const double (&coefficients)[Count]) {
  B result(coefficients[Count - 1]);
  for (std::size_t i = Count - 1; i-- > 0;) result = lane::fma(result, x, B(coefficients[i]));
  return result;
}

/// x p(x^2) where |x| < 1, else +-(1 - exp(-x^2) q((|x| - 2)/(|x| + 2))), where erf(6) is 1. Both
/// polynomials go through Chebyshev nodes: scripts/reference/erf.py.
template <class A>
xsimd::batch<double, A> erf_of_doubles(const xsimd::batch<double, A>& x) {
  using B = xsimd::batch<double, A>;
  static constexpr double near[] = {
      1.1283791670955126,      -0.37612638903183543,   0.11283791670945006,
      -0.02686617064323777,    0.0052239776071164225,  -0.0008548325975389692,
      0.00012055294904839707,  -1.492473690741966e-05, 1.6447424703317362e-06,
      -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10};
  static constexpr double far[] = {
      0.25539567631050575,     -0.4271858474139579,    0.24165819424246987,
      -0.07897858101585253,    0.00373289240349224,    0.006997461747753573,
      -0.0008471431980760424,  -0.0009819773208131022, 4.3554202452705896e-05,
      0.00017436697232946864,  2.754312818566672e-05,  -2.7647305443610053e-05,
      -1.4067532694582058e-05, 1.820143195975009e-06,  3.917059299925389e-06};
  const B one(1.0);
  const B two(2.0);
  const B six(6.0);
  const B size = xsimd::abs(x);
  const B held = xsimd::select(size < six, size, six);
  const B rest = lane::exp(-(held * held)) * polynomial((held - two) / (held + two), far);
  const B tail = xsimd::select(x < B(0.0), rest - one, one - rest);
  // NaN is not 1 or more, and stays NaN in the first.
  return xsimd::select(size >= one, tail, x * polynomial(x * x, near));
}

}  // namespace detail

template <class T, class A>
xsimd::batch<T, A> erf(const xsimd::batch<T, A>& x) {
  if constexpr (std::is_same_v<T, double>)
    return detail::erf_of_doubles(x);
  else
    return xsimd::erf(x);
}

}  // namespace topos::lane
