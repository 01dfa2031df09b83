// SPDX-License-Identifier: Apache-2.0

/// What a queue without room does to what waits in it, and to what comes.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <vector>

#include "gate.hpp"

namespace full_queue_test {

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

// The results of a request that needs all of four places at once.
std::vector<int> request_of_all_places(topos::batcher<int, int>& b) {
  std::vector<int> results;
  for (const int r : b.map(std::vector<int>{1, 2, 3, 4}, {.request_size = 4})) results.push_back(r);
  return results;
}

TEST(full_queue, sheds_nothing_for_what_will_not_run) {
  topos::manual_time time;
  topos::batcher<int, int> b(
      twice,
      {.queue_capacity = 1, .full = topos::when_full::shed_oldest, .hold_until = 9, .time = &time});
  auto waiting = b.submit(1);
  EXPECT_THROW(b.submit(2, {.deadline = time.now()}).get(), topos::deadline_exceeded);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(b.submit(3, {.stop = stop.get_token()}).get(), topos::cancelled);
  EXPECT_FALSE(waiting.is_ready());
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(waiting.get(), 2);
  EXPECT_EQ(b.stats().shed, 0U);
}

// They fill each place that comes free, and a request needs all of them at once.
TEST(full_queue, lets_a_request_in_among_those_who_submit_all_the_time) {
  topos::batcher<int, int> b(twice, {.max_batch_size = 2, .queue_capacity = 4});
  std::atomic<bool> served{false};
  const auto submits = [&] {
    for (auto last = b.submit(0); !served; last = b.submit(0)) continue;
  };
  std::vector<std::jthread> others;
  for (int i = 0; i < 3; ++i) others.emplace_back(submits);

  const std::vector<int> results = request_of_all_places(b);
  served = true;

  EXPECT_EQ(results, (std::vector<int>{2, 4, 6, 8}));
}

TEST(full_queue, lets_a_request_in_among_smaller_ones_that_come_all_the_time) {
  topos::batcher<int, int> b(twice, {.max_batch_size = 2, .queue_capacity = 4});
  std::atomic<bool> served{false};
  const auto streams = [&] {
    for (int i = 0; !served && i < 1'000'000; ++i)
      for (const int r : b.map(std::vector<int>{1, 2}, {.request_size = 2})) static_cast<void>(r);
  };
  std::vector<std::jthread> others;
  for (int i = 0; i < 4; ++i) others.emplace_back(streams);

  const std::vector<int> results = request_of_all_places(b);
  served = true;

  EXPECT_EQ(results, (std::vector<int>{2, 4, 6, 8}));
  EXPECT_LT(b.stats().submitted, 4U * 2'000'000U);
}

TEST(full_queue, sheds_for_a_request_that_waits_too) {
  topos::batcher<int, int> b(
      twice, {.max_batch_size = 2, .queue_capacity = 4, .full = topos::when_full::shed_oldest});
  std::atomic<bool> served{false};
  std::jthread other([&] {
    for (auto last = b.submit(0); !served; last = b.submit(0)) continue;
  });

  const std::vector<int> results = request_of_all_places(b);
  served = true;

  EXPECT_EQ(results, (std::vector<int>{2, 4, 6, 8}));
}

// For others that there is no room for.
TEST(full_queue, closes_a_batch) {
  topos::manual_time time;  // which never comes to the delay
  topos::batcher<int, int> b(twice, {.max_batch_size = 8,
                                     .max_delay = std::chrono::hours(1),
                                     .queue_capacity = 4,
                                     .time = &time});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 12; ++i) futures.push_back(b.submit(i));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), 2 * i);
}

TEST(full_queue, closes_a_batch_that_leaves_no_bytes) {
  topos::manual_time time;
  topos::batcher<std::vector<char>, std::size_t> b(
      [](std::span<const std::vector<char>> batch) {
        std::vector<std::size_t> results;
        for (const auto& item : batch) results.push_back(item.size());
        return results;
      },
      {.max_delay = std::chrono::hours(1),
       .queue_bytes = 1000,
       .full = topos::when_full::fail,
       .time = &time});
  auto first = b.submit(std::vector<char>(900));
  EXPECT_THROW(b.submit(std::vector<char>(800)).get(), topos::rejected);
  EXPECT_EQ(first.get(), 900U);
}

TEST(full_queue, closes_no_batch_once_those_that_filled_it_are_withdrawn) {
  using std::chrono::hours;
  gate hold;
  topos::manual_time time;
  topos::batcher<std::vector<char>, std::size_t> b(
      [&](std::span<const std::vector<char>> batch) {
        hold.pass();
        return std::vector<std::size_t>(batch.size(), batch.front().size());
      },
      {.max_delay = hours(1), .queue_bytes = 1000, .full = topos::when_full::fail, .time = &time});
  auto busy =
      b.submit(std::vector<char>(1), {.deadline = time.now() + hours(1)});  // starts at once
  hold.await(1);
  auto first = b.submit(std::vector<char>(900));
  EXPECT_THROW(b.submit(std::vector<char>(800)).get(), topos::rejected);
  EXPECT_TRUE(first.cancel());
  hold.open();
  EXPECT_EQ(busy.get(), 1U);
  auto later = b.submit(std::vector<char>(100), {.deadline = time.now() + hours(9)});
  time.wait_for_waiters(2);  // the replica and the clock

  EXPECT_FALSE(later.is_ready());
  time.advance(hours(1));
  EXPECT_EQ(later.get(), 100U);
}

TEST(full_queue, of_a_stream_has_room_for_submissions) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice),
                             {.queue_capacity = 4, .full = topos::when_full::fail});
  const std::vector<int> items(12);
  std::jthread stream([&] {
    for (const int result : b.map(items, {.request_size = 4})) EXPECT_EQ(result, 0);
  });
  hold.await(1);
  while (b.stats().pending() < 8) std::this_thread::yield();  // one request runs, one waits

  auto alone = b.submit(5);

  hold.open();
  EXPECT_EQ(alone.get(), 10);
}

// It has a member of a tensor's, and not the others.
struct machine {
  [[nodiscard]] int memory() const { return 64; }
};

TEST(full_queue, takes_items_that_are_something_like_a_tensor) {
  topos::batcher<machine, int> b([](std::span<const machine> batch) {
    std::vector<int> results;
    for (const machine& item : batch) results.push_back(item.memory());
    return results;
  });
  EXPECT_EQ(b.submit(machine{}).get(), 64);
}

}  // namespace full_queue_test
