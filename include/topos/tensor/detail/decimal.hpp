// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Decimal digits of floating-point values: the fewest that name one, or as many as are wanted.
///
/// The rules are those of the Dragon4 algorithm as NumPy runs it in its "unique" mode (Steele and
/// White, "How to Print Floating-Point Numbers Accurately"; Burger and Dybvig).

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <topos/core/half.hpp>
#include <type_traits>

namespace topos::detail {

/// A number as 0.d1d2d3... * 10^point, without its sign: digits[0] is not '0', unless it is zero.
struct decimal {
  std::string digits;
  int point = 1;
};

/// A decimal of to_chars, "d.ddde+xx".
[[nodiscard]] inline decimal parse_scientific(std::string_view text) {
  const std::size_t e = text.find('e');
  decimal result;
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.point);
  ++result.point;
  return result;
}

/// What to_chars writes of a value in scientific notation, with a precision or the shortest.
template <class Real, class... Precision>
[[nodiscard]] decimal scientific_digits(Real value, Precision... precision) {
  char text[1200];  // the longest double has 767 digits
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, precision...);
  return parse_scientific({text, static_cast<std::size_t>(end.ptr - text)});
}

/// The decimal as the nearest value of a wider type.
template <class Real>
[[nodiscard]] Real value_of(const decimal& d) {
  const std::string text = "." + d.digits + "e" + std::to_string(d.point);
  Real value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    return d.point > 0 ? std::numeric_limits<Real>::infinity() : Real{};
  }
  return value;
}

/// Whether reading a decimal in the type T gives the positive value `x` back.
template <class T>
[[nodiscard]] bool names(const decimal& d, T x) {
  if constexpr (std::floating_point<T>) {
    return value_of<T>(d) == x;
  } else {
    // Between the middles to its neighbours, which a double holds; the middles belong to even bits.
    const auto neighbour = [&](int step) {
      T y;
      y.bits = static_cast<std::uint16_t>(x.bits + step);
      return static_cast<double>(static_cast<float>(y));
    };
    const double here = static_cast<float>(x);
    const double below = (neighbour(-1) + here) / 2;
    const double above =
        here + (std::isinf(neighbour(1)) ? here - below : (neighbour(1) - here) / 2);
    const double read = value_of<double>(d);
    return x.bits % 2 == 0 ? below <= read && read <= above : below < read && read < above;
  }
}

/// The next larger decimal of as many digits.
[[nodiscard]] inline decimal next(decimal d) {
  std::size_t last = d.digits.size();
  while (last > 0 && d.digits[last - 1] == '9') d.digits[--last] = '0';
  if (last > 0) {
    ++d.digits[last - 1];
  } else {
    d.digits.insert(d.digits.begin(), '1');
    d.digits.pop_back();
    ++d.point;
  }
  return d;
}

/// The decimal of `count` digits that names a positive value and is nearest to it, if any does.
template <class T, class Real>
[[nodiscard]] std::optional<decimal> name_of(T x, Real value, std::size_t count) {
  decimal nearest = scientific_digits(value, static_cast<int>(count) - 1);
  if (names(nearest, x)) return nearest;
  // Below a power of two the neighbour is nearer than above: the farther decimal may name it.
  constexpr int all = std::same_as<Real, float> ? 112 : 767;
  decimal low = scientific_digits(value, all);
  low.digits.resize(count);
  decimal high = next(low);
  if (names(low, x)) return low;
  if (names(high, x)) return high;
  return std::nullopt;
}

/// The digits of a positive finite value: the fewest that name it among all of its type, but at
/// least `fewest`, then of its exact value, and at most `most`, rounded.
template <class T>
[[nodiscard]] decimal digits_of(T x, std::size_t fewest, std::size_t most) {
  using real = std::conditional_t<std::floating_point<T>, T, float>;
  const auto value = static_cast<real>(x);
  std::optional<decimal> shortest;
  if constexpr (std::floating_point<T>) {
    shortest = scientific_digits(value);
  } else {
    for (std::size_t count = 1; !shortest; ++count) shortest = name_of(x, value, count);
  }
  if (shortest->digits.size() > most) return scientific_digits(value, static_cast<int>(most) - 1);
  if (shortest->digits.size() >= fewest) return *shortest;
  return *name_of(x, value, std::min(fewest, most));
}

}  // namespace topos::detail
