// SPDX-License-Identifier: Apache-2.0
// Work that ends while its owners go: each future ends, and nobody waits for what cannot come.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <topos/executor.hpp>
#include <utility>
#include <vector>

#include "gate.hpp"

namespace endings_test {

using namespace std::chrono_literals;

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

// The others have nothing to do and were told to stop, when the first is lost with its batch.
TEST(endings, of_a_replica_lost_during_shutdown_are_brought_by_the_others) {
  gate lost;
  std::atomic<int> calls = 0;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        if (++calls == 1) {
          lost.pass();
          throw topos::device_lost("it is gone");
        }
        return twice(batch);
      },
      {.devices = {topos::cpu()}, .replicas = 2});
  topos::future<int> result = b.submit(21);
  lost.await(1);
  std::thread opens([&] {
    while (!b.stats().pending()) std::this_thread::yield();
    EXPECT_FALSE(b.drain(std::chrono::steady_clock::now()));
    lost.open();
  });
  opens.join();
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(result.get(), 42);
}

TEST(endings, of_the_last_replica_fail_all_work) {
  topos::batcher<int, int> b(
      [](std::span<const int>) -> std::vector<int> { throw topos::device_lost("it is gone"); },
      {.devices = {topos::cpu()}, .replicas = 2, .max_batch_size = 1, .hold_until = 3});
  std::vector<topos::future<int>> results;
  for (int i = 0; i < 3; ++i) results.push_back(b.submit(i));
  for (auto& result : results) EXPECT_THROW(result.get(), topos::device_lost);
  EXPECT_THROW(static_cast<void>(b.submit(1)), topos::device_lost);
  EXPECT_EQ(b.stats().failed, 3u);
}

// Whoever asks to stop has the last reference to the item, which leaves its queue meanwhile.
TEST(endings, by_a_stop_token_need_no_future) {
  topos::batcher<int, int> b(twice, {.devices = {topos::cpu()}, .max_delay = 1h});
  for (int i = 0; i < 1'000; ++i) {
    std::stop_source stop;
    static_cast<void>(b.submit(i, {.stop = stop.get_token()}));
    std::thread other([&] { stop.request_stop(); });
    static_cast<void>(b.submit(i).cancel());
    other.join();
  }
  EXPECT_EQ(b.stats().cancelled + b.stats().done, 2'000u);
}

// A result whose end asks for the executor.
struct inquisitive {
  explicit inquisitive(std::function<void()> f) : at_end(std::make_shared<holder>(std::move(f))) {}
  struct holder {
    explicit holder(std::function<void()> f) : call(std::move(f)) {}
    ~holder() { call(); }
    std::function<void()> call;
  };
  std::shared_ptr<holder> at_end;
};

TEST(endings, of_results_may_use_the_executor) {
  topos::batcher<int, inquisitive>* self = nullptr;
  std::atomic<int> asked = 0;
  {
    topos::batcher<int, inquisitive> b(
        [&](std::span<const int> batch) {
          std::vector<inquisitive> results;
          for (std::size_t i = 0; i < batch.size(); ++i)
            results.emplace_back([&] {
              static_cast<void>(self->stats());
              ++asked;
            });
          return results;
        },
        {.devices = {topos::cpu()}, .max_batch_size = 4, .look_ahead = 16, .hold_until = 64},
        [](const int& item) { return static_cast<std::size_t>(item % 5); });
    self = &b;
    const auto later = std::chrono::steady_clock::now() + 1h;
    for (int i = 0; i < 64; ++i) static_cast<void>(b.submit(i, {.deadline = later}));
    EXPECT_TRUE(b.drain());
  }
  EXPECT_EQ(asked, 64);
}

TEST(endings, are_not_awaited_inside_of_a_model) {
  topos::batcher<int, int>* self = nullptr;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        EXPECT_THROW(static_cast<void>(self->drain()), topos::error);
        return twice(batch);
      },
      {.devices = {topos::cpu()}, .hold_until = 1});
  self = &b;
  EXPECT_EQ(b.submit(4).get(), 8);
}

}  // namespace endings_test
