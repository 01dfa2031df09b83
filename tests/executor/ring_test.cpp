// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <topos/executor/detail/ring.hpp>

namespace ring_test {

using topos::detail::ring;

TEST(ring, is_first_in_first_out) {
  ring<int> queue;
  std::deque<int> expected;
  EXPECT_TRUE(queue.empty());
  // Grows by three and shrinks by two, so that it wraps around at every size.
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 3; ++k) {
      queue.push_back(3 * i + k);
      expected.push_back(3 * i + k);
    }
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(queue.front(), expected.front());
      EXPECT_EQ(queue.pop_front(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
  while (!queue.empty()) {
    EXPECT_EQ(queue.pop_front(), expected.front());
    expected.pop_front();
  }
  EXPECT_TRUE(expected.empty());
}

TEST(ring, takes_out_of_the_middle) {
  ring<int> queue;
  for (int i = 0; i < 6; ++i) queue.push_back(-1);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(queue.pop_front(), -1);
  for (int i = 0; i < 5; ++i) queue.push_back(i);  // wrapped around

  EXPECT_TRUE(queue.remove(2));
  EXPECT_TRUE(queue.remove(0));
  EXPECT_TRUE(queue.remove(4));
  EXPECT_FALSE(queue.remove(7));

  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.pop_front(), 1);
  EXPECT_EQ(queue.pop_front(), 3);
  EXPECT_FALSE(queue.remove(1));
}

TEST(ring, lets_go_of_what_it_gave_out) {
  ring<std::shared_ptr<int>> queue;
  const auto value = std::make_shared<int>(1);
  queue.push_back(value);
  queue.push_back(value);
  EXPECT_TRUE(queue.remove(value));
  static_cast<void>(queue.pop_front());
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace ring_test
