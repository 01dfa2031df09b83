// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The logarithm of lanes. Of float it is within 1.1 units in the last place, in some two thirds of
/// the time that xsimd's own takes; in half of it where lanes are AVX-512's.

#include <cmath>
#include <cstdint>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

namespace topos::lane {

namespace detail {

/// log(2^k (1 + r)) = k log 2 + r + r^2 p(r), where 1 + r is in [2/3, 4/3): p is the polynomial of
/// least relative error of the sum, scripts/reference/log.py. What is not a normal positive number
/// is left to the standard library.
template <class A>
xsimd::batch<float, A> log_of_floats(const xsimd::batch<float, A>& x) {
  using B = xsimd::batch<float, A>;
  using I = xsimd::batch<std::int32_t, A>;
  static constexpr float p[] = {-0.5F,       0.33333209F,  -0.24999717F, 0.20010747F, -0.16682306F,
                                0.14001161F, -0.12167154F, 0.14004757F,  -0.12948966F};
  const I bits = lane::bits_as<std::int32_t>(x);
  const I above = bits - I(0x3f2aaaab);  // those of 2/3
  const B k = xsimd::to_float(above >> 23);
  const B r = lane::bits_as<float>(bits - (above & I(-0x800000))) - B(1.0F);
  // In pairs, so that the sums do not all wait for one another.
  const B r2 = r * r;
  const B r4 = r2 * r2;
  const B p01 = lane::fma(B(p[1]), r, B(p[0]));
  const B p23 = lane::fma(B(p[3]), r, B(p[2]));
  const B p45 = lane::fma(B(p[5]), r, B(p[4]));
  const B p67 = lane::fma(B(p[7]), r, B(p[6]));
  const B low = lane::fma(p23, r2, p01);
  const B high = lane::fma(lane::fma(B(p[8]), r2, p67), r2, p45);
  const B sum = lane::fma(lane::fma(high, r4, low), r2, r);
  const B result = lane::fma(k, B(0.693147182F), sum);
  const auto beyond = lane::bits_as<std::uint32_t>(bits - I(0x00800000)) >=
                      xsimd::batch<std::uint32_t, A>(0x7f000000U);
  return mended(
      lane::mask_cast<float>(beyond), result, [](float v) { return std::log(v); }, x);
}

#ifdef __AVX512F__
/// log(2^k m) = k log 2 - log c + log(1 + r), where m is in [3/4, 3/2), c near 1 / m and
/// 1 + r = c m: c and its logarithm by the first four digits of m (P. T. P. Tang, ACM Trans. Math.
/// Softw. 16 (1990) 378), r + r^2 p(r) as above; scripts/reference/log.py. Where m is near 1, c is.
/// What is not a normal positive number comes out right by itself.
template <class A>
xsimd::batch<float, A> log_by_table(const xsimd::batch<float, A>& x) {
  // clang-format off
  alignas(64) static constexpr float c[16] = {
      1.0F, 0.913425744F, 0.86409837F, 0.821119666F, 0.781135321F, 0.744657218F,
      0.710069656F, 0.680412114F, 1.30795872F, 1.25516284F, 1.20658553F, 1.16188884F,
      1.12070227F, 1.08585131F, 1.04751098F, 1.0F};
  alignas(64) static constexpr float minus_log_c[16] = {
      0.0F, 0.0905531943F, 0.146068662F, 0.197086424F, 0.247006878F, 0.294831276F,
      0.342392206F, 0.385056615F, -0.268467695F, -0.227265313F, -0.187794492F, -0.150046989F,
      -0.113955513F, -0.0823642984F, -0.0464168563F, 0.0F};
  // clang-format on
  using B = xsimd::batch<float, A>;
  const B m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  const B k = B(_mm512_getexp_ps(x)) - B(_mm512_getexp_ps(m));
  const __m512i digits = _mm512_srli_epi32(_mm512_castps_si512(m), 19);  // and more, unused
  const B r = lane::fma(m, B(_mm512_permutexvar_ps(digits, _mm512_load_ps(c))), B(-1.0F));
  const B p01 = lane::fma(B(0.333344519F), r, B(-0.5F));
  const B p23 = lane::fma(B(0.18846035F), r, B(-0.250061035F));
  const B r2 = r * r;
  const B of_r = lane::fma(lane::fma(p23, r2, p01), r2, r);
  const B of_m = B(_mm512_permutexvar_ps(digits, _mm512_load_ps(minus_log_c))) + of_r;
  return lane::fma(k, B(0.693147182F), of_m);
}
#endif

}  // namespace detail

template <class T, class A>
xsimd::batch<T, A> log(const xsimd::batch<T, A>& x) {
#ifdef __AVX512F__
  if constexpr (std::is_same_v<T, float> && sizeof(x) == 64) return detail::log_by_table(x);
#endif
  if constexpr (std::is_same_v<T, float>)
    return detail::log_of_floats(x);
  else
    return detail::mended_where_denormal(
        x, [](const auto& v) { return xsimd::log(v); }, [](T v) { return std::log(v); });
}

}  // namespace topos::lane
