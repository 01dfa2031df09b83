// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Exponentials of lanes: exp and exp2 within 1.02 units in the last place, denormal results too.
/// xsimd's own give infinity and 0 early, and take longer.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

namespace topos::lane {

namespace detail {

/// Numbers of T and their bits, for exponentials.
template <class T>
struct exponents;
template <>
struct exponents<float> {
  using word = std::uint32_t;
  static constexpr int bits = 23;  // of a mantissa
  static constexpr word bias = 127;
  static constexpr float to_whole = 0x1.8p+23F;  // to add it rounds to a whole number
  static constexpr float least = -151.0F;        // powers of 2 up to here are 0
  static constexpr float most = 128.0F;          // and from here on infinite
};
template <>
struct exponents<double> {
  using word = std::uint64_t;
  static constexpr int bits = 52;
  static constexpr word bias = 1023;
  static constexpr double to_whole = 0x1.8p+52;
  static constexpr double least = -1076.0;
  static constexpr double most = 1024.0;
};

/// x between two numbers; NaN stays.
template <class B>
[[nodiscard, gnu::always_inline]] inline B held_between(const B& least, const B& most, const B& x) {
  return xsimd::min(most, xsimd::max(least, x));
}

/// The nearest whole number, plus `to_whole`.
template <class T, class A>
struct whole_part {
  using B = xsimd::batch<T, A>;
  B shifted;

  [[nodiscard]] B value() const { return shifted - B(exponents<T>::to_whole); }

  /// x 2^n, rounded once, of x near 1.
  [[nodiscard, gnu::always_inline]] B scaled(const B& x) const {
#ifdef __AVX512F__
    if constexpr (sizeof(x.data) == 64 && std::is_same_v<T, float>)
      return _mm512_scalef_ps(x, value());
    else if constexpr (sizeof(x.data) == 64)
      return _mm512_scalef_pd(x, value());
    else
#endif
      return scaled_in_halves(x);
  }

  /// The same where that is not denormal and finite: n is added to the exponent.
  [[nodiscard, gnu::always_inline]] B scaled_to_normal(const B& x) const {
    using number = exponents<T>;
    using words = xsimd::batch<typename number::word, A>;
    return lane::bits_as<T>(words(lane::bits_as<typename number::word>(x) +
                                  (lane::bits_as<typename number::word>(shifted) << number::bits)));
  }

 private:
  // By two powers of 2, neither of which is beyond what T has.
  [[nodiscard]] B scaled_in_halves(const B& x) const {
    using number = exponents<T>;
    using words = xsimd::batch<typename number::word, A>;
    const words of_whole = lane::bits_as<typename number::word>(B(number::to_whole));
    const words both =
        lane::bits_as<typename number::word>(shifted) - of_whole + words(2 * number::bias);
    const words one = both >> 1;
    const words other = both - one;
    return x * lane::bits_as<T>(words(one << number::bits)) *
           lane::bits_as<T>(words(other << number::bits));
  }
};

/// A polynomial, the constant coefficient first.
template <class B, class T, std::size_t Count>
[[gnu::always_inline]] inline B polynomial(const B& x, const T (&coefficients)[Count]) {
  B result(coefficients[Count - 1]);
  for (std::size_t i = Count - 1; i-- > 0;) result = lane::fma(result, x, B(coefficients[i]));
  return result;
}

/// Where exp(x) is 0, and where it is infinite.
template <class T>
inline constexpr T least_exponent = exponents<T>::least* static_cast<T>(0.69314718055994530942);
template <class T>
inline constexpr T most_exponent = exponents<T>::most* static_cast<T>(0.69314718055994530942) +
                                   T(1);

/// x, but not further than that.
template <class T, class A>
[[nodiscard, gnu::always_inline]] inline xsimd::batch<T, A> within_exponents(
    const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  return held_between(B(least_exponent<T>), B(most_exponent<T>), x);
}

/// exp(x) as 2^n (1 + rest), where x = n log 2 + r, |r| <= log(2) / 2 and rest = r + r^2 p(r).
template <class T, class A>
struct exp_parts {
  whole_part<T, A> n;
  xsimd::batch<T, A> rest;
  xsimd::batch<T, A> lost;  // of the rest, as it was rounded
};

/// Of x between numbers whose exponentials T has. n log 2 is taken from it in two parts, the first
/// of which has so few digits that its product with n is exact: W. J. Cody and W. Waite, "Software
/// manual for the elementary functions", 1980.
template <class T, class A>
[[nodiscard, gnu::always_inline]] inline exp_parts<T, A> parts_of_exp(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  constexpr bool narrow = std::is_same_v<T, float>;
  // scripts/reference/exp.py
  static constexpr float p_narrow[] = {0.499999934F, 0.166665201F, 0.041668394F, 0.00836877873F,
                                       0.00138144723F};
  static constexpr double p_wide[] = {
      0.50000000000000107,   0.1666666666666641,     0.041666666666529214, 0.0083333333334955939,
      0.0013888888943914991, 0.00019841269504810145, 2.48014927715779e-5,  2.7557587320295692e-6,
      2.7630375218814712e-7, 2.4999966535391866e-8};
  constexpr T log2_e = static_cast<T>(1.44269504088896340736);
  constexpr T log_2_high = narrow ? T(0.693359375) : T(6.93145751953125e-1);
  constexpr T log_2_low = narrow ? T(-2.12194440e-4) : T(1.42860682030941723212e-6);

  const whole_part<T, A> n{lane::fma(x, B(log2_e), B(exponents<T>::to_whole))};
  const B whole = n.value();
  const B most = lane::fma(whole, B(-log_2_high), x);
  const B r = lane::fma(whole, B(-log_2_low), most);
  const B p = [&] {
    if constexpr (narrow)
      return polynomial(r, p_narrow);
    else
      return polynomial(r, p_wide);
  }();
  const B square = r * r;
  const B rest = lane::fma(p, square, r);
  const B lost = lane::fma(whole, B(-log_2_low), B(most - r)) + lane::fma(p, square, B(r - rest));
  return {n, rest, lost};
}

/// 2^(n + r) = 2^n (1 + r p(r)), where |r| <= 1/2.
template <class T, class A>
struct exp2_parts {
  whole_part<T, A> n;
  xsimd::batch<T, A> near_1;
};

/// Of x between numbers that T has powers of 2 of.
template <class T, class A>
[[nodiscard, gnu::always_inline]] inline exp2_parts<T, A> parts_of_exp2(
    const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  // scripts/reference/exp.py
  static constexpr float p_narrow[] = {0.693147215F,   0.240226528F,   0.0555031014F,
                                       0.00961769121F, 0.00134067933F, 0.000155950635F};
  static constexpr double p_wide[] = {
      0.6931471805599457,    0.24022650695910098,    0.055504108664790149,  0.0096181291076068341,
      0.0013333558153481373, 0.00015403530441855235, 1.5252727359856139e-5, 1.3215442502655947e-6,
      1.0180652745232905e-7, 7.0726049571995821e-9,  4.0780702417933337e-10};
  const whole_part<T, A> n{x + B(exponents<T>::to_whole)};
  const B r = x - n.value();
  const B p = [&] {
    if constexpr (std::is_same_v<T, float>)
      return polynomial(r, p_narrow);
    else
      return polynomial(r, p_wide);
  }();
  return {n, lane::fma(p, r, B(T(1)))};
}

}  // namespace detail

namespace detail {

// Powers of any x.
template <class T, class A>
[[nodiscard, gnu::noinline]] xsimd::batch<T, A> exp_anywhere(const xsimd::batch<T, A>& x) {
  const auto e = parts_of_exp(within_exponents(x));
  return e.n.scaled(e.rest + xsimd::batch<T, A>(T(1)));
}
template <class T, class A>
[[nodiscard, gnu::noinline]] xsimd::batch<T, A> exp2_anywhere(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  const auto e = parts_of_exp2(held_between(B(exponents<T>::least), B(exponents<T>::most), x));
  return e.n.scaled(e.near_1);
}

/// `power(x)` where x is no further from 0 than `far`, 0 below `least`, infinite above `most`, and
/// `anywhere(x)` if some x is anywhere else: products that are nearly 0 take processors longer than
/// all the rest, and the numbers that masks put in are far below.
template <class T, class A, class Power, class Anywhere>
[[nodiscard, gnu::always_inline]] inline xsimd::batch<T, A> power_of(T far, T least, T most,
                                                                     const xsimd::batch<T, A>& x,
                                                                     const Power& power,
                                                                     const Anywhere& anywhere) {
  using B = xsimd::batch<T, A>;
  const B near = held_between(B(-far), B(far), x);
  const B result = power(near);
  const auto is_near = near == x;
  if (xsimd::all(is_near)) [[likely]]
    return result;
  const auto is_zero = x < B(least);
  const auto is_infinite = x > B(most);
  if (!xsimd::all(is_near | is_zero | is_infinite)) [[unlikely]]
    return anywhere(x);
  return xsimd::select(is_zero, B(T(0)),
                       xsimd::select(is_infinite, B(std::numeric_limits<T>::infinity()), result));
}

}  // namespace detail

template <class T, class A>
[[gnu::always_inline]] inline xsimd::batch<T, A> exp(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  if constexpr (sizeof(x.data) == 64) {
    const auto e = detail::parts_of_exp(detail::within_exponents(x));
    return e.n.scaled(e.rest + B(T(1)));
  } else {
    constexpr T far = sizeof(T) == 4 ? T(87) : T(708);  // where powers are normal
    const auto power = [](const B& y) __attribute__((always_inline)) {
      const auto e = detail::parts_of_exp(y);
      return e.n.scaled_to_normal(e.rest + B(T(1)));
    };
    return detail::power_of(far, detail::least_exponent<T>, detail::most_exponent<T>, x, power,
                            [](const B& y) { return detail::exp_anywhere(y); });
  }
}

template <class T, class A>
[[gnu::always_inline]] inline xsimd::batch<T, A> exp2(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  using number = detail::exponents<T>;
  if constexpr (sizeof(x.data) == 64) {
    const auto e =
        detail::parts_of_exp2(detail::held_between(B(number::least), B(number::most), x));
    return e.n.scaled(e.near_1);
  } else {
    constexpr T far = sizeof(T) == 4 ? T(126) : T(1022);
    const auto power = [](const B& y) __attribute__((always_inline)) {
      const auto e = detail::parts_of_exp2(y);
      return e.n.scaled_to_normal(e.near_1);
    };
    return detail::power_of(far, number::least, number::most, x, power,
                            [](const B& y) { return detail::exp2_anywhere(y); });
  }
}

/// exp(x) - 1 = 2^n rest + (2^n - 1): within 1.5 units in the last place. Of double these nearly
/// cancel where 2^n is 2 or 1/2, but for what was lost within 1.2 units.
template <class T, class A>
xsimd::batch<T, A> expm1(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  // Below -50 it is -1, and 2^n no number that takes long.
  const auto e =
      detail::parts_of_exp(detail::held_between(B(T(-50)), B(detail::most_exponent<T>), x));
  const B power = e.n.scaled(B(T(1)));
  B sum = lane::fma(power, e.rest, B(power - B(T(1))));
  if constexpr (std::is_same_v<T, double>) sum = lane::fma(power, e.lost, sum);
  const B result = xsimd::copysign(sum, x);
  const auto large = x > B(sizeof(T) == 4 ? T(88) : T(709));  // where 2^n may be infinite
  if (!xsimd::any(large)) [[likely]]
    return result;
  return xsimd::select(large, detail::exp_anywhere(x), result);
}

/// x + x^3 p(x^2) near 0, elsewhere 1 - 2 / (exp(2 |x|) + 1) with the sign of x: within 1.4 units
/// in the last place.
template <class T, class A>
[[gnu::always_inline]] inline xsimd::batch<T, A> tanh(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  // scripts/reference/exp.py
  static constexpr float p_narrow[] = {-0.333332819F, 0.133314422F, -0.0537397151F, 0.0206390873F,
                                       -0.00570498709F};
  static constexpr double p_wide[] = {
      -0.33333333333332855,   0.13333333333262091,    -0.053968253931267695,
      0.021869487576094466,   -0.0088632210026273367, 0.0035919891737730852,
      -0.0014549588776922912, 0.00058631653913891539, -0.00022856420828452109,
      7.714436301997265e-5,   -1.6072567733334931e-5};
  const B square = x * x;
  const B p = [&] {
    if constexpr (std::is_same_v<T, float>)
      return detail::polynomial(square, p_narrow);
    else
      return detail::polynomial(square, p_wide);
  }();
  const B near = lane::fma(lane::rounded(B(x * square)), p, x);

  const B one(T(1));
  const B size = xsimd::abs(x);
  const B most(sizeof(T) == 4 ? T(20) : T(40));  // of which it is 1
  const auto e = detail::parts_of_exp(xsimd::min(most, B(size + size)));
  const B above = e.n.scaled_to_normal(e.rest + one);
  const B far = one - B(T(2)) / (above + one);
  // NaN is not 5/8 or more, and stays NaN near 0.
  return xsimd::copysign(xsimd::select(size >= B(T(0.625)), far, near), x);
}

}  // namespace topos::lane
