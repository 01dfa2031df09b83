// SPDX-License-Identifier: Apache-2.0

/// Logarithms and erfc of doubles on the CPU against the C library's of long double.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace double_functions_test {

using limits = std::numeric_limits<double>;

// Within so many units in the last place, and the same where there are none.
template <class Function, class Exact>
void expect_within(double units, const std::vector<double>& x, Function function, Exact exact) {
  const std::vector<double> got =
      support::values_of(topos::eval(function(support::vector_on(topos::cpu(), x))));
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "of " << x[i]);
    const long double wanted = exact(static_cast<long double>(x[i]));
    const auto nearest = static_cast<double>(wanted);
    if (std::isnan(nearest)) {
      ASSERT_TRUE(std::isnan(got[i])) << got[i];
    } else if (std::isinf(nearest) || nearest == 0) {
      ASSERT_EQ(got[i], nearest);
    } else {
      const double unit = std::abs(nearest) - std::nextafter(std::abs(nearest), 0.0);
      ASSERT_LE(std::abs(static_cast<long double>(got[i]) - wanted), units * unit) << got[i];
    }
  }
}

// Of all sizes, many of them near 1, and what is not finite.
std::vector<double> for_logarithms() {
  std::vector<double> all = {
      0.0,  -0.0, limits::infinity(),   -limits::infinity(), limits::quiet_NaN(),
      -1.0, 1.0,  limits::denorm_min(), limits::min(),       limits::max()};
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(std::ldexp(1 + i / 20'000.0, i % 2098 - 1074));
    all.push_back(0.7 + i * 4e-5);
    all.push_back(1 + (i - 10'000) * 1e-9);
  }
  return all;
}

TEST(double_functions, logarithms_are_within_two_units) {
  const std::vector<double> x = for_logarithms();
  const auto log_of = [](long double v) { return std::log(v); };
  const auto log2_of = [](long double v) { return std::log2(v); };
  const auto log10_of = [](long double v) { return std::log10(v); };
  expect_within(
      2, x, [](const auto& v) { return topos::log(v); }, log_of);
  expect_within(
      2, x, [](const auto& v) { return topos::log2(v); }, log2_of);
  expect_within(
      2, x, [](const auto& v) { return topos::log10(v); }, log10_of);
}

TEST(double_functions, logarithms_of_powers_of_their_base_are_exact) {
  std::vector<double> powers;
  std::vector<double> exponents;
  for (int i = -1074; i < 1024; ++i) {
    powers.push_back(std::ldexp(1.0, i));
    exponents.push_back(i);
  }
  const auto x = support::vector_on(topos::cpu(), powers);
  EXPECT_EQ(support::values_of(topos::eval(topos::log2(x))), exponents);

  const std::vector<double> tens = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e15, 1e18, 1e22};
  const std::vector<double> of_tens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 18, 22};
  const auto y = support::vector_on(topos::cpu(), tens);
  EXPECT_EQ(support::values_of(topos::eval(topos::log10(y))), of_tens);
}

TEST(double_functions, complementary_error_functions_are_within_five_units) {
  std::vector<double> x = {0.0,
                           -0.0,
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN(),
                           limits::denorm_min(),
                           limits::max(),
                           limits::lowest(),
                           27.2,
                           27.3,
                           28.0};
  for (int i = -20'000; i < 20'000; ++i) {
    x.push_back(i * 1.36e-3);
    x.push_back(i * 1e-4);
  }
  const auto exact = [](long double v) { return std::erfc(v); };
  expect_within(
      5, x, [](const auto& v) { return topos::erfc(v); }, exact);
}

}  // namespace double_functions_test
