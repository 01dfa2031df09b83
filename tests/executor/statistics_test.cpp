// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <concepts>
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

}  // namespace statistics_test
