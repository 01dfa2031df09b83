// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <topos/core/divisor.hpp>

namespace divisor_test {

using topos::index_t;
using topos::detail::divisor;

constexpr index_t largest = std::numeric_limits<index_t>::max();

void expect_quotients(index_t number) {
  const divisor by(number);
  ASSERT_EQ(static_cast<index_t>(by), number);
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  const auto check = [&](index_t n) {
    if (n < 0) return;
    ASSERT_EQ(by.quotient(n), n / number) << n << " / " << number;
  };
  for (const index_t near : {index_t{0}, index_t{1} << 31, index_t{1} << 32, largest - 3}) {
    for (index_t n = near - 2; n <= near + 2; ++n) check(n);
  }
  for (int i = 0; i < 200; ++i) {
    const auto n = static_cast<index_t>(random() >> (1 + random() % 62));
    check(n);
    check(n - n % number);
    check(n - n % number - 1);
  }
}

TEST(divisor, gives_whole_quotients) {
  for (index_t number = 1; number < 1000; ++number) expect_quotients(number);
  for (int power = 10; power < 62; ++power) {
    for (index_t number = (index_t{1} << power) - 1; number <= (index_t{1} << power) + 1; ++number)
      expect_quotients(number);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i)
    expect_quotients(static_cast<index_t>(1 + (random() >> (2 + random() % 60))));
}

TEST(divisor, may_be_0_where_nothing_is_divided) {
  EXPECT_EQ(static_cast<index_t>(divisor(0)), 0);
  EXPECT_EQ(divisor(0), divisor(0));
  EXPECT_FALSE(divisor(0) == divisor(1));
}

}  // namespace divisor_test
