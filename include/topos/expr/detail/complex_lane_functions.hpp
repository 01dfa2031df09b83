// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions of lanes of complex numbers, by those of their parts. Where a step could overflow,
/// underflow or meet what is not finite, they are the C library's, lane by lane.

#include <limits>
#include <topos/expr/detail/complex_functions.hpp>
#include <topos/expr/lanes.hpp>

namespace topos::lane {

namespace detail {

/// `result`, but for the lanes of a mask, which are `function` of those of x, one by one.
template <class M, class B, class Function>
complex_batch<B> mended(const M& wrong, const complex_batch<B>& result, Function function,
                        const complex_batch<B>& x) {
  if (!lane::any(wrong)) [[likely]]
    return result;
  using T = value_t<complex_batch<B>>;
  bool which[width<T>];
  T from[width<T>];
  T to[width<T>];
  lane::store(which, wrong);
  lane::store(from, x);
  lane::store(to, result);
  lane::before_calls();
  for (index_t i = 0; i < width<T>; ++i) {
    if (which[i]) to[i] = function(from[i]);
  }
  return lane::load(to);
}

/// Where the larger of two sizes has a square that is a normal number, by their sum.
template <class B>
auto has_square(const B& sum) {
  using T = value_t<B>;
  constexpr T least = sizeof(T) == 4 ? T(0x1p-50) : T(0x1p-480);
  constexpr T most = sizeof(T) == 4 ? T(0x1p60) : T(0x1p500);
  return (sum > lane::splat(least)) & (sum < lane::splat(most));
}

/// Where cosh and sinh of x are finite.
template <class B>
auto has_exp(const B& x) {
  return lane::abs(x) < lane::splat(value_t<B>(sizeof(value_t<B>) == 4 ? 80 : 700));
}

template <class B>
auto is_finite(const B& x) {
  return lane::abs(x) <= lane::splat(std::numeric_limits<value_t<B>>::max());
}

/// With the sign of 0, which xsimd 8's own minus loses.
template <class B>
B negative(const B& x) {
  return x * lane::splat(value_t<B>(-1));
}

}  // namespace detail

/// exp(a) (cos b + i sin b).
template <class B>
complex_batch<B> exp(const complex_batch<B>& x) {
  const B size = lane::exp(x.real);
  const auto [sine, cosine] = lane::sincos(x.imag);
  return detail::mended(
      ~(detail::has_exp(x.real) & detail::is_finite(x.imag)),
      {lane::rounded(size * cosine), lane::rounded(size * sine)},
      [](const auto& z) { return topos::detail::number::exp(z); }, x);
}

/// cosh a cos b + i sinh a sin b.
template <class B>
complex_batch<B> cosh(const complex_batch<B>& x) {
  const auto [sine, cosine] = lane::sincos(x.imag);
  return detail::mended(
      ~(detail::has_exp(x.real) & detail::is_finite(x.imag)),
      {lane::rounded(lane::cosh(x.real) * cosine), lane::rounded(lane::sinh(x.real) * sine)},
      [](const auto& z) { return topos::detail::number::cosh(z); }, x);
}

/// sinh a cos b + i cosh a sin b.
template <class B>
complex_batch<B> sinh(const complex_batch<B>& x) {
  const auto [sine, cosine] = lane::sincos(x.imag);
  return detail::mended(
      ~(detail::has_exp(x.real) & detail::is_finite(x.imag)),
      {lane::rounded(lane::sinh(x.real) * cosine), lane::rounded(lane::cosh(x.real) * sine)},
      [](const auto& z) { return topos::detail::number::sinh(z); }, x);
}

/// cos a cosh b - i sin a sinh b.
template <class B>
complex_batch<B> cos(const complex_batch<B>& x) {
  const auto [sine, cosine] = lane::sincos(x.real);
  return detail::mended(
      ~(detail::has_exp(x.imag) & detail::is_finite(x.real)),
      {lane::rounded(cosine * lane::cosh(x.imag)),
       detail::negative(lane::rounded(sine * lane::sinh(x.imag)))},
      [](const auto& z) { return topos::detail::number::cos(z); }, x);
}

/// sin a cosh b + i cos a sinh b.
template <class B>
complex_batch<B> sin(const complex_batch<B>& x) {
  const auto [sine, cosine] = lane::sincos(x.real);
  return detail::mended(
      ~(detail::has_exp(x.imag) & detail::is_finite(x.real)),
      {lane::rounded(sine * lane::cosh(x.imag)), lane::rounded(cosine * lane::sinh(x.imag))},
      [](const auto& z) { return topos::detail::number::sin(z); }, x);
}

/// Of the right half plane t + i b/(2t), where t is the root of (|a| + |a + ib|)/2; of the left one
/// the parts change places, and take b's sign.
template <class B>
complex_batch<B> sqrt(const complex_batch<B>& x) {
  using T = value_t<B>;
  const B zero = lane::splat(T(0));
  const B half = lane::splat(T(0.5));
  const B a = lane::abs(x.real);
  const B b = lane::abs(x.imag);
  const B size = lane::sqrt(a * a + b * b);
  const B root = lane::sqrt(half * (a + size));
  const auto is_zero = a + b == zero;
  const B other = lane::select(is_zero, x.imag, x.imag / (root + root));
  const auto right = x.real >= zero;
  const complex_batch<B> result{lane::select(right, root, lane::abs(other)),
                                lane::select(right, other, lane::copysign(root, x.imag))};
  return detail::mended(
      ~(detail::has_square(a + b) | is_zero), result,
      [](const auto& z) { return topos::detail::number::sqrt(z); }, x);
}

/// log |z| + i arg z. Near |z| = 1 the square of the size is 1 + r, where r is exact but for its
/// last digits: it is summed from the rounded squares and what each rounding left. The logarithm of
/// s, the rounded 1 + r, is mended by (r - (s - 1))/s.
template <class B>
complex_batch<B> log(const complex_batch<B>& x) requires(has_fma) {
  using T = value_t<B>;
  const auto number = [](double value) { return lane::splat(static_cast<T>(value)); };
  const B one = number(1);
  const B a = lane::abs(x.real);
  const B b = lane::abs(x.imag);
  const B larger = lane::max(a, b);
  const B smaller = lane::min(a, b);
  const B first = lane::rounded(larger * larger);
  const B second = lane::rounded(smaller * smaller);
  const B plain = first + second;
  const auto near = (plain > number(0.5)) & (plain < number(3));
  const B above = first - one;
  const B rounded = (above + second) + (first - (above + one));
  const B left = lane::fma(larger, larger, -first);
  // Both and what their sum leaves: Knuth, The Art of Computer Programming 2, 4.2.2.
  const B both = rounded + left;
  const B added = both - rounded;
  const B lost = (rounded - (both - added)) + (left - added);
  const B rest = (both + lane::fma(smaller, smaller, -second)) + lost;
  const B sum = lane::select(near, one + rest, plain);
  const B mend = lane::select(near, (rest - (sum - one)) / sum, number(0));
  const complex_batch<B> result{number(0.5) * (lane::log(sum) + mend), lane::atan2(x.imag, x.real)};
  return detail::mended(
      ~detail::has_square(a + b), result,
      [](const auto& z) { return topos::detail::number::log(z); }, x);
}

namespace detail {
template <class B>
complex_batch<B> scaled(const complex_batch<B>& x, double by) {
  const B factor = lane::splat(static_cast<value_t<B>>(by));
  return {lane::rounded(x.real * factor), lane::rounded(x.imag * factor)};
}
}  // namespace detail

template <class B>
complex_batch<B> exp2(const complex_batch<B>& x) {
  return lane::exp(detail::scaled(x, 0.69314718055994530942));
}
template <class B>
complex_batch<B> log2(const complex_batch<B>& x) requires(has_fma) {
  return detail::scaled(lane::log(x), 1.44269504088896340736);
}
template <class B>
complex_batch<B> log10(const complex_batch<B>& x) requires(has_fma) {
  return detail::scaled(lane::log(x), 0.43429448190325182765);
}

}  // namespace topos::lane
