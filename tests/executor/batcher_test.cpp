// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <vector>

#include "gate.hpp"

namespace batcher_test {

using namespace std::chrono_literals;
using histogram = std::map<std::size_t, std::uint64_t>;

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

// Fails a batch that holds a negative item.
std::vector<int> twice_or_throw(std::span<const int> batch) {
  for (const int item : batch) {
    if (item < 0) throw std::domain_error("negative: " + std::to_string(item));
  }
  return twice(batch);
}

struct move_only {
  std::unique_ptr<int> factor = std::make_unique<int>(3);
  std::vector<int> operator()(std::span<const int> batch) const {
    std::vector<int> results;
    for (const int item : batch) results.push_back(*factor * item);
    return results;
  }
};

static_assert(topos::batch_callable<decltype(&twice), int, int>);
static_assert(!topos::batch_callable<decltype(&twice), std::string, int>);
static_assert(!topos::batch_callable<int (*)(int), int, int>);
static_assert(topos::batch_callable<move_only, int, int>);
static_assert(!std::is_move_constructible_v<topos::batcher<int, int>>);

TEST(batcher, runs_one_item_as_a_batch_of_one) {
  topos::batcher<int, int> b(twice);
  EXPECT_EQ(b.submit(21).get(), 42);
  EXPECT_EQ(b.stats(), (topos::statistics{.submitted = 1, .done = 1, .batch_sizes = {{1, 1}}}));
}

TEST(batcher, takes_a_callable_that_can_only_be_moved) {
  topos::batcher<int, int> b(move_only{});
  EXPECT_EQ(b.submit(4).get(), 12);
}

// It is asked for no form that its body would not compile for.
TEST(batcher, takes_a_generic_callable) {
  topos::batcher<int, int> b([](auto batch, auto...) { return twice(batch); });
  EXPECT_EQ(b.submit(4).get(), 8);
}

TEST(batcher, gathers_what_comes_while_it_is_busy) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.max_batch_size = 4});
  std::vector<topos::future<int>> futures;
  futures.push_back(b.submit(0));
  hold.await(1);
  for (int i = 1; i < 10; ++i) futures.push_back(b.submit(i));
  hold.open();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), 2 * i);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{1, 2}, {4, 2}}));
}

TEST(batcher, closes_a_batch_when_its_oldest_item_has_waited) {
  topos::manual_time time;
  topos::batcher<int, int> b(twice, {.max_delay = 10ms, .time = &time});
  auto first = b.submit(1);
  time.wait_for_waiters(1);
  time.advance(9ms);
  auto second = b.submit(2);
  auto third = b.submit(3);
  EXPECT_FALSE(first.is_ready());
  time.advance(1ms);
  EXPECT_EQ(first.get(), 2);
  EXPECT_EQ(second.get(), 4);
  EXPECT_EQ(third.get(), 6);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{3, 1}}));
}

TEST(batcher, closes_a_full_batch_at_once) {
  topos::manual_time time;
  topos::batcher<int, int> b(
      twice, {.max_batch_size = 3, .max_delay = std::chrono::nanoseconds::max(), .time = &time});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 3; ++i) futures.push_back(b.submit(i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), 2 * i);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{3, 1}}));
}

TEST(batcher, takes_items_in_braces) {
  topos::batcher<int, int> b(twice);
  std::vector<int> results;
  for (const int r : b.map({1, 2, 3}, {.request_size = 2})) results.push_back(r);
  for (auto& request : b.requests({4, 5}))
    for (const int r : request.get()) results.push_back(r);
  EXPECT_EQ(results, (std::vector{2, 4, 6, 8, 10}));
}

TEST(batcher, does_not_hold_a_request_back_for_a_delay) {
  topos::manual_time time;
  topos::batcher<int, int> b(twice, {.max_delay = 1h, .time = &time});
  auto lone = b.submit(7);
  const std::vector<int> numbers{1, 2};
  std::vector<int> results;
  for (const int r : b.map(numbers)) results.push_back(r);
  EXPECT_EQ(results, (std::vector{2, 4}));
  EXPECT_FALSE(lone.is_ready());
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{2, 1}}));
  time.advance(1h);
  EXPECT_EQ(lone.get(), 14);
}

TEST(batcher, ends_all_work_when_it_is_destroyed) {
  topos::manual_time time;
  std::vector<topos::future<int>> futures;
  {
    topos::batcher<int, int> b(twice_or_throw,
                               {.max_batch_size = 2, .max_delay = 1h, .time = &time});
    futures.push_back(b.submit(1));
    futures.push_back(b.submit(2));
    futures.push_back(b.submit(-3));
  }
  EXPECT_EQ(futures[0].get(), 2);
  EXPECT_EQ(futures[1].get(), 4);
  ASSERT_TRUE(futures[2].is_ready());
  EXPECT_THROW(futures[2].get(), std::domain_error);
}

TEST(batcher, fails_only_the_batch_that_throws) {
  gate hold;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        hold.pass();
        return twice_or_throw(batch);
      },
      {.max_batch_size = 2});
  std::vector<topos::future<int>> futures;
  futures.push_back(b.submit(0));
  hold.await(1);
  for (const int item : {1, 2, 3, -4, 5}) futures.push_back(b.submit(item));
  hold.open();
  EXPECT_EQ(futures[0].get(), 0);
  EXPECT_EQ(futures[1].get(), 2);
  EXPECT_EQ(futures[2].get(), 4);
  EXPECT_THROW(futures[3].get(), std::domain_error);
  EXPECT_THROW(futures[4].get(), std::domain_error);
  EXPECT_EQ(futures[5].get(), 10);
  EXPECT_EQ(
      b.stats(),
      (topos::statistics{.submitted = 6, .done = 4, .failed = 2, .batch_sizes = {{1, 2}, {2, 2}}}));
}

TEST(batcher, refuses_a_wrong_count_of_results) {
  topos::batcher<int, int> b([](std::span<const int> batch) {
    return std::vector<int>(batch[0] == 0 ? batch.size() + 2 : batch.size(), 7);
  });
  auto wrong = b.submit(0);
  try {
    wrong.get();
    FAIL() << "it should have thrown";
  } catch (const topos::error& e) {
    EXPECT_STREQ(
        e.what(),
        "batcher: 3 results came back for a batch of 1 items; it must return one for each, "
        "in order");
  }
  EXPECT_EQ(b.submit(1).get(), 7);
}

TEST(batcher, keeps_its_queue_within_its_capacity) {
  constexpr std::size_t capacity = 3;
  constexpr std::size_t batch_size = 2;
  topos::batcher<int, int>* self = nullptr;
  std::atomic<std::size_t> most = 0;
  gate hold;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        hold.pass();
        most = std::max(most.load(), self->stats().pending());
        return twice(batch);
      },
      {.max_batch_size = batch_size, .queue_capacity = capacity});
  self = &b;
  std::vector<std::thread> producers;
  for (int p = 0; p < 4; ++p) {
    producers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) static_cast<void>(b.submit(i));
    });
  }
  hold.await(1);
  hold.open();
  for (auto& producer : producers) producer.join();
  EXPECT_LE(most.load(), capacity + batch_size);
  EXPECT_GT(most.load(), 0U);
}

TEST(batcher, lets_a_request_larger_than_the_queue_pass) {
  topos::batcher<int, int> b(twice, {.queue_capacity = 3});
  std::size_t count = 0;
  for (const int r : b.map(std::vector<int>(25, 1), {.request_size = 10})) {
    EXPECT_EQ(r, 2);
    ++count;
  }
  EXPECT_EQ(count, 25U);
}

TEST(batcher, runs_replicas_at_the_same_time) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.replicas = 2});
  auto first = b.submit(1);
  hold.await(1);
  auto second = b.submit(2);
  hold.await(2);
  hold.open();
  EXPECT_EQ(first.get(), 2);
  EXPECT_EQ(second.get(), 4);
}

TEST(batcher, takes_items_that_only_move_and_results_without_default) {
  struct result {
    explicit result(int n) : number(n) {}
    int number;
  };
  topos::batcher<std::unique_ptr<int>, result> b([](std::span<const std::unique_ptr<int>> batch) {
    std::vector<result> results;
    for (const auto& item : batch) results.emplace_back(*item);
    return results;
  });
  EXPECT_EQ(b.submit(std::make_unique<int>(5)).get().number, 5);
  std::vector<std::unique_ptr<int>> items;
  for (int i = 0; i < 3; ++i) items.push_back(std::make_unique<int>(i));
  int expected = 0;
  for (const result& r : b.map(items, {.request_size = 2})) EXPECT_EQ(r.number, expected++);
  EXPECT_EQ(expected, 3);
}

TEST(batcher, takes_back_the_items_before_it_hands_out_results) {
  topos::batcher<std::shared_ptr<int>, int> b(
      [](std::span<const std::shared_ptr<int>> batch) { return std::vector<int>(batch.size()); });
  const auto item = std::make_shared<int>(1);
  b.submit(item).get();
  EXPECT_EQ(item.use_count(), 1);
}

TEST(batcher, loses_nothing) {
  constexpr int producers = 8;
  constexpr int each = 2000;
  std::atomic<std::uint64_t> good = 0;
  std::atomic<std::uint64_t> bad = 0;
  topos::statistics stats;
  {
    topos::batcher<int, int> b(twice_or_throw,
                               {.replicas = 2, .max_batch_size = 7, .queue_capacity = 64});
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p) {
      threads.emplace_back([&, p] {
        std::vector<topos::future<int>> futures;
        for (int i = 0; i < each; ++i) futures.push_back(b.submit(i % 20 == p ? -1 : i));
        for (int i = 0; i < each; ++i) {
          try {
            if (futures[static_cast<std::size_t>(i)].get() == 2 * i) ++good;
          } catch (const std::domain_error&) {
            ++bad;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    stats = b.stats();
  }
  EXPECT_EQ(good + bad, producers * each);
  EXPECT_EQ(stats.submitted, producers * each);
  EXPECT_EQ(stats.done, good);
  EXPECT_EQ(stats.failed, bad);
  EXPECT_GE(bad, producers * each / 20);
  std::uint64_t items = 0;
  for (const auto& [size, times] : stats.batch_sizes) {
    EXPECT_LE(size, 7U);
    items += size * times;
  }
  EXPECT_EQ(items, producers * each);
}

// The costs of both together are more than can be counted.
TEST(batcher, starts_at_once_with_an_item_that_costs_as_much_as_can_be) {
  topos::batcher<int, int> b(
      twice,
      {.max_batch_cost = 10, .too_large = topos::oversize::alone, .max_delay = 1h, .hold_until = 2},
      [](const int& item) { return static_cast<std::size_t>(item); });
  const auto huge = b.submit(-1);
  const auto small = b.submit(1);
  EXPECT_TRUE(huge.wait_for(10s));
  EXPECT_FALSE(small.is_ready());
}

TEST(batcher, refuses_options_that_nothing_could_run_with) {
  EXPECT_THROW((topos::batcher<int, int>(twice, {.replicas = 0})), topos::invalid_argument);
  topos::batcher<int, int> b(twice);
  EXPECT_THROW(static_cast<void>(b.map(std::vector<int>{1}, {.request_size = 0})),
               topos::invalid_argument);
}

struct warming {
  void warm_up() { ++*warmed; }
  std::vector<int> operator()(std::span<const int> batch) const {
    EXPECT_GE(warmed->load(), 1);
    return std::vector<int>(batch.begin(), batch.end());
  }
  std::atomic<int>* warmed;
};

TEST(batcher, warms_each_replica_up_outside_of_the_statistics) {
  std::atomic<int> warmed = 0;
  topos::batcher<int, int> b(warming{&warmed}, {.replicas = 3});
  EXPECT_EQ(b.submit(4).get(), 4);
  b.submit(5).get();
  EXPECT_EQ(warmed, 3);
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(b.stats().batches(), 2U);
  EXPECT_EQ(b.stats().compute.count(), 2U);
}

// A quantile is known to an eighth.
void expect_about(std::chrono::nanoseconds got, std::chrono::nanoseconds expected) {
  EXPECT_GE(got, expected);
  EXPECT_LE(got, expected + expected / 8 + std::chrono::nanoseconds(1));
}

TEST(batcher, keeps_the_times_of_its_items) {
  topos::manual_time time;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        time.advance(2s);
        return std::vector<int>(batch.begin(), batch.end());
      },
      {.hold_until = 2, .time = &time});
  auto first = b.submit(1);
  time.advance(1s);
  auto second = b.submit(2);
  first.get();
  second.get();
  const topos::statistics s = b.stats();
  EXPECT_EQ(s.queue.count(), 2U);
  EXPECT_EQ(s.queue.quantile(0), 0s);
  expect_about(s.queue.quantile(1), 1s);
  EXPECT_EQ(s.compute.count(), 1U);
  expect_about(s.compute.quantile(0.5), 2s);
  EXPECT_EQ(s.total.count(), 2U);
  expect_about(s.total.quantile(0), 2s);
  expect_about(s.total.quantile(1), 3s);
  ASSERT_EQ(s.replicas.size(), 1U);
  EXPECT_EQ(s.replicas[0], (topos::replica_statistics{.batches = 1, .items = 2}));
  EXPECT_EQ(s.replicas[0].total.count(), 2U);
  expect_about(s.replicas[0].total.quantile(1), 3s);
}

}  // namespace batcher_test
