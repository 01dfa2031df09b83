// SPDX-License-Identifier: Apache-2.0

/// How executors end: every future with them, in every state.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <latch>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/placement.hpp>
#include <vector>

#include "../support/death_test.hpp"
#include "gate.hpp"

namespace shutdown_test {

using namespace std::chrono_literals;

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

TEST(shutdown, drain_starts_partial_batches_at_once) {
  topos::manual_time time;
  topos::batcher<int, int> b(twice, {.max_batch_size = 8, .max_delay = 1h, .time = &time});
  auto f = b.submit(3);
  EXPECT_TRUE(b.drain());
  EXPECT_TRUE(f.is_ready());
  EXPECT_EQ(f.get(), 6);
  EXPECT_THROW(static_cast<void>(b.submit(1)), topos::rejected);
  EXPECT_TRUE(b.drain());
}

TEST(shutdown, drain_says_what_its_deadline_was_too_early_for) {
  topos::manual_time time;
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.time = &time});
  auto f = b.submit(3);
  hold.await(1);
  std::thread later([&] {
    time.wait_for_waiters(1);
    time.advance(5s);
  });
  EXPECT_FALSE(b.drain(time.now() + 5s));
  later.join();
  hold.open();
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(f.get(), 6);
}

TEST(shutdown, abort_ends_what_waits_and_lets_what_runs_end) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.max_batch_size = 1});
  auto running = b.submit(1);
  hold.await(1);
  auto waiting = b.submit(2);
  auto stream = b.requests(std::vector<int>{1, 2, 3});
  b.abort();
  EXPECT_THROW(waiting.get(), topos::cancelled);
  EXPECT_THROW(static_cast<void>(stream.begin()->get()), topos::cancelled);
  EXPECT_FALSE(running.is_ready());
  hold.open();
  EXPECT_EQ(running.get(), 2);
  EXPECT_EQ(b.stats().cancelled, 4U);
}

TEST(shutdown, abort_asks_what_runs_to_stop) {
  topos::batcher<int, int> b([](std::span<const int> batch, const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    return twice(batch);
  });
  auto running = b.submit(1);
  while (b.stats().batches() == 0) std::this_thread::yield();
  b.abort();
  EXPECT_EQ(running.get(), 2);
}

TEST(shutdown, abort_asks_requests_that_run_to_stop) {
  topos::batcher<int, int> b([](std::span<const int> batch, const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    return twice(batch);
  });
  auto results = b.map(std::vector<int>{1});
  while (b.stats().batches() == 0) std::this_thread::yield();
  b.abort();
  EXPECT_EQ(*results.begin(), 2);
}

TEST(shutdown, lets_go_of_the_callable_though_futures_are_left) {
  const auto owned = std::make_shared<int>(2);
  topos::future<int> left;
  {
    topos::batcher<int, int> b(
        [owned](std::span<const int> batch) { return std::vector<int>(batch.size(), *owned); });
    left = b.submit(1);
  }
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_FALSE(left.cancel());
  EXPECT_EQ(left.get(), 2);
}

TEST(shutdown, is_safe_in_every_state) {
  for (int state = 0; state < 5; ++state) {
    std::stop_source stop;
    std::vector<topos::future<int>> futures;
    {
      topos::batcher<int, int> b(twice, {.max_batch_size = 3,
                                         .max_delay = state == 1 ? 1h : 0h,
                                         .hold_until = state == 2 ? 100U : 0U});
      for (int i = 0; i < 7 * state; ++i) {
        futures.push_back(b.submit(
            i, {.deadline = std::chrono::steady_clock::now() + 1h, .stop = stop.get_token()}));
      }
      if (state == 3) stop.request_stop();
      if (state == 4) b.abort();
    }
    for (const auto& f : futures) EXPECT_TRUE(f.is_ready());
    stop.request_stop();
  }
}

// A child has none of the threads: it is told so, and can end.
int use_the_parents_executor() {
  topos::batcher<int, int>* const b = new topos::batcher<int, int>(twice);
  if (b->submit(1).get() != 2) return 1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);  // which ends it
    try {
      static_cast<void>(b->submit(1));
      ::_exit(2);
    } catch (const topos::runtime_not_started&) {
    }
    delete b;
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 3;
  delete b;
  return WEXITSTATUS(status);
}

// Functions of results that take longer than the runtime's end, the first of them begun before.
int end_while_results_are_followed() {
  constexpr int functions = 20;
  std::atomic<bool> ends{false};
  std::atomic<int> called{0};
  {
    topos::batcher<int, int> b(twice);
    for (int i = 0; i < functions; ++i) {
      static_cast<void>(b.submit(i).then([&](int) {
        ends.wait(false);
        for (volatile int n = 0; n < 1'000'000;) n = n + 1;
        return ++called;
      }));
    }
  }
  topos::detail::at_end(topos::detail::end_of::callbacks, [&] {
    ends = true;
    ends.notify_all();
  });
  Kokkos::finalize();
  return called == functions ? 0 : 1;
}

// Futures in a child: nobody is there who would make a result, or call a function.
template <class Use>
bool is_refused_in_a_child(Use use) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);  // which ends it
    try {
      use();
      ::_exit(1);
    } catch (const topos::runtime_not_started&) {
      ::_exit(0);
    }
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int use_the_parents_futures() {
  gate hold;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        if (batch.front() == 2) hold.pass();
        return twice(batch);
      },
      {.max_batch_size = 1});
  b.submit(1).then([](int) {}).get();  // there are threads for functions
  auto ready = b.submit(1);
  ready.wait();
  auto pending = b.submit(2);
  hold.await(1);
  const bool refused =
      is_refused_in_a_child([&] { pending.get(); }) &&
      is_refused_in_a_child([&] { static_cast<void>(pending.wait_for(std::chrono::hours(1))); }) &&
      is_refused_in_a_child([&] { static_cast<void>(std::move(ready).then([](int) {})); });
  hold.open();
  return refused ? 0 : 1;
}

// The function was asked for before anything was computed, and computes at the end.
int compute_in_functions_at_the_end() {
  std::atomic<bool> ends{false};
  std::atomic<bool> computed{false};
  {
    topos::batcher<int, int> b(twice);
    static_cast<void>(b.submit(1).then([&](int) {
      ends.wait(false);
      const auto x = topos::eval(topos::full<float>({100'000}, 1.0f, topos::cpu()) + 1.0f);
      computed = x.host()[7] == 2;
    }));
  }
  topos::eval(topos::full<float>({100'000}, 1.0f, topos::cpu()) + 1.0f).block_until_ready();
  topos::detail::at_end(topos::detail::end_of::callbacks, [&] {
    ends = true;
    ends.notify_all();
  });
  Kokkos::finalize();
  return computed ? 0 : 1;
}

using shutdown_death = support::death_test;

TEST_F(shutdown_death, futures_in_a_forked_child_do_not_hang) {
  EXPECT_EXIT(std::_Exit(use_the_parents_futures()), testing::ExitedWithCode(0), "");
}

TEST_F(shutdown_death, functions_of_results_may_compute_at_the_runtimes_end) {
  EXPECT_EXIT(std::_Exit(compute_in_functions_at_the_end()), testing::ExitedWithCode(0), "");
}

TEST_F(shutdown_death, functions_of_results_are_called_before_the_runtimes_end) {
  EXPECT_EXIT(std::_Exit(end_while_results_are_followed()), testing::ExitedWithCode(0), "");
}

TEST_F(shutdown_death, of_a_forked_child_does_not_hang) {
  EXPECT_EXIT(std::_Exit(use_the_parents_executor()), testing::ExitedWithCode(0), "");
}

TEST(shutdown, sends_blocked_producers_away) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.queue_capacity = 1});
  auto busy = b.submit(1);
  hold.await(1);
  auto waits = b.submit(2);
  std::latch about_to(1);
  std::thread producer([&] {
    about_to.count_down();
    EXPECT_THROW(static_cast<void>(b.submit(3)), topos::rejected);
  });
  about_to.wait();
  b.abort();
  producer.join();
  hold.open();
  EXPECT_EQ(busy.get(), 2);
  EXPECT_THROW(waits.get(), topos::cancelled);
}

TEST(shutdown, leaves_callbacks_to_run) {
  topos::future<int> after;
  {
    topos::batcher<int, int> b(twice);
    after = b.submit(1).then([](int result) { return result + 1; });
  }
  EXPECT_EQ(after.get(), 3);
}

}  // namespace shutdown_test
