// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of tests/data/expr, which scripts/reference/expr.py writes, and how near they are.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <topos/expr/elementwise.hpp>
#include <topos/io/npy.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/folders.hpp"

namespace support {

using topos::detail::is_complex;
using topos::detail::is_half;

/// The rows of a file, all of them of elements of type T.
template <class T>
std::vector<std::vector<T>> rows_of(const std::string& name) {
  using number = std::conditional_t<is_half<T>, std::uint16_t, T>;
  using stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, number>;
  const auto array = topos::read_npy<stored>(data_folder() / "expr" / (name + ".npy"));
  const auto rows = static_cast<std::size_t>(array.shape.at(0));
  const std::size_t columns = array.values.size() / rows;
  std::vector<std::vector<T>> result(rows, std::vector<T>(columns));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      if constexpr (is_half<T>)
        result[r][c].bits = array.values[r * columns + c];
      else
        result[r][c] = array.values[r * columns + c];
    }
  }
  return result;
}

/// "float32_" and `what`: the file of elements of a type.
template <class T>
std::string named(const char* what) {
  std::string name(topos::dtype_name_v<T>);
  name += '_';
  return name += what;
}

/// A tensor of one axis.
template <class T>
auto tensor_of(topos::device d, const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return topos::eval(vector_on(d, bytes) != 0);
  } else {
    return vector_on(d, values);
  }
}

/// A number as text that tells it from every other.
template <class T>
std::string shown(const T& x) {
  std::ostringstream text;
  text.precision(17);
  if constexpr (is_complex<T>)
    text << '(' << x.real() << ", " << x.imag() << ')';
  else if constexpr (is_half<T>)
    text << static_cast<float>(x);
  else
    text << +x;
  return text.str();
}

template <class T>
bool is_nan(const T& x) {
  if constexpr (is_half<T>)
    return std::isnan(static_cast<float>(x));
  else
    return x != x;
}

/// Expects the same numbers, to the sign of zero; NaN is the same as NaN.
template <class T>
void expect_same(const std::string& what, const std::vector<T>& got, const std::vector<T>& expected,
                 bool with_sign_of_zero = true) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_nan(got[i]) && is_nan(expected[i])) continue;
    bool same = got[i] == expected[i];
    if constexpr (!is_complex<T>) {
      if (with_sign_of_zero) same = std::memcmp(&got[i], &expected[i], sizeof(T)) == 0;
    }
    ASSERT_TRUE(same) << what << " at " << i << ": " << shown(got[i]) << ", expected "
                      << shown(expected[i]);
  }
}
inline void expect_same(const std::string& what, const std::vector<bool>& got,
                        const std::vector<bool>& expected) {
  ASSERT_EQ(got, expected) << what;
}

/// Digits behind the first of a significand, and the smallest normal number.
template <class T>
inline constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
template <>
inline constexpr int fraction_bits<topos::f16> = 10;
template <>
inline constexpr int fraction_bits<topos::bf16> = 7;
template <class T>
inline const double smallest_normal = static_cast<double>(std::numeric_limits<T>::min());
template <>
inline const double smallest_normal<topos::f16> = 0x1p-14;

/// Expects numbers up to some units in the last place of the expected ones, and of a zero x to the
/// sign of zero; NaN is the same as NaN.
template <class T>
void expect_close(const std::string& what, const std::vector<T>& x, const std::vector<T>& got,
                  const std::vector<T>& expected, double units, double absolute = 0) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  const double least = std::is_same_v<T, topos::bf16> ? 0x1p-126 : smallest_normal<T>;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_nan(got[i]) && is_nan(expected[i])) continue;
    const double g = static_cast<double>(got[i]);
    const double e = static_cast<double>(expected[i]);
    if (g == e) {
      if (g == 0 && x[i] == T(0)) {
        EXPECT_EQ(std::signbit(g), std::signbit(e)) << what << '(' << shown(x[i]) << ')';
      }
      continue;
    }
    const double unit =
        std::ldexp(1.0, std::ilogb(std::max(std::abs(e), least)) - fraction_bits<T>);
    EXPECT_LE(std::abs(g - e), units * unit + absolute)
        << what << '(' << shown(x[i]) << "): " << shown(got[i]) << ", expected "
        << shown(expected[i]);
  }
}

}  // namespace support
