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
#include <topos/tensor/enqueue.hpp>
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

// Asked to stop, the first call loses its replica; a second one would never be asked.
struct lost_when_stopped {
  std::vector<int> operator()(std::span<const int> batch, const std::stop_token& stop) const {
    const bool first = ++*calls == 1;
    while (first && !stop.stop_requested()) std::this_thread::yield();
    if (first) throw topos::device_lost("it is gone");
    return twice(batch);
  }
  std::atomic<int>* calls;
};

TEST(endings, by_abort_are_of_a_lost_replicas_batch_too) {
  std::atomic<int> calls = 0;
  topos::batcher<int, int> b(lost_when_stopped{&calls}, {.devices = {topos::cpu()}, .replicas = 2});
  topos::future<int> result = b.submit(1);
  while (calls == 0) std::this_thread::yield();
  b.abort();
  EXPECT_THROW(result.get(), topos::device_lost);
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(b.stats().failed, 1u);
}

TEST(endings, of_dropped_requests_are_not_left_to_other_replicas) {
  std::atomic<int> calls = 0;
  topos::batcher<int, int> b(lost_when_stopped{&calls}, {.devices = {topos::cpu()}, .replicas = 2});
  {
    const auto results = b.map(std::vector<int>{1});
    while (calls == 0) std::this_thread::yield();
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(b.stats().failed, 1u);
  EXPECT_EQ(b.submit(4).get(), 8);
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

// An item, or parameters, whose end is told.
struct told {
  explicit told(std::function<void()> f) : at_end(nullptr, [f = std::move(f)](void*) { f(); }) {}
  bool operator==(const told&) const { return true; }
  std::shared_ptr<void> at_end;
};

std::vector<int> ones(std::span<const told> batch) { return std::vector<int>(batch.size(), 1); }

TEST(endings, of_withdrawn_items_may_use_the_executor) {
  int asked = 0;
  topos::batcher<told, int> b(ones, {.devices = {topos::cpu()}, .hold_until = 9});
  topos::future<int> f = b.submit(told([&] {
    static_cast<void>(b.stats());
    ++asked;
  }));
  EXPECT_TRUE(f.cancel());
  EXPECT_EQ(asked, 1);
  EXPECT_THROW(f.get(), topos::cancelled);
}

TEST(endings, of_items_at_their_deadline_may_use_the_executor) {
  topos::manual_time time;
  std::atomic<int> asked = 0;
  topos::batcher<told, int> b(ones, {.devices = {topos::cpu()}, .hold_until = 9, .time = &time});
  topos::future<int> f = b.submit(told([&] {
                                    static_cast<void>(b.stats());
                                    ++asked;
                                  }),
                                  {.deadline = time.now() + 1s});
  time.wait_for_waiters(1);
  time.advance(1s);
  EXPECT_THROW(f.get(), topos::deadline_exceeded);
  EXPECT_EQ(asked, 1);
}

// The item was withdrawn and its future dropped while it ran: the batch has the last of it.
TEST(endings, of_parameters_may_use_the_executor) {
  gate hold;
  std::atomic<int> asked = 0;
  topos::batcher<int, int, told>* self = nullptr;
  topos::batcher<int, int, told> b(
      [&](std::span<const int> batch, const told&) {
        hold.pass();
        return twice(batch);
      },
      {.devices = {topos::cpu()}});
  self = &b;
  {
    topos::future<int> f = b.submit(1, {.parameters = told([&] {
                                          static_cast<void>(self->stats());
                                          ++asked;
                                        })});
    hold.await(1);
    EXPECT_TRUE(f.cancel());
  }
  hold.open();
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(asked, 1);
}

// Its item ends after it was taken out of the queue, and before its future is ready.
TEST(endings, of_aborted_work_are_awaited_by_drain) {
  topos::manual_time time;
  bool drained = true;
  topos::batcher<told, int> b(ones, {.devices = {topos::cpu()}, .hold_until = 9, .time = &time});
  topos::future<int> f = b.submit(told([&] { drained = b.drain(time.now()); }));
  b.abort();
  EXPECT_FALSE(drained);
  EXPECT_TRUE(b.drain());
  EXPECT_THROW(f.get(), topos::cancelled);
}

// Its first batch goes as told, whichever endpoint it is of; the endpoints' queues are made in an
// unspecified order.
struct two_faced {
  explicit two_faced(topos::device) {}
  std::vector<int> a(std::span<const int> batch) { return run(batch); }
  std::vector<int> b(std::span<const int> batch) { return run(batch); }
  static std::vector<int> run(std::span<const int> batch) {
    ++calls;
    first(batch);
    return twice(batch);
  }
  static inline std::atomic<int> calls = 0;
  static inline std::function<void(std::span<const int>)> first;
};

using two_endpoints = topos::deployment<two_faced, topos::endpoint<"/a", &two_faced::a>,
                                        topos::endpoint<"/b", &two_faced::b>>;

template <topos::fixed_string First, topos::fixed_string Other>
void lose_with_both_waiting() {
  topos::manual_time time;
  gate hold;
  two_faced::first = [&](std::span<const int>) {
    hold.pass();
    throw topos::device_lost("it is gone");
  };
  two_endpoints dep({.devices = {topos::cpu()}, .max_batch_size = 1, .time = &time});
  std::vector<topos::future<int>> all;
  all.push_back(dep.submit<First>(0));
  hold.await(1);
  for (int i = 0; i < 50; ++i) all.push_back(dep.submit<First>(i));
  all.push_back(dep.submit<Other>(1));
  bool drained = false;
  std::size_t unready = 0;
  std::thread drains([&] {
    drained = dep.drain();
    for (const auto& f : all) unready += f.is_ready() ? 0 : 1;
  });
  time.wait_for_waiters(1);
  hold.open();
  drains.join();
  EXPECT_TRUE(drained);
  EXPECT_EQ(unready, 0u);
  for (auto& f : all) EXPECT_THROW(f.get(), topos::device_lost);
}

TEST(endings, of_the_last_replica_fail_the_work_of_all_endpoints) {
  lose_with_both_waiting<"/a", "/b">();
  lose_with_both_waiting<"/b", "/a">();
}

template <topos::fixed_string First, topos::fixed_string Other>
void abort_with_both_waiting() {
  gate hold;
  two_faced::calls = 0;
  two_faced::first = [&](std::span<const int>) { hold.pass(); };
  two_endpoints dep({.devices = {topos::cpu()}, .max_batch_size = 1});
  topos::future<int> runs = dep.submit<First>(21);
  hold.await(1);
  std::vector<topos::future<int>> waiting;
  for (int i = 0; i < 50; ++i) waiting.push_back(dep.submit<First>(i));
  for (int i = 0; i < 50; ++i) waiting.push_back(dep.submit<Other>(i));
  dep.abort();
  hold.open();
  for (auto& f : waiting) EXPECT_THROW(f.get(), topos::cancelled);
  EXPECT_EQ(runs.get(), 42);
  EXPECT_EQ(two_faced::calls, 1);
}

TEST(endings, by_abort_are_of_all_endpoints) {
  abort_with_both_waiting<"/a", "/b">();
  abort_with_both_waiting<"/b", "/a">();
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
  EXPECT_EQ(b.submit(5).get(), 10);  // it is still open
}

// What a device was lost with.
struct lost_with : topos::device_lost {
  explicit lost_with(std::function<void()> f)
      : device_lost("gone"), at_end(nullptr, [f = std::move(f)](void*) { f(); }) {}
  std::shared_ptr<void> at_end;
};

TEST(endings, of_what_a_replica_was_lost_with_may_use_the_executor) {
  std::atomic<bool> first = true;
  std::atomic<bool> asked = false;
  std::function<void()> ask;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        if (first.exchange(false)) throw lost_with([&] { ask(); });
        return std::vector<int>(batch.begin(), batch.end());
      },
      {.replicas = 2});
  ask = [&] {
    static_cast<void>(b.stats());
    asked = true;
    asked.notify_all();
  };
  EXPECT_EQ(b.submit(1).get(), 1);
  asked.wait(false);
}

TEST(endings, are_not_awaited_by_the_thread_that_makes_them) {
  topos::batcher<int, int> b(
      [](std::span<const int> batch) { return std::vector<int>(batch.begin(), batch.end()); });
  topos::tensor<float, 1> y({1}, topos::cpu());
  bool refused = false;
  topos::enqueue(topos::cpu(), topos::reads(), topos::writes(y), [&](const auto&, const auto&) {
    try {
      static_cast<void>(b.drain());
    } catch (const topos::error&) {
      refused = true;
    }
  });
  y.block_until_ready();
  EXPECT_TRUE(refused);
  EXPECT_EQ(b.submit(1).get(), 1);
}

}  // namespace endings_test
