// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <topos/executor/request_stream.hpp>
#include <utility>
#include <vector>

#include "gate.hpp"

namespace request_stream_test {

using batcher = topos::batcher<int, int>;
using stream = topos::request_stream<int, int>;

static_assert(std::ranges::input_range<stream>);
static_assert(std::movable<stream> && !std::copyable<stream>);
static_assert(
    std::same_as<std::ranges::range_reference_t<stream>, topos::future<std::vector<int>>&>);

std::vector<int> twice_or_throw(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) {
    if (item < 0) throw std::domain_error("negative");
    results.push_back(2 * item);
  }
  return results;
}

TEST(request_stream, gives_a_future_for_each_request) {
  batcher b(twice_or_throw);
  std::vector<std::vector<int>> results;
  for (auto& f : b.requests(std::views::iota(0, 5), {.request_size = 2})) {
    results.push_back(f.get());
  }
  EXPECT_EQ(results, (std::vector<std::vector<int>>{{0, 2}, {4, 6}, {8}}));
}

TEST(request_stream, gives_futures_that_can_be_cancelled) {
  gate hold;
  std::atomic<int> calls = 0;
  batcher b([&](std::span<const int> batch, const std::stop_token& stop) {
    ++calls;
    hold.pass();
    return std::vector<int>(batch.size(), stop.stop_requested() ? 1 : 0);
  });
  auto requests = b.requests(std::vector<int>{1, 2}, {.request_size = 1});
  auto at = requests.begin();
  topos::future<std::vector<int>> running = std::move(*at);
  topos::future<std::vector<int>> waiting = std::move(*++at);
  hold.await(1);
  EXPECT_TRUE(waiting.cancel());
  EXPECT_FALSE(waiting.cancel());
  EXPECT_FALSE(running.cancel());
  EXPECT_FALSE(running.is_ready());
  hold.open();
  EXPECT_THROW(waiting.get(), topos::cancelled);
  EXPECT_EQ(running.get(), std::vector<int>{1});
  EXPECT_EQ(calls, 1);
}

TEST(request_stream, of_nothing_is_empty) {
  batcher b(twice_or_throw);
  for (auto& f : b.requests(std::vector<int>{})) FAIL() << f.get().size();
  EXPECT_EQ(b.stats().submitted, 0U);
}

TEST(request_stream, keeps_errors_to_their_requests) {
  batcher b(twice_or_throw);
  int good = 0;
  int bad = 0;
  for (auto& f : b.requests(std::vector<int>{1, 2, -3, 4, 5, 6}, {.request_size = 2})) {
    try {
      good += static_cast<int>(f.get().size());
    } catch (const std::domain_error&) {
      ++bad;
    }
  }
  EXPECT_EQ(good, 4);
  EXPECT_EQ(bad, 1);
}

TEST(request_stream, lets_its_futures_be_kept) {
  std::vector<topos::future<std::vector<int>>> kept;
  {
    batcher b(twice_or_throw);
    for (auto& f : b.requests(std::views::iota(0, 1000), {.request_size = 10})) {
      kept.push_back(std::move(f));
    }
    EXPECT_EQ(b.stats().cancelled, 0U);
  }
  ASSERT_EQ(kept.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(kept[static_cast<std::size_t>(i)].get()[3], 2 * (10 * i + 3));
  }
}

TEST(request_stream, has_two_requests_for_each_replica_under_way_at_most) {
  batcher* self = nullptr;
  std::atomic<std::uint64_t> most = 0;
  gate hold;
  batcher b(
      [&](std::span<const int> batch) {
        hold.pass();
        most = std::max(most.load(), self->stats().pending());
        return twice_or_throw(batch);
      },
      {.replicas = 1});
  self = &b;
  auto requests = b.requests(std::views::iota(0, 500), {.request_size = 5});
  hold.await(1);
  EXPECT_EQ(b.stats().submitted, 10U);
  hold.open();
  // Nobody waits for the futures: the stream itself holds back.
  for (auto& f : requests) static_cast<void>(f);
  EXPECT_LE(most.load(), 10U);
  EXPECT_EQ(b.stats().done, 500U);
}

// As for a `result_stream`.
TEST(request_stream, does_not_wait_for_a_slow_generator_where_requests_are_ready) {
  gate hold;
  batcher b(
      [&](std::span<const int> batch) {
        if (batch[0] == 1'000) hold.pass();
        return twice_or_throw(batch);
      },
      {.devices = {topos::cpu()}, .replicas = 2, .max_batch_size = 1});
  auto busy = b.submit(1'000);  // so that the other replica does all else, in order
  hold.await(1);
  int made = 0;
  const auto slow = [&]() -> std::optional<int> {
    if (made == 10) return std::nullopt;
    if (made != 0) b.submit(1).wait();
    return made++;
  };
  int used = 0;
  for (auto& f : b.requests(slow, {.request_size = 1})) {
    EXPECT_EQ(f.get(), std::vector<int>{2 * used++});
    EXPECT_LE(made, used + 2);
  }
  EXPECT_EQ(used, 10);
  hold.open();
}

TEST(request_stream, lets_more_urgent_items_pass_its_requests) {
  std::vector<int> first_of_batches;
  gate hold;
  topos::manual_time time;
  batcher b(
      [&](std::span<const int> batch) {
        hold.pass();
        first_of_batches.push_back(batch.front());
        return twice_or_throw(batch);
      },
      {.replicas = 1,
       .max_batch_size = 1,
       .max_delay = std::chrono::hours(1),
       .priority_levels = 2,
       .ageing = std::chrono::seconds(10),
       .time = &time});
  auto requests = b.requests(std::views::iota(0, 10), {.request_size = 5});
  hold.await(1);
  auto as_urgent = b.submit(100, {.priority = 0});
  time.advance(std::chrono::seconds(9));
  auto urgent = b.submit(200, {.priority = 1});  // counts from 1 s before the second request
  time.advance(std::chrono::seconds(2));
  auto late = b.submit(300, {.priority = 1});  // counts from 1 s after it
  hold.open();
  for (auto& f : requests) f.wait();
  EXPECT_EQ(urgent.get() + as_urgent.get() + late.get(), 2 * (100 + 200 + 300));
  EXPECT_EQ(first_of_batches, (std::vector<int>{0, 200, 5, 100, 300}));
}

TEST(request_stream, throws_what_its_source_threw_after_what_came_before) {
  batcher b(twice_or_throw);
  auto requests = b.requests(
      [n = 0]() mutable -> std::optional<int> {
        if (n == 3) throw std::runtime_error("no more");
        return n++;
      },
      {.request_size = 2});
  std::vector<int> good;
  EXPECT_THROW(
      {
        for (auto& f : requests) {
          for (const int r : f.get()) good.push_back(r);
        }
      },
      std::runtime_error);
  EXPECT_EQ(good, (std::vector{0, 2, 4}));
  EXPECT_TRUE(requests.begin() == requests.end());
}

TEST(request_stream, cancels_only_what_was_not_handed_out) {
  gate hold;
  batcher b([&](std::span<const int> batch) {
    hold.pass();
    return twice_or_throw(batch);
  });
  auto requests =
      std::make_unique<stream>(b.requests(std::views::iota(0, 30), {.request_size = 10}));
  hold.await(1);
  auto first = std::move(*requests->begin());
  std::thread release([&] {
    while (b.stats().cancelled == 0) std::this_thread::yield();
    hold.open();
  });
  requests.reset();
  EXPECT_TRUE(first.is_ready());
  EXPECT_EQ(first.get().size(), 10U);
  EXPECT_EQ(b.stats().cancelled, 10U);
  release.join();
}

TEST(request_stream, is_refused_inside_of_the_only_replica) {
  batcher* self = nullptr;
  batcher b([&](std::span<const int> batch) {
    if (batch.size() == 1) {
      auto requests = self->requests(std::vector<int>(4), {.request_size = 2});
      EXPECT_THROW(static_cast<void>(requests.begin()), topos::error);
    }
    return twice_or_throw(batch);
  });
  self = &b;
  EXPECT_EQ(b.submit(1).get(), 2);
}

}  // namespace request_stream_test
