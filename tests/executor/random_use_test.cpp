// SPDX-License-Identifier: Apache-2.0

/// Executors that are used by each other's models, callbacks and generators, and that end at any
/// moment, end everything once. TOPOS_TEST_STORM sets the number of items (20,000).

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <utility>
#include <vector>

namespace random_use_test {

using item = std::uint64_t;
using executor = topos::batcher<item, item>;

std::size_t rounds() {
  const char* const told = std::getenv("TOPOS_TEST_STORM");
  return (told == nullptr ? 20'000 : std::strtoul(told, nullptr, 10)) / 1000;
}

topos::executor_options some_options(std::mt19937_64& random) {
  topos::executor_options of{.replicas = 1 + random() % 3, .max_batch_size = 1 + random() % 6};
  of.max_batch_cost = random() % 2 * 10;
  of.too_large = random() % 2 == 0 ? topos::oversize::alone : topos::oversize::reject;
  of.look_ahead = random() % 2 * 6;
  of.max_delay = std::chrono::microseconds(random() % 3 * 100);
  of.queue_capacity = 1 + random() % 12;
  of.full = static_cast<topos::when_full>(random() % 3);
  of.idempotent = random() % 2 == 0;
  of.priority_levels = 1 + random() % 3;
  of.ageing = std::chrono::microseconds(random() % 200);
  return of;
}

// What became of what was asked for.
struct tally {
  std::atomic<std::size_t> asked{0};
  std::atomic<std::size_t> told{0};
};

// One user: of items alone, of callbacks that submit again, of streams that are left.
class user {
 public:
  user(executor& outer, executor& inner, tally& all, std::uint64_t seed)
      : outer_(outer), inner_(inner), all_(all), random_(seed) {}

  void work() {
    for (int i = 0; i < 12; ++i) {
      try {
        switch (random_() % 5) {
          case 0:
            take_results();
            break;
          case 1:
            take_requests();
            break;
          default:
            submit();
            break;
        }
      } catch (const topos::error&) {  // it has ended
      } catch (const std::exception&) {
      }
    }
    for (topos::future<item>& f : kept_) tell(f);
  }

 private:
  topos::submit_options<> some_way() {
    topos::submit_options<> how{.priority = random_() % 3};
    const auto now = std::chrono::steady_clock::now();
    if (random_() % 8 == 0) how.deadline = now + std::chrono::microseconds(random_() % 300);
    if (random_() % 4 == 0) how.stop = stop_.get_token();
    return how;
  }

  void submit() {
    topos::future<item> f = outer_.submit(random_(), some_way());
    switch (random_() % 6) {
      case 0:
        static_cast<void>(f.cancel());
        break;
      case 1:
        f = follow(std::move(f));
        break;
      case 2:
        f = follow(follow(std::move(f)));
        if (random_() % 2 == 0) static_cast<void>(f.cancel());
        break;
      case 3:
        stop_.request_stop();
        stop_ = {};
        break;
      case 4:
        return;  // the result is dropped
      default:
        break;
    }
    ++all_.asked;
    kept_.push_back(std::move(f));
  }

  // Submits again, which may be refused, blocks, or throws.
  topos::future<item> follow(topos::future<item> f) {
    return std::move(f).then([&inner = inner_, seed = random_()](item x) {
      if (seed % 4 == 0) throw std::domain_error("as wanted");
      if (seed % 4 == 1) std::this_thread::yield();
      if (seed % 4 == 2) return inner.submit(x).get();
      return x;
    });
  }

  void tell(topos::future<item>& f) {
    try {
      static_cast<void>(f.get());
    } catch (const std::exception&) {
    }
    ++all_.told;
  }

  topos::request_options some_order() {
    topos::request_options of{.request_size = 1 + random_() % 5};
    if (random_() % 2 == 0) of.order = topos::result_order::as_completed;
    if (random_() % 2 == 0) of.on_progress = [](std::size_t) { throw 1; };
    return of;
  }

  // Ends, or throws, or uses the other executor itself.
  auto generator() {
    return [this, left = random_() % 40, bad = random_() % 80]() mutable -> std::optional<item> {
      if (left == bad) throw std::domain_error("no more");
      if (left-- == 0) return std::nullopt;
      return left % 16 == 3 ? inner_.submit(left).get() : left;
    };
  }

  void take_results() {
    auto stream = outer_.map(generator(), some_order());
    std::size_t left = random_() % 50;
    for (int again = 0; again < 5; ++again) {
      try {
        for (item& result : stream) {
          static_cast<void>(result);
          if (left-- == 0) return;
        }
        return;
      } catch (const std::exception&) {  // of one request
      }
    }
  }

  void take_requests() {
    auto stream = outer_.requests(generator(), some_order());
    std::size_t left = random_() % 10;
    std::vector<topos::future<std::vector<item>>> futures;
    for (auto& f : stream) {
      if (random_() % 4 == 0) static_cast<void>(f.cancel());
      if (random_() % 2 == 0) futures.push_back(std::move(f));
      if (left-- == 0) break;
    }
    for (auto& f : futures) {
      ++all_.asked;
      try {
        static_cast<void>(f.get());
      } catch (const std::exception&) {
      }
      ++all_.told;
    }
  }

  executor& outer_;
  executor& inner_;
  tally& all_;
  std::mt19937_64 random_;
  std::stop_source stop_;
  std::vector<topos::future<item>> kept_;
};

TEST(random_use, ends_everything_once) {
  for (std::size_t round = 0; round < rounds(); ++round) {
    SCOPED_TRACE(round);
    std::mt19937_64 random(round);
    tally all;
    topos::statistics after;
    topos::statistics after_inner;
    {
      executor inner(
          [](std::span<const item> batch, const std::stop_token& stop) {
            if (stop.stop_requested() || batch[0] % 7 == 0) throw std::domain_error("inner");
            return std::vector<item>(batch.begin(), batch.end());
          },
          some_options(random));
      executor outer(
          [&inner](std::span<const item> batch) {
            std::vector<topos::outcome<item>> results;
            for (const item x : batch) {
              if (x % 31 == 1) throw std::bad_alloc();
              if (x % 31 == 2) throw std::domain_error("outer");
              if (x % 31 == 3)
                results.push_back(topos::outcome<item>::failed(std::domain_error("one")));
              else if (x % 31 == 4)
                results.push_back(inner.submit(x).get());
              else
                results.push_back(x);
            }
            return results;
          },
          some_options(random),
          [](const item& x) -> std::size_t {
            if (x % 64 == 0) throw std::domain_error("cost");
            return x % 13;
          });
      std::vector<std::thread> threads;
      for (std::uint64_t u = 0; u < 3; ++u) {
        threads.emplace_back([&, seed = random()] { user(outer, inner, all, seed).work(); });
      }
      const std::size_t end = random() % 4;
      while (end != 0 && outer.stats().submitted < random() % 60 && all.told < 20)
        std::this_thread::yield();
      if (end == 1) outer.abort();
      if (end == 2) inner.abort();
      if (end == 3) {
        static_cast<void>(
            outer.drain(std::chrono::steady_clock::now() + std::chrono::microseconds(50)));
      }
      for (std::thread& t : threads) t.join();
      EXPECT_TRUE(outer.drain());
      EXPECT_TRUE(inner.drain());
      after = outer.stats();
      after_inner = inner.stats();
    }
    EXPECT_EQ(all.asked, all.told);
    EXPECT_EQ(after.pending(), 0U);
    EXPECT_EQ(after_inner.pending(), 0U);
  }
}

}  // namespace random_use_test
