// SPDX-License-Identifier: Apache-2.0
#pragma once

/// log, log(1 + x) and the inverse error function as XLA computes them on the CPU, operation by
/// operation, for one number on any device and for lanes on the host, with the same bits.
///
/// Arguments are what distributions need: log of positive normal numbers, log1p and erf_inv within
/// (-1, 1). The polynomials are those of Cephes (S. Moshier) for log and log1p, of fdlibm (K. Ng,
/// 1993; carried further, within 0.6 ulp, because XLA calls the C library) for double's log, and of
/// M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011).

#include <topos/core/config.hpp>
#include <topos/random/detail/real.hpp>

namespace topos::random::detail {

/// ((c0 * x + c1) * x + ...) with one rounding a step.
TOPOS_HOST_BRANCH
template <class V, class... C>
KOKKOS_FORCEINLINE_FUNCTION V horner(const V& x, real_of<V> c0, C... rest) {
  V sum = constant<V>(c0);
  ((sum = fused(sum, x, constant<V>(static_cast<real_of<V>>(rest)))), ...);
  return sum;
}

/// x = 2^exponent * mantissa, the mantissa within [sqrt(0.5), sqrt(2)).
template <class V>
struct scaled {
  V mantissa;
  V exponent;
};

TOPOS_HOST_BRANCH
template <class V>
KOKKOS_FORCEINLINE_FUNCTION scaled<V> split_exponent(const V& x) {
  using T = real_of<V>;
  using word = word_of<T>;
  constexpr bool wide = sizeof(T) == 8;
  constexpr int bits = wide ? 52 : 23;
  constexpr word fraction = (word{1} << bits) - 1;
  constexpr word half = wide ? word(0x3fe0000000000000U) : word(0x3f000000U);
  constexpr word counter = wide ? word(0x4330000000000000U) : word(0x4b000000U);  // 2^bits
  constexpr T bias = wide ? T(4503599627370496.0 + 1022) : T(8388608.0 + 126);

  const auto all = bits_as<word>(x);
  using words = std::remove_const_t<decltype(all)>;
  const V m = bits_as<T>(words((all & constant<words>(fraction)) | constant<words>(half)));
  const V e = bits_as<T>(words((all >> bits) | constant<words>(counter))) - constant<V>(bias);
  const auto low = m < constant<V>(T(0.707106781186547524));
  return {select(low, V(m + m), m), select(low, V(e - constant<V>(1)), e)};
}

/// log(x) of a positive normal float.
TOPOS_HOST_BRANCH
template <class V>
  requires(std::same_as<real_of<V>, float>)
KOKKOS_FORCEINLINE_FUNCTION V xla_log(const V& x) {
  const scaled<V> s = split_exponent(x);
  const V f = s.mantissa - constant<V>(1.0f);
  const V f2 = f * f;
  const V f3 = f2 * f;
  const V high = horner(f, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f);
  const V middle = horner(f, -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f);
  const V low = horner(f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  const V sum = fused(fused(high, f3, middle), f3, low);
  const V tail = fused(sum, f3, V(s.exponent * constant<V>(-2.12194440e-4f)));
  const V head = fused(constant<V>(-0.5f), f2, f);
  return fused(constant<V>(0.693359375f), s.exponent, V(head + tail));
}

/// log(x) of a positive normal double.
TOPOS_HOST_BRANCH
template <class V>
  requires(std::same_as<real_of<V>, double>)
KOKKOS_FORCEINLINE_FUNCTION V xla_log(const V& x) {
  const scaled<V> s = split_exponent(x);
  const V f = s.mantissa - constant<V>(1.0);
  const V q = f / (constant<V>(2.0) + f);
  const V z = q * q;
  const V rest =
      horner(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
             2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
             6.666666666666735130e-01);
  // k log(2) + f - f^2 / 2, and what rounding took from it; then the rest of the series.
  const V ln2 = constant<V>(6.93147180369123816490e-01);
  const V half = constant<V>(0.5) * f;
  const V square = fused(half, f, constant<V>(0.0));
  const V sum = fused(s.exponent, ln2, f);
  const V lost = f - fused(-s.exponent, ln2, sum);
  const V difference = sum - square;
  const V lost_too = sum - difference - square + fused(-half, f, square);
  const V tail = fused(s.exponent, constant<V>(1.90821492927058770002e-10), V(lost + lost_too));
  return difference + fused(q, fused(rest, z, square), tail);
}

/// log(1 + x) of x within (-1, 1).
TOPOS_HOST_BRANCH
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V xla_log1p(const V& x) {
  using T = real_of<V>;
  const V large = xla_log(V(x + constant<V>(1)));
  const V square = x * x;
  const V upper = horner(x, T(4.52700008624452e-05), T(0.49854102823193375), T(6.578732594206104),
                         T(29.911919328553072), T(60.94966798098779), T(57.11296359058554),
                         T(20.039553499201283));
  const V lower =
      horner(x, T(1), T(15.062909083469192), T(83.04756596796722), T(221.76239823732857),
             T(309.09872225312057), T(216.42788614495947), T(60.11866049760384));
  const V series = fused(constant<V>(T(-0.5)), square, V(x * square * (upper / lower)));
  return select(abs(x) < constant<V>(T(0.41421356237309504880)), V(x + series), large);
}

/// The inverse of the error function, of x within (-1, 1). (-x * x is spelt so that no compiler
/// takes the product into the sum that follows it.)
TOPOS_HOST_BRANCH
template <class V>
  requires(std::same_as<real_of<V>, float>)
KOKKOS_FORCEINLINE_FUNCTION V xla_erf_inv(const V& x) {
  const V w = -xla_log1p(fused(x, V(-x), constant<V>(0)));
  const V near = w - constant<V>(2.5f);
  V slope = horner(near, 2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f,
                   0.00021858087f, -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f);
  const auto is_far = w >= constant<V>(5.0f);
  if (any_of(is_far)) {
    const V far = sqrt(w) - constant<V>(3.0f);
    slope = select(is_far,
                   horner(far, -0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f,
                          0.00573950773f, -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f),
                   slope);
  }
  return slope * x;
}

TOPOS_HOST_BRANCH
template <class V>
  requires(std::same_as<real_of<V>, double>)
KOKKOS_FORCEINLINE_FUNCTION V xla_erf_inv(const V& x) {
  const V w = -xla_log1p(fused(x, V(-x), constant<V>(0)));
  V slope = horner(V(w - constant<V>(3.125)), -3.64441206401782e-21, -1.6850591381820166e-19,
                   1.28584807152564e-18, 1.1157877678025181e-17, -1.3331716628546209e-16,
                   2.0972767875968562e-17, 6.6376381343583238e-15, -4.0545662729752069e-14,
                   -8.1519341976054722e-14, 2.6335093153082323e-12, -1.2975133253453532e-11,
                   -5.4154120542946279e-11, 1.0512122733215323e-09, -4.1126339803469837e-09,
                   -2.9070369957882005e-08, 4.2347877827932404e-07, -1.3654692000834679e-06,
                   -1.3882523362786469e-05, 0.00018673420803405714, -0.000740702534166267,
                   -0.0060336708714301491, 0.24015818242558962, 1.6536545626831027);
  const auto is_far = w >= constant<V>(6.25);
  if (any_of(is_far)) {
    const V root = sqrt(w);
    const V far = horner(V(root - constant<V>(3.25)), 2.2137376921775787e-09,
                         9.0756561938885391e-08, -2.7517406297064545e-07, 1.8239629214389228e-08,
                         1.5027403968909828e-06, -4.013867526981546e-06, 2.9234449089955446e-06,
                         1.2475304481671779e-05, -4.7318229009055734e-05, 6.8284851459573175e-05,
                         2.4031110387097894e-05, -0.00035503752036284748, 0.0009532893797373805,
                         -0.0016882755560235047, 0.0024914420961078508, -0.0037512085075692412,
                         0.0053709145535900636, 1.0052589676941592, 3.0838856104922208);
    const V farthest =
        horner(V(root - constant<V>(5.0)), -2.7109920616438573e-11, -2.5556418169965252e-10,
               1.5076572693500548e-09, -3.789465440126737e-09, 7.61570120807834e-09,
               -1.496002662714924e-08, 2.9147953450901081e-08, -6.7711997758452339e-08,
               2.2900482228026655e-07, -9.9298272942317e-07, 4.5260625972231537e-06,
               -1.9681778105531671e-05, 7.5995277030017761e-05, -0.00021503011930044477,
               -0.00013871931833623122, 1.0103004648645344, 4.8499064014085844);
    slope = select(is_far, select(w >= constant<V>(16.0), farthest, far), slope);
  }
  return slope * x;
}

}  // namespace topos::random::detail
