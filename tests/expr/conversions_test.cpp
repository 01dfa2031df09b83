// SPDX-License-Identifier: Apache-2.0

/// Many numbers as another type have the bits that each has by itself.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <topos/expr/elementwise.hpp>
#include <topos/tensor/creation.hpp>

namespace conversions_test {

using topos::bf16;
using topos::f16;
using topos::index_t;

// Numbers of T: any bits, and numbers about as large as the ends of what they may become.
template <class T>
T any_number(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const auto small = static_cast<double>(random() % 1024) / 2 - 256;
  if constexpr (std::is_same_v<T, bool>) {
    return bits % 2 != 0;
  } else {
    T result;
    std::memcpy(static_cast<void*>(&result), &bits, sizeof result);
    if (bits % 3 == 0) return result;
    // Near a power of two, about halfway between two numbers of a shorter type.
    const double near = std::ldexp(1 + static_cast<double>(random() % 512) / 512,
                                   static_cast<int>(random() % 48) - 16);
    const double off = std::ldexp(near, -30) * (static_cast<double>(random() % 3) - 1);
    const double value = bits % 3 == 1 ? small : (near + off) * (bits % 2 == 0 ? 1 : -1);
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::int64_t>(value));
    else if constexpr (sizeof(T) == 2)
      return T(static_cast<float>(value));
    else
      return static_cast<T>(value);
  }
}

template <class T>
bool is_nan(T x) {
  return std::isnan(static_cast<double>(x));
}

template <class To, class From>
void expect_each(std::span<const From> values) {
  const topos::tensor<From, 1> x =
      topos::from_host<From, 1>(values, {static_cast<index_t>(values.size())}, topos::cpu());
  const topos::tensor<To, 1> together = topos::astype<To>(x);
  const auto result = together.host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const To expected = topos::detail::convert_op<To>{}(values[i]);
    const To actual = result[i];
    if (is_nan(expected)) {
      ASSERT_TRUE(is_nan(actual)) << i;
    } else {
      ASSERT_EQ(std::memcmp(&actual, &expected, sizeof actual), 0)
          << i << " of " << values.size() << ": " << static_cast<double>(values[i]) << " became "
          << static_cast<double>(actual) << ", not " << static_cast<double>(expected);
    }
  }
}

template <class From, class... To>
void expect_as() {
  constexpr std::size_t most = 3001;
  std::mt19937_64 random(1);
  const auto values = std::make_unique<From[]>(most);
  for (std::size_t i = 0; i < most; ++i) values[i] = any_number<From>(random);
  for (const std::size_t count : {std::size_t{1}, std::size_t{37}, most})
    (expect_each<To>(std::span<const From>(values.get(), count)), ...);
}

TEST(conversions, of_doubles) {
  expect_as<double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, f16, bf16,
            bool>();
}
TEST(conversions, of_floats) { expect_as<float, std::int32_t, std::uint16_t, f16, bf16, bool>(); }
TEST(conversions, of_sixteen_bit_floats) {
  expect_as<f16, std::int8_t, std::uint16_t, std::int32_t, std::int64_t, bf16, double, bool>();
  expect_as<bf16, std::uint8_t, std::int16_t, std::int32_t, std::int64_t, f16, double, bool>();
}
TEST(conversions, of_integers_to_sixteen_bit_floats) {
  expect_as<std::int32_t, f16, bf16>();
  expect_as<std::int64_t, f16, bf16>();
  expect_as<std::uint16_t, f16, bf16>();
  expect_as<std::int8_t, f16, bf16>();
  expect_as<bool, f16, bf16>();
}

}  // namespace conversions_test
