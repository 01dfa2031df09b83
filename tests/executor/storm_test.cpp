// SPDX-License-Identifier: Apache-2.0

/// Nothing is lost, whatever happens at once. TOPOS_TEST_STORM sets the number of items (20,000).

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <vector>

namespace storm_test {

std::size_t storm_size() {
  const char* const told = std::getenv("TOPOS_TEST_STORM");
  return told == nullptr ? 20'000 : std::strtoul(told, nullptr, 10);
}

// Throws for one item in twenty.
std::vector<std::uint64_t> model(std::span<const std::uint64_t> batch) {
  std::vector<std::uint64_t> results;
  for (const std::uint64_t item : batch) {
    if (item % 20 == 7) throw std::domain_error("one in twenty");
    results.push_back(item + 1);
  }
  return results;
}

struct ends {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t expired = 0;
  std::uint64_t refused = 0;
  friend bool operator==(const ends&, const ends&) = default;
  ends& operator+=(const ends& o) {
    done += o.done;
    failed += o.failed;
    cancelled += o.cancelled;
    expired += o.expired;
    refused += o.refused;
    return *this;
  }
};

// What a future came to; a value is that of its item.
void count(ends& to, topos::future<std::uint64_t>& f, std::uint64_t item) {
  try {
    ASSERT_EQ(f.get(), item + 1);
    ASSERT_NE(item % 20, 7U);
    ++to.done;
  } catch (const std::domain_error&) {
    ASSERT_EQ(item % 20, 7U);
    ++to.failed;
  } catch (const topos::cancelled&) {
    ++to.cancelled;
  } catch (const topos::deadline_exceeded&) {
    ++to.expired;
  }
}

// One producer's share: every fourth is withdrawn, every hundredth is late.
ends produce(topos::batcher<std::uint64_t, std::uint64_t>& b, std::uint64_t seed,
             std::size_t items) {
  std::mt19937_64 random(seed);
  ends seen;
  std::vector<std::pair<std::uint64_t, topos::future<std::uint64_t>>> held;
  const auto settle = [&] {
    for (auto& [item, f] : held) count(seen, f, item);
    held.clear();
  };
  for (std::size_t i = 0; i < items; ++i) {
    const std::uint64_t item = random();
    const auto now = std::chrono::steady_clock::now();
    topos::submit_options<> how{.priority = item % 3};
    if (item / 64 % 100 == 0) how.deadline = now - std::chrono::nanoseconds(1);
    if (item / 64 % 100 == 1) how.deadline = now + std::chrono::microseconds(50);
    std::stop_source stop;
    if (item / 8192 % 8 == 0) how.stop = stop.get_token();
    try {
      held.emplace_back(item, b.submit(item, std::move(how)));
    } catch (const topos::error&) {
      ++seen.refused;
      continue;
    }
    if (item / 8192 % 8 == 0) stop.request_stop();
    if (item / 8192 % 8 == 1) static_cast<void>(held.back().second.cancel());
    if (held.size() == 200) settle();
  }
  settle();
  return seen;
}

TEST(storm, every_item_ends_once) {
  constexpr int producers = 8;
  const std::size_t each = storm_size() / producers;
  topos::batcher<std::uint64_t, std::uint64_t> b(model, {.replicas = 2,
                                                         .max_batch_size = 16,
                                                         .queue_capacity = 256,
                                                         .idempotent = true,
                                                         .priority_levels = 3});
  std::vector<ends> seen(producers);
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      seen[static_cast<std::size_t>(p)] = produce(b, static_cast<std::uint64_t>(p), each);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(b.drain());
  ends all;
  for (const ends& s : seen) all += s;
  EXPECT_EQ(all.done + all.failed + all.cancelled + all.expired, each * producers);
  const topos::statistics stats = b.stats();
  EXPECT_EQ(stats.submitted, each * producers);
  EXPECT_EQ((ends{stats.done, stats.failed, stats.cancelled, stats.expired, 0}), all);
  EXPECT_EQ(stats.pending(), 0U);
  EXPECT_GT(all.done, 0U);
  EXPECT_GT(all.failed, 0U);
  EXPECT_GT(all.cancelled, 0U);
  EXPECT_GT(all.expired, 0U);
}

TEST(storm, of_shutdowns_at_random_moments_loses_nothing) {
  std::mt19937_64 random(3);
  const std::size_t times = storm_size() / 1000;
  for (std::size_t time = 0; time < times; ++time) {
    auto b = std::make_unique<topos::batcher<std::uint64_t, std::uint64_t>>(
        model, topos::executor_options{.replicas = 1 + time % 2,
                                       .max_batch_size = 4,
                                       .queue_capacity = 8,
                                       .idempotent = true});
    std::atomic<std::uint64_t> ended = 0;
    std::vector<ends> seen(3);
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < 3; ++p) {
      threads.emplace_back([&, p] {
        seen[p] = produce(*b, time * 3 + p, 30);
        ended += 30;
      });
    }
    while (ended + b->stats().submitted < random() % 100) std::this_thread::yield();
    if (time % 3 == 0)
      b->abort();
    else
      EXPECT_TRUE(b->drain());
    for (std::thread& t : threads) t.join();
    ends all;
    for (const ends& s : seen) all += s;
    const topos::statistics stats = b->stats();
    b.reset();
    EXPECT_EQ(all.done + all.failed + all.cancelled + all.expired + all.refused, 90U);
    EXPECT_EQ((ends{stats.done, stats.failed, stats.cancelled, stats.expired, all.refused}), all);
  }
}

TEST(storm, of_ten_times_too_much_stays_bounded) {
  std::atomic<std::size_t> running = 0;
  topos::batcher<std::uint64_t, std::uint64_t> b(
      [&](std::span<const std::uint64_t> batch) {
        running = batch.size();
        return std::vector<std::uint64_t>(batch.size(), 1);
      },
      {.max_batch_size = 4, .queue_capacity = 64, .full = topos::when_full::shed_oldest});
  std::vector<topos::future<std::uint64_t>> futures;
  for (std::uint64_t i = 0; i < storm_size(); ++i) {
    futures.push_back(b.submit(i));
    ASSERT_LE(b.stats().pending(), 64U + 4U);
  }
  EXPECT_TRUE(b.drain());
  const topos::statistics stats = b.stats();
  EXPECT_EQ(stats.done + stats.shed, storm_size());
  for (const auto& f : futures) ASSERT_TRUE(f.is_ready());
}

}  // namespace storm_test
