// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <topos/executor/time_source.hpp>

namespace time_source_test {

using namespace std::chrono_literals;

TEST(steady_time, is_the_steady_clock) {
  const auto before = std::chrono::steady_clock::now();
  const auto now = topos::steady_time::instance().now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::steady_clock::now());
}

TEST(manual_time, stands_still_until_it_is_told) {
  topos::manual_time time;
  const auto start = time.now();
  EXPECT_EQ(time.now(), start);
  time.advance(3s);
  EXPECT_EQ(time.now() - start, 3s);
}

TEST(manual_time, does_not_wait_for_what_has_passed) {
  topos::manual_time time;
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  time.wait_until(lock, changed, time.now());
  EXPECT_TRUE(lock.owns_lock());
}

TEST(manual_time, wakes_who_waits) {
  topos::manual_time time;
  std::mutex mutex;
  std::condition_variable changed;
  const auto until = time.now() + 10ms;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    while (time.now() < until) time.wait_until(lock, changed, until);
  });
  time.wait_for_waiters(1);
  time.advance(4ms);
  time.advance(6ms);
  waiter.join();
}

}  // namespace time_source_test
