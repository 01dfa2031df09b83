// SPDX-License-Identifier: Apache-2.0

/// What a batch that fails does to its items, and to nobody else.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <topos/executor/deployment.hpp>
#include <utility>
#include <vector>

#include "gate.hpp"

namespace failing_batch_test {

constexpr int bad = -1;

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

std::vector<int> twice_but_the_bad(std::span<const int> batch) {
  if (std::find(batch.begin(), batch.end(), bad) != batch.end()) throw std::domain_error("bad");
  return twice(batch);
}

// Submits all before any starts, and says which failed; the others are twice what they were.
template <class Batcher>
std::vector<std::size_t> failures_of(Batcher& b, const std::vector<int>& items) {
  std::vector<topos::future<int>> futures;
  for (const int item : items) futures.push_back(b.submit(item));
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < items.size(); ++i) {
    try {
      EXPECT_EQ(futures[i].get(), 2 * items[i]);
    } catch (const std::domain_error&) {
      failed.push_back(i);
    }
  }
  return failed;
}

TEST(failing_batch, fails_its_bad_item_alone_where_it_may_be_run_again) {
  std::vector<int> items(64, 1);
  items[37] = bad;
  topos::batcher<int, int> b(twice_but_the_bad,
                             {.max_batch_size = 64, .idempotent = true, .hold_until = 64});
  EXPECT_EQ(failures_of(b, items), (std::vector<std::size_t>{37}));
  EXPECT_EQ(b.stats().reruns, 12U);  // two for each halving of 64
  EXPECT_EQ(b.stats(),
            (topos::statistics{
                .submitted = 64, .done = 63, .failed = 1, .reruns = 12, .batch_sizes = {{64, 1}}}));
}

TEST(failing_batch, fails_k_bad_items_in_k_log_n_reruns) {
  std::vector<int> items(256, 1);
  const std::vector<std::size_t> at{0, 100, 101, 255};
  for (const std::size_t i : at) items[i] = bad;
  topos::batcher<int, int> b(twice_but_the_bad,
                             {.max_batch_size = 256, .idempotent = true, .hold_until = 256});
  EXPECT_EQ(failures_of(b, items), at);
  EXPECT_LE(b.stats().reruns, 2U * 4 * 8);
}

TEST(failing_batch, fails_as_a_whole_where_it_may_not) {
  topos::batcher<int, int> b(twice_but_the_bad, {.max_batch_size = 4, .hold_until = 4});
  EXPECT_EQ(failures_of(b, {1, bad, 2, 3}), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(b.stats().reruns, 0U);
}

TEST(failing_batch, is_halved_without_memory) {
  std::vector<std::size_t> sizes;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        sizes.push_back(batch.size());
        if (batch.size() > 8) throw std::bad_alloc();
        return twice(batch);
      },
      {.max_batch_size = 32, .hold_until = 32});
  EXPECT_TRUE(failures_of(b, std::vector<int>(32, 3)).empty());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{32, 16, 8, 8, 16, 8, 8}));
  // A request too, and its results are in order.
  sizes.clear();
  std::vector<int> items(20);
  for (int i = 0; i < 20; ++i) items[static_cast<std::size_t>(i)] = i;
  std::vector<int> results;
  for (const int r : b.map(items, {.request_size = 20})) results.push_back(r);
  EXPECT_EQ(results, twice(items));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{20, 10, 5, 5, 10, 5, 5}));
}

TEST(failing_batch, of_outcomes_fails_only_what_the_model_says) {
  topos::batcher<int, int> b(
      [](std::span<const int> batch) {
        std::vector<topos::outcome<int>> results;
        for (const int item : batch) {
          if (item == bad)
            results.push_back(topos::outcome<int>::failed(std::domain_error("bad")));
          else
            results.push_back(2 * item);
        }
        return results;
      },
      {.max_batch_size = 4, .hold_until = 4});
  EXPECT_EQ(failures_of(b, {1, bad, bad, 3}), (std::vector<std::size_t>{1, 2}));
}

TEST(failing_batch, of_outcomes_that_are_null_is_an_error) {
  topos::batcher<int, int> b([](std::span<const int> batch) {
    return std::vector<topos::outcome<int>>(batch.size(), std::exception_ptr());
  });
  EXPECT_THROW(b.submit(1).get(), topos::error);
  auto results = b.map(std::vector<int>{1, 2});
  EXPECT_THROW(static_cast<void>(results.begin()), topos::error);
}

struct with_share : std::runtime_error {
  explicit with_share(std::shared_ptr<int> s) : std::runtime_error("shared"), share(std::move(s)) {}
  std::shared_ptr<int> share;
};

TEST(failing_batch, of_outcomes_lets_go_of_their_failures) {
  const auto owned = std::make_shared<int>(1);
  topos::batcher<int, int> b([&](std::span<const int>) {
    return std::vector<topos::outcome<int>>{topos::outcome<int>::failed(with_share(owned))};
  });
  EXPECT_THROW(b.submit(1).get(), with_share);
  EXPECT_EQ(owned.use_count(), 1);
}

// Whether all are withdrawn or the executor was told to abort.
TEST(failing_batch, is_not_run_again_for_nobody) {
  for (const bool abort : {false, true}) {
    gate hold;
    std::atomic<int> calls = 0;
    topos::batcher<int, int> b(
        [&](std::span<const int>, const std::stop_token& stop) -> std::vector<int> {
          ++calls;
          hold.pass();
          while (!stop.stop_requested()) std::this_thread::yield();
          throw topos::cancelled("it was asked to stop");
        },
        {.max_batch_size = 8, .idempotent = true, .hold_until = 8});
    std::vector<topos::future<int>> futures;
    for (int i = 0; i < 8; ++i) futures.push_back(b.submit(i));
    hold.await(1);
    if (abort) b.abort();
    for (const auto& f : futures) static_cast<void>(abort || f.cancel());
    hold.open();
    EXPECT_TRUE(b.drain());
    for (auto& f : futures) EXPECT_THROW(f.get(), topos::cancelled);
    EXPECT_EQ(calls, 1);
  }
}

// Fails once the gate is open, and takes no stop token.
auto fails_behind(gate& hold, std::atomic<int>& calls) {
  return [&](std::span<const int>) -> std::vector<int> {
    ++calls;
    hold.pass();
    throw std::domain_error("bad");
  };
}

// What came of a batch of so many that failed once its executor had been told to abort.
struct aborted_batch {
  aborted_batch(int items, bool idempotent) {
    gate hold;
    std::atomic<int> calls = 0;
    topos::batcher<int, int> b(
        fails_behind(hold, calls),
        {.idempotent = idempotent, .hold_until = static_cast<std::size_t>(items)});
    for (int i = 0; i < items; ++i) futures.push_back(b.submit(i));
    hold.await(1);
    b.abort();
    hold.open();
    EXPECT_TRUE(b.drain());
    EXPECT_EQ(calls, 1);
    stats = b.stats();
  }
  std::vector<topos::future<int>> futures;
  topos::statistics stats;
};

TEST(failing_batch, is_not_run_again_once_its_executor_was_told_to_abort) {
  aborted_batch of(8, true);
  for (auto& f : of.futures) EXPECT_THROW(f.get(), topos::cancelled);
  EXPECT_EQ(of.stats.cancelled, 8U);
  EXPECT_EQ(of.stats.failed, 0U);
}

TEST(failing_batch, fails_as_ever_after_abort_where_it_would_not_be_run_again) {
  for (const auto& [items, idempotent] : {std::pair{8, false}, std::pair{1, true}}) {
    aborted_batch of(items, idempotent);
    for (auto& f : of.futures) EXPECT_THROW(f.get(), std::domain_error);
    EXPECT_EQ(of.stats.failed, of.stats.submitted);
  }
}

TEST(failing_batch, of_a_request_is_not_run_again_once_it_was_asked_to_stop) {
  for (const bool abort : {false, true}) {
    gate hold;
    std::atomic<int> calls = 0;
    topos::batcher<int, int> b(fails_behind(hold, calls), {.idempotent = true});
    auto requests = b.requests(std::vector<int>(8));
    auto request = std::move(*requests.begin());
    hold.await(1);
    if (abort) b.abort();
    EXPECT_TRUE(abort || !request.cancel());  // since it runs
    hold.open();
    EXPECT_THROW(request.get(), topos::cancelled);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(b.stats().cancelled, 8U);
    EXPECT_EQ(b.stats().failed, 0U);
  }
}

// Its move throws once it is told to.
struct unmovable {
  explicit unmovable(int v) : value(v) {}
  unmovable(unmovable&& other) : value(other.value) {
    if (stuck && value == bad) throw std::runtime_error("cannot be moved");
  }
  unmovable& operator=(unmovable&&) = default;
  int value;
  static inline std::atomic<bool> stuck = false;
};

TEST(failing_batch, of_outcomes_that_cannot_be_moved_fails_them_alone) {
  unmovable::stuck = false;
  topos::batcher<int, unmovable> b(
      [](std::span<const int> batch) {
        std::vector<topos::outcome<unmovable>> results;
        results.reserve(batch.size());
        for (const int item : batch) results.emplace_back(unmovable(item));
        unmovable::stuck = true;
        return results;
      },
      {.hold_until = 2});
  auto stuck = b.submit(bad);
  auto neighbour = b.submit(2);
  EXPECT_THROW(static_cast<void>(stuck.get()), std::runtime_error);
  EXPECT_EQ(neighbour.get().value, 2);
}

TEST(failing_batch, fails_items_that_cannot_be_moved_alone) {
  unmovable::stuck = false;
  topos::batcher<unmovable, int> b(
      [](std::span<const unmovable> batch) {
        std::vector<int> results;
        for (const unmovable& item : batch) results.push_back(2 * item.value);
        return results;
      },
      {.hold_until = 3});
  auto first = b.submit(unmovable(1));
  auto stuck = b.submit(unmovable(bad));
  unmovable::stuck = true;
  auto last = b.submit(unmovable(3));
  EXPECT_EQ(first.get(), 2);
  EXPECT_THROW(stuck.get(), std::runtime_error);
  EXPECT_EQ(last.get(), 6);
  EXPECT_EQ(b.stats().failed, 1U);
}

TEST(failing_batch, of_a_lost_device_fails_items_that_cannot_be_moved_to_another) {
  unmovable::stuck = false;
  std::atomic<int> calls = 0;
  topos::batcher<unmovable, int> b(
      [&](std::span<const unmovable> batch) {
        if (++calls == 1) {
          unmovable::stuck = true;
          throw topos::device_lost("it is gone");
        }
        return std::vector<int>(batch.size(), 1);
      },
      {.devices = {topos::cpu()}, .replicas = 2, .hold_until = 2});
  auto stuck = b.submit(unmovable(bad));
  auto neighbour = b.submit(unmovable(2));
  EXPECT_THROW(stuck.get(), std::runtime_error);
  EXPECT_EQ(neighbour.get(), 1);
}

TEST(failing_batch, of_the_wrong_count_is_not_run_again) {
  std::atomic<int> calls = 0;
  topos::batcher<int, int> b(
      [&](std::span<const int>) {
        ++calls;
        return std::vector<int>{7};
      },
      {.max_batch_size = 4, .idempotent = true, .hold_until = 4});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 4; ++i) futures.push_back(b.submit(i));
  for (auto& f : futures) EXPECT_THROW(f.get(), topos::error);
  EXPECT_EQ(calls, 1);
}

TEST(failing_batch, may_write_results_in_place) {
  topos::batcher<int, int> b([](std::span<const int> batch, std::span<int> results) {
    for (std::size_t i = 0; i < batch.size(); ++i) results[i] = 2 * batch[i];
  });
  EXPECT_TRUE(failures_of(b, {1, 2, 3, 4}).empty());
}

// Its first instance loses its device at the first batch.
class fragile {
 public:
  explicit fragile(topos::device) : number_(made++) {}
  std::vector<int> run(std::span<const int> batch) {
    if (number_ == 0 || all_are_lost) throw topos::device_lost("the device fell off the bus");
    return twice(batch);
  }
  static inline std::atomic<int> made = 0;
  static inline std::atomic<bool> all_are_lost = false;

 private:
  int number_;
};

using fragile_deployment = topos::deployment<fragile, topos::endpoint<"/run", &fragile::run>>;

TEST(failing_batch, of_a_lost_device_ends_on_the_others) {
  fragile::made = 0;
  fragile::all_are_lost = false;
  fragile_deployment dep({.replicas = 2, .max_batch_size = 4});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(dep.submit<"/run">(i));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), 2 * i);
  std::vector<int> results;
  for (const int r : dep.post<"/run">(std::vector<int>{1, 2, 3})) results.push_back(r);
  EXPECT_EQ(results, (std::vector{2, 4, 6}));
  EXPECT_EQ(dep.stats().done, 103U);
}

TEST(failing_batch, of_the_last_device_fails_all_that_waits_and_comes) {
  fragile::made = 0;
  fragile::all_are_lost = true;
  fragile_deployment dep({.replicas = 2, .max_batch_size = 4, .hold_until = 8});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 8; ++i) futures.push_back(dep.submit<"/run">(i));
  for (auto& f : futures) EXPECT_THROW(f.get(), topos::device_lost);
  EXPECT_THROW(static_cast<void>(dep.submit<"/run">(1)), topos::device_lost);
  EXPECT_EQ(dep.stats().failed, 8U);
}

}  // namespace failing_batch_test
