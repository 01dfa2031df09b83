// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Logarithms of lanes. The natural one of float is within 1.11 units in the last place, in some
/// two thirds of the time that xsimd's own takes; those to base 2 and 10 are xsimd's own. By AVX2
/// with FMA all of float take half of that or somewhat more, are within 1.25 and 1.4 units to base
/// 2 and 10, and exact of powers of the base; where lanes are AVX-512's, those of double and the
/// natural one of float take half of it, of double within 1.6 units and exact of powers of the
/// base.

#include <cmath>
#include <cstdint>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

namespace topos::lane {

namespace detail {

#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
// clang-format off
/// Logarithms of floats to a base: c near 1 / m, and the logarithm of 1 / c, of the eight intervals
/// of m in [23/32, 23/16) about multiples of 1/16 below 1 and of 1/8 from there on; logarithms of e
/// and of 2 in two parts; the first of 2 to base 10 has so few digits that its multiples are exact.
struct floats_to_base_e {
  alignas(32) static constexpr float c[8] = {1.33256745F, 1.23096991F, 1.14280593F, 1.06441796F,
      1.0F, 0.889368832F, 0.800120592F, 0.728164136F};
  alignas(32) static constexpr float minus_log_c[8] = {-0.287107497F, -0.2078024F, -0.133486584F,
      -0.0624281317F, 0.0F, 0.117243245F, 0.222992823F, 0.317228794F};
  static constexpr float of_e[] = {1.0F, 0.0F};
  static constexpr float of_2[] = {0.693147182F, 0.0F};
};
struct floats_to_base_2 {
  alignas(32) static constexpr float c[8] = {1.33220422F, 1.23007882F, 1.1440295F, 1.06877553F,
      1.0F, 0.889616013F, 0.798933804F, 0.726142228F};
  alignas(32) static constexpr float minus_log_c[8] = {-0.41381526F, -0.298750758F, -0.194124252F,
      -0.0959588885F, 0.0F, 0.168745339F, 0.323852122F, 0.461675942F};
  static constexpr float of_e[] = {1.44269502F, 1.92596303e-08F};
  static constexpr float of_2[] = {1.0F, 0.0F};
};
struct floats_to_base_10 {
  alignas(32) static constexpr float c[8] = {1.33304274F, 1.22908568F, 1.14158738F, 1.06838059F,
      1.0F, 0.888592899F, 0.800960422F, 0.726614773F};
  alignas(32) static constexpr float minus_log_c[8] = {-0.124844074F, -0.0895821601F,
      -0.0575091578F, -0.028725991F, 0.0F, 0.0512971617F, 0.0963889435F, 0.138695776F};
  static constexpr float of_e[] = {0.434294492F, -1.010305e-08F};
  static constexpr float of_2[] = {0.301025391F, 4.60503907e-06F};
};
// clang-format on

/// The bits of the least m: of 23/32.
inline constexpr std::int32_t least_m = 0x3f380000;

/// log(2^k m) = k log 2 + log(1 + r) - log c, where 1 + r = c m: r + r^2 p(r) as below, of
/// fewer terms. As r is small beside c m, it must be rounded once. `above` is how far the bits of m
/// are above those of the least one, and more by multiples of 2^23.
template <class Base, class A>
xsimd::batch<float, A> log_of_parts(const xsimd::batch<float, A>& k,
                                    const xsimd::batch<float, A>& m,
                                    const xsimd::batch<std::int32_t, A>& above) {
  using B = xsimd::batch<float, A>;
  const __m256i interval = _mm256_srli_epi32(above.data, 20);  // and more, unused
  const auto of = [&](const float* table) {
    return B(_mm256_permutevar8x32_ps(_mm256_load_ps(table), interval));
  };
  const B r = lane::fma(m, of(Base::c), B(-1.0F));
  const B p01 = lane::fma(B(0.33333841F), r, B(-0.499999434F));
  const B p23 = lane::fma(B(0.198066622F), r, B(-0.250689507F));
  const B r2 = r * r;
  const B p = lane::fma(p23, r2, p01);
  const auto of_e = [&] {
    if constexpr (Base::of_e[0] == 1.0F) return lane::fma(p, r2, r);
    const B first(Base::of_e[0]);
    return lane::fma(r, first, lane::fma(p * r2, first, r * B(Base::of_e[1])));
  };
  const auto of_r = [&] {
    if constexpr (Base::of_2[1] == 0.0F) return of_e();
    return lane::fma(k, B(Base::of_2[1]), of_e());
  };
  return lane::fma(k, B(Base::of_2[0]), of(Base::minus_log_c) + of_r());
}
#else
struct floats_to_base_e {};

/// The bits of the least m: of 2/3.
inline constexpr std::int32_t least_m = 0x3f2aaaab;

/// log(2^k m) = k log 2 + log(1 + r) = k log 2 + r + r^2 p(r), where m is in [2/3, 4/3): p is the
/// polynomial of least relative error of log(1 + r), scripts/reference/log.py.
template <class Base, class A>
xsimd::batch<float, A> log_of_parts(const xsimd::batch<float, A>& k,
                                    const xsimd::batch<float, A>& m,
                                    const xsimd::batch<std::int32_t, A>& /*above*/) {
  using B = xsimd::batch<float, A>;
  static constexpr float p[] = {-0.5F,       0.33333209F,  -0.24999717F, 0.20010747F, -0.16682306F,
                                0.14001161F, -0.12167154F, 0.14004757F,  -0.12948966F};
  const B r = m - B(1.0F);
  // In pairs, so that the sums do not all wait for one another.
  const B r2 = r * r;
  const B r4 = r2 * r2;
  const B p01 = lane::fma(B(p[1]), r, B(p[0]));
  const B p23 = lane::fma(B(p[3]), r, B(p[2]));
  const B p45 = lane::fma(B(p[5]), r, B(p[4]));
  const B p67 = lane::fma(B(p[7]), r, B(p[6]));
  const B low = lane::fma(p23, r2, p01);
  const B high = lane::fma(lane::fma(B(p[8]), r2, p67), r2, p45);
  return lane::fma(k, B(0.693147182F), lane::fma(lane::fma(high, r4, low), r2, r));
}
#endif

/// What is not a normal positive number is left to the standard library, `one`.
template <class Base, class A, class One>
xsimd::batch<float, A> log_of_floats(const xsimd::batch<float, A>& x, One one) {
  using B = xsimd::batch<float, A>;
  using I = xsimd::batch<std::int32_t, A>;
  const I bits = lane::bits_as<std::int32_t>(x);
  const I above = bits - I(least_m);
  const B k = xsimd::to_float(above >> 23);
  const B m = lane::bits_as<float>(bits - (above & I(-0x800000)));
  // Normal positive numbers have the bits from 2^23 on up to those of infinity: so one comparison
  // of signed integers finds all others.
  const auto other = bits + I(0x7f800000) > I(-0x1000001);
  return mended(lane::mask_cast<float>(other), log_of_parts<Base>(k, m, above), one, x);
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

// clang-format off
/// Logarithms to a base: of 1 / c for c as below, almost doubles; of e and of 2 in two parts, of
/// which the first of 2 has so few digits that its multiples are exact.
struct base_e {
  alignas(64) static constexpr double minus_log_c[16] = {
      0.0, 0.08961215868967927, 0.14518200984450375, 0.19782574332722971,
      0.24783616390458094, 0.2954642128945505, 0.3409265869686794, 0.38441169890942706,
      -0.26706278525243043, -0.22705745063613647, -0.18859116980740895, -0.15154989812341255,
      -0.11583181552118764, -0.08134563944989366, -0.048009219190547035, 0.0};
  static constexpr double of_e[] = {1.0, 0.0};
  static constexpr double of_2[] = {0.693147180559663, 2.8235290563031577e-13};
};
struct base_2 {
  alignas(64) static constexpr double minus_log_c[16] = {
      0.0, 0.12928301694495511, 0.20945336562895822, 0.28540221885836725,
      0.35755200461808323, 0.4262647547031289, 0.49185309632691365, 0.5545888516763318,
      -0.3852901558896756, -0.3275746580296447, -0.2720795454365973, -0.2186402864698749,
      -0.16710998582958267, -0.11735695063230321, -0.06926266244315346, 0.0};
  static constexpr double of_e[] = {1.4426950408889634, 2.0355273740931033e-17};
  static constexpr double of_2[] = {1.0, 0.0};
};
struct base_10 {
  alignas(64) static constexpr double minus_log_c[16] = {
      0.0, 0.038918066030366245, 0.06305174574709156, 0.0859146287054249,
      0.10763387839982938, 0.1283184772599909, 0.14806253545460654, 0.16694787961541846,
      -0.11598389395684368, -0.09860979788629406, -0.08190410438303686, -0.06581728448799805,
      -0.05030511830968723, -0.03532796233998029, -0.02085013897493828, 0.0};
  static constexpr double of_e[] = {0.4342944819032518, 1.098319650216765e-17};
  static constexpr double of_2[] = {0.30102999566361177, 3.694239077158931e-13};
};
// clang-format on

/// The same of double.
template <class Base, class A>
xsimd::batch<double, A> log_of_doubles(const xsimd::batch<double, A>& x) {
  // clang-format off
  alignas(64) static constexpr double c[16] = {
      1.0, 0.9142857142857215, 0.8648648648648598, 0.8205128205150278,
      0.780487804878049, 0.7441860465110961, 0.711111111112472, 0.6808510638304034,
      1.3061224489840133, 1.2549019607853056, 1.2075471698111504, 1.1636363636319553,
      1.1228070175394425, 1.0847457627074617, 1.0491803278732448, 1.0};
  static constexpr double p[] = {
      -0.5, 0.33333333333333376, -0.25000000000018174, 0.1999999999980953,
      -0.16666666590130597, 0.14285713842652514, -0.12500104591721953, 0.11112868129847008,
      -0.09961767832849687, 0.07922051730045795};
  // clang-format on
  using B = xsimd::batch<double, A>;
  const B m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  const B k = B(_mm512_getexp_pd(x)) - B(_mm512_getexp_pd(m));
  const __m512i digits = _mm512_srli_epi64(_mm512_castpd_si512(m), 48);  // and more, unused
  const auto of = [&](const double* table) {
    return B(_mm512_permutex2var_pd(_mm512_load_pd(table), digits, _mm512_load_pd(table + 8)));
  };
  const B r = lane::fma(m, of(c), B(-1.0));
  const B r2 = r * r;
  const B r4 = r2 * r2;
  const auto pair = [&](int i) { return lane::fma(B(p[i + 1]), r, B(p[i])); };
  const B low = lane::fma(pair(2), r2, pair(0));
  const B high = lane::fma(pair(8), r4, lane::fma(pair(6), r2, pair(4)));
  const B rest = r2 * lane::fma(high, r4, low);
  B of_r = r + rest;
  if constexpr (Base::of_e[0] != 1.0) {
    const B of_e(Base::of_e[0]);
    of_r = lane::fma(r, of_e, lane::fma(rest, of_e, r * B(Base::of_e[1])));
  }
  if constexpr (Base::of_2[0] == 1.0)
    return k + (of(Base::minus_log_c) + of_r);
  else
    return lane::fma(k, B(Base::of_2[0]),
                     of(Base::minus_log_c) + lane::fma(k, B(Base::of_2[1]), of_r));
}
#endif

}  // namespace detail

template <class T, class A>
xsimd::batch<T, A> log(const xsimd::batch<T, A>& x) {
#ifdef __AVX512F__
  if constexpr (sizeof(x) == 64) {
    if constexpr (std::is_same_v<T, float>)
      return detail::log_by_table(x);
    else
      return detail::log_of_doubles<detail::base_e>(x);
  }
#endif
  if constexpr (std::is_same_v<T, float>)
    return detail::log_of_floats<detail::floats_to_base_e>(x, [](float v) { return std::log(v); });
  else
    return detail::mended_where_denormal(
        x, [](const auto& v) { return xsimd::log(v); }, [](T v) { return std::log(v); });
}

template <class T, class A>
xsimd::batch<T, A> log2(const xsimd::batch<T, A>& x) {
#ifdef __AVX512F__
  if constexpr (std::is_same_v<T, double> && sizeof(x) == 64)
    return detail::log_of_doubles<detail::base_2>(x);
  else
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::is_same_v<T, float>)
    return detail::log_of_floats<detail::floats_to_base_2>(x, [](float v) { return std::log2(v); });
  else
#endif
    return detail::mended_where_denormal(
        x, [](const auto& v) { return xsimd::log2(v); }, [](T v) { return std::log2(v); });
}

template <class T, class A>
xsimd::batch<T, A> log10(const xsimd::batch<T, A>& x) {
#ifdef __AVX512F__
  if constexpr (std::is_same_v<T, double> && sizeof(x) == 64)
    return detail::log_of_doubles<detail::base_10>(x);
  else
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::is_same_v<T, float>)
    return detail::log_of_floats<detail::floats_to_base_10>(x,
                                                            [](float v) { return std::log10(v); });
  else
#endif
    return detail::mended_where_denormal(
        x, [](const auto& v) { return xsimd::log10(v); }, [](T v) { return std::log10(v); });
}

}  // namespace topos::lane
