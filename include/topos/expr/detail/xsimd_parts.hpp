// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of lanes of floating-point numbers, by their bits.

#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>

namespace topos::lane {

namespace detail {

/// How a floating-point number lies in its bits.
template <class T>
struct bits_of {
  using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr int digits = std::numeric_limits<T>::digits - 1;  // that it has in memory
  static constexpr integer bias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr integer exponent = (2 * bias + 1) << digits;
  // What is too small for this step down to be exact is 0 after it and one to below all normal.
  static constexpr integer exact_step = bias - digits - 4;
};

/// Where lanes are neither 0 nor denormal, infinite or NaN.
template <class T, class A>
xsimd::batch_bool<T, A> is_normal(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  const B size = xsimd::abs(x);
  return (size >= B(std::numeric_limits<T>::min())) & (size <= B(std::numeric_limits<T>::max()));
}

}  // namespace detail

/// x 2^e for integers of the size of x, rounded once: a power that is no normal number is reached
/// in steps, of which only the last may round, but where the result is 0.
template <class T, class A>
xsimd::batch<T, A> ldexp(const xsimd::batch<T, A>& x,
                         const xsimd::batch<typename detail::bits_of<T>::integer, A>& e) {
  using bits = detail::bits_of<T>;
  using B = xsimd::batch<typename bits::integer, A>;
  const auto times_power = [](const xsimd::batch<T, A>& y, const B& power) {
    return lane::rounded(y * lane::bits_as<T>((power + B(bits::bias)) << bits::digits));
  };
  const B most(bits::bias);
  const B least(1 - bits::bias);
  if (!xsimd::any((e > most) | (e < least))) [[likely]]
    return times_power(x, e);
  xsimd::batch<T, A> near = x;
  B rest = e;
  for (int step = 0; step < 2; ++step) {
    const B down = lane::select(rest < least, B(-bits::exact_step), B(0));
    const B by = lane::select(rest > most, most, down);
    near = times_power(near, by);
    rest = rest - by;
  }
  return times_power(near, xsimd::max(least, xsimd::min(most, rest)));
}

/// x as a number of [0.5, 1), or 0, infinite or NaN as x is, that a power of 2 makes x.
template <class T, class A>
xsimd::batch<T, A> significand(const xsimd::batch<T, A>& x) {
  using bits = detail::bits_of<T>;
  using I = xsimd::batch<typename bits::integer, A>;
  const I half((bits::bias - 1) << bits::digits);
  const auto result =
      lane::bits_as<T>((lane::bits_as<typename bits::integer>(x) & I(~bits::exponent)) | half);
  return detail::mended(
      ~detail::is_normal(x), result,
      [](T a) {
        int exponent = 0;
        return std::frexp(a, &exponent);
      },
      x);
}

/// The power that makes x of its significand, 0 where x is 0, infinite or NaN.
template <class A>
xsimd::batch<std::int32_t, A> exponent(const xsimd::batch<float, A>& x) {
  using I = xsimd::batch<std::int32_t, A>;
  const I above = lane::bits_as<std::int32_t>(xsimd::abs(x)) >> detail::bits_of<float>::digits;
  return detail::mended(
      lane::mask_cast<std::int32_t>(~detail::is_normal(x)),
      above - I(detail::bits_of<float>::bias - 1),
      [](float a) {
        int exponent = 0;
        (void)std::frexp(a, &exponent);
        return std::isfinite(a) ? exponent : 0;
      },
      x);
}

/// The number next to x towards y. Numbers of one sign lie in the order of their bits.
template <class T, class A>
xsimd::batch<T, A> nextafter(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y) {
  using B = xsimd::batch<T, A>;
  using integer = typename detail::bits_of<T>::integer;
  using I = xsimd::batch<integer, A>;
  const B zero(T(0));
  const auto grows = ((x > zero) & (y > x)) | ((x < zero) & (y < x));
  const I step = lane::select(lane::mask_cast<integer>(grows), I(1), I(-1));
  const B next = lane::bits_as<T>(lane::bits_as<integer>(x) + step);
  const B least = xsimd::copysign(B(std::numeric_limits<T>::denorm_min()), y);
  const B other = lane::select(x == zero, least, next);
  const B result = lane::select(x == y, y, other);
  return lane::select((x == x) & (y == y), result, x + y);
}

}  // namespace topos::lane
