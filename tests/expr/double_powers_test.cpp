// SPDX-License-Identifier: Apache-2.0

/// Powers of doubles on the CPU against the C library's of long double.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace double_powers_test {

using limits = std::numeric_limits<double>;

struct pairs {
  std::vector<double> bases;
  std::vector<double> powers;

  void add(double base, double power) {
    bases.push_back(base);
    powers.push_back(power);
  }
};

// Within so many units in the last place, and the same where there are none.
void expect_powers(const pairs& of, double units) {
  const auto x = support::vector_on(topos::cpu(), of.bases);
  const auto y = support::vector_on(topos::cpu(), of.powers);

  const std::vector<double> got = support::values_of(topos::eval(pow(x, y)));

  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(testing::Message() << of.bases[i] << " to the power " << of.powers[i]);
    const long double exact =
        std::pow(static_cast<long double>(of.bases[i]), static_cast<long double>(of.powers[i]));
    const auto expected = static_cast<double>(exact);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got[i])) << got[i];
    } else if (std::isinf(expected) || expected == 0) {
      ASSERT_EQ(got[i], expected);
      ASSERT_EQ(std::signbit(got[i]), std::signbit(expected));
    } else {
      const double unit =
          std::nextafter(std::abs(expected), limits::infinity()) - std::abs(expected);
      ASSERT_LE(std::abs(static_cast<long double>(got[i]) - exact), units * unit) << got[i];
    }
  }
}

TEST(double_powers, are_within_a_unit) {
  pairs some;
  for (int i = 0; i < 20'000; ++i) {
    const double base = std::ldexp(0.5 + i % 1999 / 3998.0, i % 61 - 30);
    some.add(base, (i % 357 - 178) / 7.0);
    some.add(1 + (i - 10'000) * 1e-7, i * 37.0 - 300'000);
  }
  expect_powers(some, 1);
}

TEST(double_powers, near_the_ends_of_the_range_are_within_two_units) {
  pairs some;
  for (int i = 0; i < 20'000; ++i) {
    const double base = std::ldexp(0.5 + i % 1999 / 3998.0, i % 1900 - 1000);
    const double log2 = std::log2(base);
    for (const double t : {1019.5, -1019.5, 1023.9, -1021.7, -1060.0, 1100.0}) {
      if (log2 != 0) some.add(base, t / log2);
    }
  }
  expect_powers(some, 2);
}

TEST(double_powers, of_special_numbers_are_the_librarys) {
  const double special[] = {0.0,
                            -0.0,
                            1,
                            -1,
                            2,
                            -2,
                            3,
                            -3,
                            0.5,
                            -0.5,
                            limits::infinity(),
                            -limits::infinity(),
                            limits::quiet_NaN(),
                            limits::min(),
                            limits::denorm_min(),
                            limits::max(),
                            -limits::max(),
                            1e-310,
                            1.7};
  pairs all;
  for (const double base : special) {
    for (const double power : special) all.add(base, power);
  }
  expect_powers(all, 1);
}

TEST(double_powers, by_one_number_are_those_by_many) {
  std::vector<double> bases;
  for (int i = 0; i < 1001; ++i) bases.push_back(i / 7.0);
  const auto x = support::vector_on(topos::cpu(), bases);
  EXPECT_EQ(support::values_of(topos::eval(pow(x, 1.7))),
            support::values_of(topos::eval(pow(x, topos::full<double>({1001}, 1.7)))));
}

}  // namespace double_powers_test
