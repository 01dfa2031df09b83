// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers as text, in the formats that NumPy chooses for the elements of an array.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <topos/core/dtype.hpp>
#include <topos/tensor/detail/decimal.hpp>
#include <vector>

namespace topos::detail {

/// What a type's finite values below 10^decimal_digits can be told apart by, as NumPy's finfo.
template <class T>
inline constexpr int decimal_digits = std::numeric_limits<T>::digits10;
template <>
inline constexpr int decimal_digits<f16> = 3;
template <>
inline constexpr int decimal_digits<bf16> = 2;

/// Sign, absolute value and kind, of all floating-point types.
template <class T>
[[nodiscard]] bool is_negative(T x) {
  if constexpr (std::floating_point<T>) {
    return std::signbit(x);
  } else {
    return (x.bits & 0x8000U) != 0;
  }
}
template <class T>
[[nodiscard]] double magnitude_of(T x) {
  return std::abs(static_cast<double>(
      static_cast<std::conditional_t<std::same_as<T, double>, double, float>>(x)));
}
template <class T>
[[nodiscard]] T without_sign(T x) {
  if constexpr (std::floating_point<T>) {
    return std::abs(x);
  } else {
    x.bits &= 0x7fffU;
    return x;
  }
}

/// A value rounded to a type, as a double.
template <class T>
[[nodiscard]] double rounded_to(double value) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<float>(static_cast<T>(static_cast<float>(value)));
  }
}

/// A number in pieces: what stands before and after its decimal point, and its exponent.
struct number_text {
  std::string before;
  std::string after;
  std::string exponent;  // without the 'e'; empty in positional notation
};

[[nodiscard]] inline std::string without_trailing_zeros(std::string digits) {
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

/// A finite value as 123.456.
template <class T>
[[nodiscard]] number_text positional(T x, std::size_t most_decimals) {
  number_text text{is_negative(x) ? "-" : "", "", ""};
  if (magnitude_of(x) == 0) {
    text.before += '0';
    return text;
  }
  const T value = without_sign(x);
  const int point = scientific_digits(magnitude_of(x)).point;
  const auto most = most_decimals == std::string::npos
                        ? std::string::npos
                        : static_cast<std::size_t>(point + static_cast<int>(most_decimals));
  decimal d = digits_of(value, 1, most);
  if (d.point <= 0) {
    d.digits.insert(0, static_cast<std::size_t>(1 - d.point), '0');
    d.point = 1;
  }
  const auto whole = static_cast<std::size_t>(d.point);
  if (d.digits.size() < whole) d.digits.resize(whole, '0');
  text.before += d.digits.substr(0, whole);
  text.after = without_trailing_zeros(d.digits.substr(whole));
  return text;
}

/// A finite value as 1.23456e+02, with between `fewest` and `most` digits behind the point.
template <class T>
[[nodiscard]] number_text scientific(T x, std::size_t fewest, std::size_t most) {
  const bool zero = magnitude_of(x) == 0;
  const decimal d = zero ? decimal{"0", 1} : digits_of(without_sign(x), fewest + 1, most + 1);
  const int exponent = d.point - 1;
  number_text text{(is_negative(x) ? "-" : "") + d.digits.substr(0, 1),
                   without_trailing_zeros(d.digits.substr(1)), std::to_string(std::abs(exponent))};
  text.after.resize(std::max(text.after.size(), fewest), '0');
  if (text.exponent.size() < 2) text.exponent.insert(0, 1, '0');
  text.exponent.insert(0, 1, exponent < 0 ? '-' : '+');
  return text;
}

/// The one format of all floating-point elements of an array.
template <class T>
class float_format {
 public:
  /// Chosen for these values; with `plus`, positive values get a sign too.
  float_format(std::span<const T> values, bool plus) : plus_(plus) {
    bool special = false;
    bool negative_infinity = plus;
    double largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (const T x : values) {
      const double size = magnitude_of(x);
      if (!std::isfinite(size)) {
        special = true;
        negative_infinity |= std::isinf(size) && is_negative(x);
      } else if (size != 0) {
        largest = std::max(largest, size);
        smallest = std::min(smallest, size);
      }
    }
    if (largest != 0) {
      scientific_ = largest >= std::pow(10.0, std::min(8, decimal_digits<T>)) ||
                    smallest < rounded_to<T>(1e-4) || rounded_to<T>(largest / smallest) > 1000;
    }
    for (const T x : values) {
      if (!std::isfinite(magnitude_of(x))) continue;
      const number_text text = signed_text(x, 0, precision);
      before_ = std::max(before_, text.before.size());
      after_ = std::max(after_, text.after.size());
      exponent_ = std::max(exponent_, text.exponent.size());
    }
    if (special) {
      const std::size_t tail = width() - before_;
      const std::size_t widest = negative_infinity ? 4 : 3;
      if (widest > tail) before_ = std::max(before_, widest - tail);
    }
  }

  [[nodiscard]] std::string operator()(T x) const {
    if (!std::isfinite(magnitude_of(x))) {
      std::string name = std::isnan(magnitude_of(x)) ? (plus_ ? "+nan" : "nan")
                         : is_negative(x)            ? "-inf"
                         : plus_                     ? "+inf"
                                                     : "inf";
      return name.insert(0, std::max(width(), name.size()) - name.size(), ' ');
    }
    number_text text = signed_text(x, after_, after_);
    std::string result = text.before.insert(0, before_ - text.before.size(), ' ');
    result += '.';
    result += text.after;
    if (scientific_) {
      text.exponent.insert(1, exponent_ - text.exponent.size(), '0');
      return result += 'e' + text.exponent;
    }
    return result.append(after_ - text.after.size(), ' ');
  }

 private:
  static constexpr std::size_t precision = 8;

  [[nodiscard]] std::size_t width() const {
    return before_ + 1 + after_ + (scientific_ ? 1 + exponent_ : 0);
  }

  [[nodiscard]] number_text signed_text(T x, std::size_t fewest, std::size_t most) const {
    number_text text = scientific_ ? scientific(x, fewest, most) : positional(x, precision);
    if (plus_ && !is_negative(x)) text.before.insert(0, 1, '+');
    return text;
  }

  bool plus_;
  bool scientific_ = false;
  std::size_t before_ = 0;
  std::size_t after_ = 0;
  std::size_t exponent_ = 0;
};

/// Floating-point elements, each as wide as the widest.
template <class T>
[[nodiscard]] std::vector<std::string> texts_of(std::span<const T> values) {
  const float_format<T> format(values, false);
  std::vector<std::string> texts;
  for (const T x : values) texts.push_back(format(x));
  return texts;
}

template <class T>
[[nodiscard]] std::vector<std::string> texts_of(std::span<const Kokkos::complex<T>> values) {
  std::vector<T> real;
  std::vector<T> imaginary;
  for (const Kokkos::complex<T>& x : values) {
    real.push_back(x.real());
    imaginary.push_back(x.imag());
  }
  const float_format<T> format(real, false);
  const float_format<T> signed_format(imaginary, true);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string second = signed_format(imaginary[i]);
    second.insert(second.find_last_not_of(' ') + 1, 1, 'j');
    texts.push_back(format(real[i]) + second);
  }
  return texts;
}

template <std::integral T>
[[nodiscard]] std::vector<std::string> texts_of(std::span<const T> values) {
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const T x : values) {
    if constexpr (std::same_as<T, bool>) {
      texts.emplace_back(x ? "True" : "False");
      width = 5;
    } else {
      texts.push_back(std::to_string(x));
      width = std::max(width, texts.back().size());
    }
  }
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

/// A floating-point number that stands alone: as many digits as name it.
template <class T>
[[nodiscard]] std::string single_text(T x, bool keep_point) {
  const double size = magnitude_of(x);
  if (std::isnan(size)) return "nan";
  if (std::isinf(size)) return is_negative(x) ? "-inf" : "inf";
  const double largest = std::same_as<T, double> ? 1e16 : std::pow(10.0, decimal_digits<T>);
  if (size == 0 || (size >= 1e-4 && size < largest)) {
    const number_text text = positional(x, std::string::npos);
    if (text.after.empty()) return text.before + (keep_point ? ".0" : "");
    return text.before + '.' + text.after;
  }
  const number_text text = scientific(x, 0, std::string::npos - 1);
  return text.before + (text.after.empty() ? "" : ".") + text.after + 'e' + text.exponent;
}

template <class T>
[[nodiscard]] std::string scalar_text(T x) {
  if constexpr (std::same_as<T, bool>) {
    return x ? "True" : "False";
  } else if constexpr (std::integral<T>) {
    return std::to_string(x);
  } else {
    return single_text(x, true);
  }
}

template <class T>
[[nodiscard]] std::string scalar_text(Kokkos::complex<T> x) {
  const std::string imaginary = single_text(x.imag(), false) + 'j';
  if (x.real() == 0 && !std::signbit(x.real())) return imaginary;
  const bool has_sign = imaginary[0] == '-';
  return '(' + single_text(x.real(), false) + (has_sign ? "" : "+") + imaginary + ')';
}

}  // namespace topos::detail
