// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <topos/executor/statistics.hpp>
#include <utility>
#include <vector>

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

TEST(statistics, know_what_runs_of_it) {
  topos::statistics some{.submitted = 10, .done = 4, .running = 2};
  EXPECT_EQ(some.waiting(), 4U);
  some += {.submitted = 3, .running = 1};
  EXPECT_EQ(some.waiting(), 6U);
  EXPECT_EQ((topos::statistics{.submitted = 3, .done = 2, .running = 2}.waiting()), 0U);
}

TEST(statistics, add_up) {
  topos::statistics sum{.submitted = 4, .done = 3, .running = 1, .batch_sizes = {{1, 1}, {2, 1}}};
  sum += {.submitted = 11,
          .done = 4,
          .failed = 4,
          .cancelled = 1,
          .running = 2,
          .batch_sizes = {{2, 1}, {3, 2}}};
  const topos::statistics expected{.submitted = 15,
                                   .done = 7,
                                   .failed = 4,
                                   .cancelled = 1,
                                   .running = 3,
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

// The smallest that at least that share does not exceed.
TEST(latencies, have_quantiles_of_the_nearest_rank) {
  topos::latencies some;
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 0, 0, 0}) some.add(std::chrono::nanoseconds(n));
  EXPECT_EQ(some.quantile(0.3).count(), 0);
  EXPECT_EQ(some.quantile(0.31).count(), 1);
  EXPECT_EQ(some.quantile(0.7).count(), 4);
  EXPECT_EQ(some.quantile(0.99).count(), 7);
}

TEST(latencies, have_a_sum_and_a_mean) {
  topos::latencies some;
  EXPECT_EQ(some.sum().count(), 0);
  EXPECT_EQ(some.mean().count(), 0);
  for (const int n : {-5, 3, 1'000, 2'000}) some.add(std::chrono::nanoseconds(n));
  EXPECT_EQ(some.sum().count(), 3'003);
  EXPECT_EQ(some.mean().count(), 750);
  some += topos::latencies(some);
  EXPECT_EQ(some.sum().count(), 6'006);
  topos::latencies long_ones;
  for (int i = 0; i < 2; ++i) long_ones.add(std::chrono::nanoseconds::max());
  EXPECT_EQ(long_ones.sum(), std::chrono::nanoseconds::max());
  EXPECT_EQ(long_ones.mean(), std::chrono::nanoseconds::max());
}

TEST(latencies, show_their_buckets) {
  using entry = std::pair<std::int64_t, std::uint64_t>;
  topos::latencies some;
  for (const int n : {0, 7, 7, 16, 17, 18, 1'000'000}) some.add(std::chrono::nanoseconds(n));
  some.add(std::chrono::nanoseconds::max());
  std::vector<entry> seen;
  some.for_each_bucket([&](std::chrono::nanoseconds bound, std::uint64_t count) {
    seen.emplace_back(bound.count(), count);
  });
  EXPECT_EQ(seen, (std::vector<entry>{{0, 1},
                                      {7, 2},
                                      {17, 2},
                                      {19, 1},
                                      {1'048'575, 1},
                                      {std::chrono::nanoseconds::max().count(), 1}}));
}

}  // namespace statistics_test
