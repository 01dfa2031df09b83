// SPDX-License-Identifier: Apache-2.0

/// Functions of floats on the CPU against the C library's of double, over floats of all sizes and
/// kinds.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace by_double_test {

constexpr std::uint32_t count = 1 << 16;

// All exponents and signs, and every 32nd one near 1.
std::vector<float> floats(std::uint32_t seed) {
  std::vector<float> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t word = (i + seed) * 2654435761U ^ (i * 40503U);
    all.push_back(std::bit_cast<float>(i % 32 == 0 ? 0x3f000000U | (word >> 8) : word));
  }
  const float inf = std::numeric_limits<float>::infinity();
  const float special[] = {0, -0.0F, 1, -1, 2, -2, 3, -3, 0.5F, inf, -inf, NAN, 1e-45F, 3e38F};
  for (const float a : special) {
    for (const float b : special) all.push_back(seed == 0 ? a : b);
  }
  return all;
}

// Of results in units of their last place.
void expect_within_a_unit(const std::vector<float>& got, const std::vector<double>& exact) {
  ASSERT_EQ(got.size(), exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto expected = static_cast<float>(exact[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else if (got[i] != expected) {
      ASSERT_TRUE(got[i] == std::nextafter(expected, got[i]))
          << i << ": " << got[i] << ", not " << expected;
    } else {
      ASSERT_EQ(std::signbit(got[i]), std::signbit(expected)) << i;
    }
  }
}

template <class Function, class Exact>
void check(Function function, Exact exact) {
  const std::vector<float> a = floats(0);
  const std::vector<float> b = floats(1);
  std::vector<double> expected;
  for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(exact(a[i], b[i]));
  const auto x = support::vector_on(topos::cpu(), a);
  const auto y = support::vector_on(topos::cpu(), b);
  expect_within_a_unit(support::values_of(topos::eval(function(x, y))), expected);
}

TEST(by_double, powers_are_within_a_unit) {
  check([](auto x, auto y) { return topos::pow(x, y); },
        [](double x, double y) { return std::pow(x, y); });
  check([](auto x, auto /*y*/) { return topos::pow(x, 2.2F); },
        [](double x, double /*y*/) { return std::pow(x, static_cast<double>(2.2F)); });
}

TEST(by_double, hypotenuses_are_within_a_unit) {
  check([](auto x, auto y) { return topos::hypot(x, y); },
        [](double x, double y) { return std::hypot(x, y); });
}

/// Where there are no lanes these are the C library's of float.
class by_double_lanes : public testing::Test {
 protected:
  void SetUp() override {
    if (topos::lane::width<float> == 1) GTEST_SKIP() << "there are no lanes";
  }
};

TEST_F(by_double_lanes, complementary_error_functions_are_within_a_unit) {
  check([](auto x, auto /*y*/) { return topos::erfc(x); },
        [](double x, double /*y*/) { return std::erfc(x); });
}

TEST_F(by_double_lanes, gamma_functions_are_within_a_unit) {
  check([](auto x, auto /*y*/) { return topos::tgamma(x); },
        [](double x, double /*y*/) { return std::tgamma(x); });
}

TEST_F(by_double_lanes, logarithms_of_gamma_functions_are_within_a_unit) {
  check([](auto x, auto /*y*/) { return topos::lgamma(x); },
        [](double x, double /*y*/) { return std::lgamma(x); });
}

// Where they cancel below 0, and between -2 and 3, where few of the floats above are.
TEST_F(by_double_lanes, logarithms_of_gamma_functions_are_within_a_unit_near_their_zeros) {
  std::vector<float> all;
  std::vector<double> exact;
  for (const float zero : {-2.45702477F, -2.74768272F, -3.14358089F, -4.03936139F, 1.0F, 2.0F}) {
    for (int i = -200; i <= 200; ++i) all.push_back(zero + static_cast<float>(i) * 0x1p-21F);
  }
  for (int i = -2000; i < 3000; ++i) all.push_back(static_cast<float>(i) * 1e-3F + 3e-4F);
  for (const float x : all) exact.push_back(std::lgamma(static_cast<double>(x)));
  const auto x = support::vector_on(topos::cpu(), all);
  expect_within_a_unit(support::values_of(topos::eval(topos::lgamma(x))), exact);
}

}  // namespace by_double_test
