// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <topos/executor/detail/parking_place.hpp>
#include <vector>

namespace parking_place_test {

using namespace std::chrono_literals;
using topos::detail::parking_place;

// What threads wait for; its fields are under the lock of its place.
struct event {
  bool ready = false;
  int asked = 0;
  int woken = 0;

  void sleep() {
    parking_place& place = parking_place::of(this);
    auto lock = place.lock();
    place.sleep(lock, this, [&] {
      ++asked;
      return ready;
    });
    ++woken;
  }
  // Who has asked once, and let go of the lock, is asleep.
  void await_sleepers(int count) {
    for (;;) {
      const auto lock = parking_place::of(this).lock();
      if (asked >= count) return;
    }
  }
  void wake() {
    {
      const auto lock = parking_place::of(this).lock();
      ready = true;
    }
    parking_place::of(this).wake(this);
  }
};

TEST(parking_place, wakes_all_that_wait_for_an_address) {
  event one;
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 3; ++i) sleepers.emplace_back([&] { one.sleep(); });
  one.await_sleepers(3);
  one.wake();
  for (std::thread& each : sleepers) each.join();
  EXPECT_EQ(one.woken, 3);
}

// Far more than there are places: some share that of the first.
TEST(parking_place, leaves_those_asleep_that_wait_for_another) {
  std::array<event, 1000> events;
  const event* const first = events.data();
  std::size_t other = 1;
  while (&parking_place::of(&events.at(other)) != &parking_place::of(first)) ++other;
  std::thread sleeps([&] { events[0].sleep(); });
  std::thread sleeps_too([&] { events[other].sleep(); });
  events[0].await_sleepers(1);
  events[other].await_sleepers(1);
  events[0].wake();
  sleeps.join();
  {
    const auto lock = parking_place::of(first).lock();
    EXPECT_EQ(events[0].woken, 1);
    EXPECT_EQ(events[other].woken, 0);
  }
  events[other].wake();
  sleeps_too.join();
  EXPECT_EQ(events[other].woken, 1);
}

TEST(parking_place, is_left_after_some_time) {
  const event never;
  parking_place& place = parking_place::of(&never);
  auto lock = place.lock();
  EXPECT_FALSE(place.sleep(lock, &never, 0s, [] { return false; }));
  EXPECT_FALSE(place.sleep(lock, &never, 1us, [] { return false; }));
  EXPECT_TRUE(place.sleep(lock, &never, std::chrono::hours::max(), [] { return true; }));
}

}  // namespace parking_place_test
