// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Powers of lanes of double: by a logarithm of some 62 bits, as the sum of two numbers.

#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/detail/xsimd_exp.hpp>
#include <topos/expr/detail/xsimd_lanes.hpp>

namespace topos::lane {

namespace detail {

/// A number as a sum, of which the second part is what the first lost by rounding: T. J. Dekker, "A
/// floating-point technique for extending the available precision", Numer. Math. 18 (1971) 224.
template <class B>
struct sum_of_two {
  B high;
  B low;

  /// A product.
  static sum_of_two of_product(const B& x, const B& y) {
    const B high = lane::rounded(B(x * y));  // else compilers may join it to a sum
    return {high, lane::fma(x, y, B(-high))};
  }
  /// c times it, where c is a constant in two parts.
  [[nodiscard]] sum_of_two times(double c_high, double c_low) const {
    const auto product = of_product(B(c_high), high);
    return {product.high, product.low + lane::fma(B(c_high), low, B(B(c_low) * high))};
  }
};

/// A normal positive number as 2^k m, where m is in [sqrt(1/2), sqrt(2)).
template <class B>
struct power_and_rest {
  B k;
  B m;
};
template <class A>
power_and_rest<xsimd::batch<double, A>> split_at_root(const xsimd::batch<double, A>& x) {
  using B = xsimd::batch<double, A>;
  using words = xsimd::batch<std::uint64_t, A>;
  constexpr std::uint64_t one = 0x3ff0000000000000;
  constexpr std::uint64_t root = 0x3fe6a09e667f3bcd;  // of 1/2
  const words bits = lane::bits_as<std::uint64_t>(x);
  const words above = bits + words(one - root);
  // A whole number in the lowest bits of 2^52.
  const B k = lane::bits_as<double>(words((above >> 52) | words(0x4330000000000000))) -
              B(4503599627370496.0 + 1023.0);
  return {k, lane::bits_as<double>(words(bits - (above & words(0xfff0000000000000)) + words(one)))};
}

/// Where 0, and not -0, is raised to a positive power, which is 0.
template <class T, class A>
auto powers_of_zero(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y) {
  using word = typename exponents<T>::word;
  return lane::mask_cast<T>(lane::bits_as<word>(x) == xsimd::batch<word, A>(word(0))) &
         (y > xsimd::batch<T, A>(T(0)));
}

/// The logarithm to base 2 of a normal positive number: k + log2 m of x = 2^k m, where m is in
/// [sqrt(1/2), sqrt(2)) and log2 m = c (s + s^3 / 3 + s^5 p(s^2)), s = (m - 1) / (m + 1); the first
/// two terms as sums of two. scripts/reference/pow.py.
template <class A>
sum_of_two<xsimd::batch<double, A>> log2_in_two(const xsimd::batch<double, A>& x) {
  using B = xsimd::batch<double, A>;
  using two = sum_of_two<B>;
  static constexpr double p[] = {0.5770780163555853,  0.4121985831111439,  0.3205988979671597,
                                 0.26230819146702117, 0.22195278870596163, 0.19238055945712837,
                                 0.1688854671740239,  0.16912787582324892};
  const auto [k, m] = split_at_root(x);
  const B less = m - B(1.0);
  const B more = m + B(1.0);
  const B more_low = m - (more - B(1.0));
  const B inverse = B(1.0) / more;
  const B s = less * inverse;
  const B s_low = inverse * lane::fma(B(-s), more_low, lane::fma(B(-s), more, less));
  const auto square = two::of_product(s, s);
  const B square_low = lane::fma(B(s + s), s_low, square.low);
  const auto cube = two::of_product(s, square.high);
  const B cube_low = lane::fma(s, square_low, lane::fma(s_low, square.high, cube.low));
  const two first = two{s, s_low}.times(2.8853900817779268, 4.0710547481862066e-17);
  const two second = two{cube.high, cube_low}.times(0.9617966939259756, 5.0577616648125907e-17);
  const B others = cube.high * square.high * polynomial(square.high, p);

  const B upper = k + first.high;
  const B sum = upper + second.high;
  const B lost = (first.high - (upper - k)) + (second.high - (sum - upper));
  const B low = ((lost + first.low) + second.low) + others;
  const B high = sum + low;
  return {high, low - (high - sum)};
}

/// 2^(t + low) where |t| is at most 1020 and low much less.
template <class A>
xsimd::batch<double, A> exp2_of_sum(const xsimd::batch<double, A>& t,
                                    const xsimd::batch<double, A>& low) {
  using B = xsimd::batch<double, A>;
  // 2^r = 1 + r log 2 + r^2 p(r), scripts/reference/pow.py.
  static constexpr double p[] = {
      0.24022650695910072,    0.0555041086648216,     0.009618129107628479,
      0.0013333558146416936,  0.00015403530393375914, 1.525273382983612e-05,
      1.3215486802903931e-06, 1.0178062445845774e-07, 7.054899956372649e-09,
      4.4549605981865186e-10, 2.572508057683636e-11};
  constexpr double log_2 = 0.6931471805599453;
  constexpr double log_2_low = 2.3190468138462996e-17;
  const B shifted = t + B(exponents<double>::to_whole);
  const B r = t - (shifted - B(exponents<double>::to_whole));
  const auto linear = sum_of_two<B>::of_product(r, B(log_2));
  const B others = r * r * polynomial(r, p);
  const B sum = linear.high + B(1.0);
  const B lost = linear.high - (sum - B(1.0));
  const B rest =
      lane::fma(r, B(log_2_low), B(linear.low + lost)) + (sum + others) * (low * B(log_2));
  const B power = sum + (others + rest);
  return lane::bits_as<double>(xsimd::batch<std::uint64_t, A>(
      lane::bits_as<std::uint64_t>(power) + (lane::bits_as<std::uint64_t>(shifted) << 52)));
}

}  // namespace detail

/// x to the power y, within 0.6 units in the last place where that is between 2^-100 and 2^100, and
/// 1.8 everywhere; but where x is not a normal positive number, y is not finite, or the power is
/// near or beyond the largest or smallest number, lane by lane. (0 to a positive power is 0 without
/// that.)
template <class A>
xsimd::batch<double, A> pow(const xsimd::batch<double, A>& x, const xsimd::batch<double, A>& y) {
  using B = xsimd::batch<double, A>;
  const auto one_by_one = [](double a, double b) { return std::pow(a, b); };
  if constexpr (!has_fma) {
    return detail::mended(xsimd::batch_bool<double, A>(true), x, one_by_one, x, y);
  } else {
    const auto log2 = detail::log2_in_two(x);
    const auto t = detail::sum_of_two<B>::of_product(y, log2.high);
    const B low = lane::fma(y, log2.low, t.low);
    const auto none = detail::powers_of_zero(x, y);
    const auto plain = (x >= B(std::numeric_limits<double>::min())) &
                       (x < B(std::numeric_limits<double>::infinity())) &
                       (xsimd::abs(t.high) < B(1020.0));
    const B power = xsimd::select(none, B(0.0), detail::exp2_of_sum(t.high, low));
    return detail::mended(~(plain | none), power, one_by_one, x, y);
  }
}

}  // namespace topos::lane
