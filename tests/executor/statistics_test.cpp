// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <topos/executor/statistics.hpp>

namespace statistics_test {

static_assert(std::regular<topos::statistics>);

TEST(statistics, start_at_nothing) {
  const topos::statistics none;
  EXPECT_EQ(none.pending(), 0U);
  EXPECT_EQ(none.batches(), 0U);
}

TEST(statistics, know_what_has_not_ended) {
  const topos::statistics some{
      .submitted = 10, .done = 4, .failed = 2, .cancelled = 1, .batch_sizes = {{2, 3}}};
  EXPECT_EQ(some.pending(), 3U);
  EXPECT_EQ(some.batches(), 3U);
}

TEST(statistics, add_up) {
  topos::statistics sum{.submitted = 3, .done = 3, .batch_sizes = {{1, 1}, {2, 1}}};
  sum += {.submitted = 9, .done = 4, .failed = 4, .cancelled = 1, .batch_sizes = {{2, 1}, {3, 2}}};
  const topos::statistics expected{.submitted = 12,
                                   .done = 7,
                                   .failed = 4,
                                   .cancelled = 1,
                                   .batch_sizes = {{1, 1}, {2, 2}, {3, 2}}};
  EXPECT_EQ(sum, expected);
}

TEST(latencies, count_more_than_32_bits_hold) {
  topos::latencies many;
  many.add(std::chrono::nanoseconds(7));
  for (int i = 0; i < 33; ++i) many += topos::latencies(many);
  EXPECT_EQ(many.count(), std::uint64_t{1} << 33U);
  EXPECT_EQ(many.quantile(1.0).count(), 7);
}

TEST(latencies, have_quantiles_of_any_number) {
  topos::latencies one;
  one.add(std::chrono::nanoseconds(7));
  for (const double share : {-1.0, 0.0, 0.5, 1.0, 2.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(one.quantile(share).count(), 7) << share;
}

}  // namespace statistics_test
