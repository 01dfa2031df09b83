// SPDX-License-Identifier: Apache-2.0

/// What follows a result: callbacks and coroutines.

#include <gtest/gtest.h>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <topos/executor/detail/callback_threads.hpp>
#include <topos/executor/detail/future_state.hpp>
#include <utility>
#include <vector>

#include "gate.hpp"

namespace then_test {

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) {
    if (item < 0) throw std::domain_error("negative");
    results.push_back(2 * item);
  }
  return results;
}

// A coroutine that starts at once and that nobody waits for.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

TEST(then, gives_the_future_of_a_function_of_the_result) {
  topos::batcher<int, int> b(twice);
  auto text =
      b.submit(21).then([](int n) { return n + 1; }).then([](int n) { return std::to_string(n); });
  EXPECT_EQ(text.get(), "43");
}

TEST(then, of_a_function_without_result_is_a_future_of_nothing) {
  topos::batcher<int, int> b(twice);
  int seen = 0;
  EXPECT_EQ(b.submit(4).then([&](int n) { seen = n; }).get(), topos::nothing{});
  EXPECT_EQ(seen, 8);
}

TEST(then, passes_failures_on_and_does_not_call) {
  topos::batcher<int, int> b(twice);
  bool called = false;
  auto f = b.submit(-1).then([&](int) { called = true; });
  EXPECT_THROW(f.get(), std::domain_error);
  EXPECT_FALSE(called);
}

// 0 for a failure, -1 for what was withdrawn.
int value_or_less(const topos::outcome<int>& of) {
  if (of) return of.value();
  try {
    std::rethrow_exception(of.failure());
  } catch (const topos::cancelled&) {
    return -1;
  } catch (const std::domain_error&) {
    return 0;
  }
}

TEST(then, calls_who_takes_an_outcome_with_failures_too) {
  topos::batcher<int, int> b(twice);
  const auto with_value = [](topos::outcome<int> of) { return value_or_less(of); };
  EXPECT_EQ(b.submit(4).then(with_value).get(), 8);
  EXPECT_EQ(b.submit(-1).then(with_value).get(), 0);
  EXPECT_EQ(b.submit(4).then(&value_or_less).get(), 8);
  EXPECT_EQ(b.submit(-1).then(&value_or_less).get(), 0);
  bool failed = false;
  b.submit(-1).then([&](topos::outcome<int>&& of) mutable noexcept { failed = !of; }).wait();
  EXPECT_TRUE(failed);
}

TEST(then, calls_who_takes_an_outcome_where_the_work_was_withdrawn) {
  topos::batcher<int, int> b(twice, {.hold_until = 2});
  auto f = b.submit(1).then([](const topos::outcome<int>& of) { return value_or_less(of); });
  EXPECT_TRUE(f.cancel());
  EXPECT_EQ(f.get(), -1);
}

TEST(then, throws_what_who_takes_an_outcome_throws) {
  topos::batcher<int, int> b(twice);
  auto f = b.submit(-1).then([](topos::outcome<int> of) { return of.value(); });
  EXPECT_THROW(f.get(), std::domain_error);
}

TEST(then, calls_generic_functions_with_the_value) {
  topos::batcher<int, int> b(twice);
  EXPECT_EQ(b.submit(4).then([](auto n) { return n % 3; }).get(), 2);
  EXPECT_THROW(b.submit(-1).then([](const auto& n) { return n + 1; }).get(), std::domain_error);
}

TEST(then, throws_what_its_function_throws_and_hurts_nobody_else) {
  topos::batcher<int, int> b(twice, {.max_batch_size = 2, .hold_until = 2});
  auto thrown = b.submit(1).then([](int) -> int { throw std::runtime_error("mine"); });
  auto neighbour = b.submit(2);
  EXPECT_THROW(thrown.get(), std::runtime_error);
  EXPECT_EQ(neighbour.get(), 4);
}

TEST(then, may_block_without_holding_up_the_model_or_other_callbacks) {
  topos::batcher<int, int> b(twice);
  gate hold;
  std::vector<topos::future<int>> blocked;
  for (int i = 0; i < 3; ++i) {
    blocked.push_back(b.submit(i).then([&](int n) {
      hold.pass();
      return n;
    }));
  }
  hold.await(1);
  EXPECT_EQ(b.submit(5).then([](int n) { return n; }).get(), 10);
  hold.open();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(blocked[static_cast<std::size_t>(i)].get(), 2 * i);
}

TEST(then, may_wait_for_what_follows_later_results) {
  topos::batcher<int, int> b(twice);
  constexpr int count = 20;
  std::vector<std::promise<void>> called(count + 1);
  std::vector<topos::future<int>> results;
  for (int i = 0; i < count; ++i) {
    results.push_back(b.submit(i).then([&, i](int n) {
      called[static_cast<std::size_t>(i) + 1].get_future().wait();
      called[static_cast<std::size_t>(i)].set_value();
      return n;
    }));
  }
  called[count].set_value();
  for (int i = 0; i < count; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2 * i);
}

TEST(then, follows_results_that_come_one_by_one) {
  topos::batcher<int, int> b(twice);
  for (int i = 0; i < 2'000; ++i)
    ASSERT_EQ(b.submit(i).then([](int n) { return n + 1; }).get(), 2 * i + 1);
}

TEST(then, may_submit_again) {
  topos::batcher<int, int> b(twice, {.queue_capacity = 1});
  auto f = b.submit(1).then([&](int n) { return b.submit(n).get(); });
  EXPECT_EQ(f.get(), 4);
}

TEST(then, can_be_withdrawn_until_its_result_is_there) {
  topos::batcher<int, int> b(twice, {.hold_until = 2});
  auto f = b.submit(1).then([](int n) { return n; });
  EXPECT_TRUE(f.cancel());
  EXPECT_THROW(f.get(), topos::cancelled);
}

// As long as would be too deep for a thread's stack.
topos::future<int> long_chain(topos::future<int> f) {
  for (int i = 0; i < 100'000; ++i) f = std::move(f).then([](int n) { return n; });
  return f;
}

TEST(then, may_follow_another_many_times) {
  topos::batcher<int, int> b(twice);
  EXPECT_EQ(long_chain(b.submit(4)).get(), 8);
}

TEST(then, can_be_withdrawn_after_many_others) {
  topos::batcher<int, int> b(twice, {.hold_until = 2});
  auto f = long_chain(b.submit(4));
  EXPECT_TRUE(f.cancel());
  EXPECT_THROW(f.get(), topos::cancelled);
}

TEST(then, lets_go_of_its_function_before_its_result_is_seen) {
  topos::batcher<int, int> b(twice);
  const auto owned = std::make_shared<int>(1);
  auto f = b.submit(4).then([owned](int n) { return n + *owned; });
  f.wait();
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(f.get(), 9);
}

TEST(then, of_a_function_that_returns_a_future_is_that_ones_result) {
  topos::batcher<int, int> b(twice);
  topos::future<int> f = b.submit(1).then([&](int n) { return b.submit(n); });
  EXPECT_EQ(f.get(), 4);
  auto further = b.submit(1)
                     .then([&](int n) { return b.submit(n).then([](int m) { return m + 1; }); })
                     .then([&](int n) { return b.submit(n); });
  EXPECT_EQ(further.get(), 10);
  auto of_one_that_is_there = b.submit(1).then([&](int n) {
    auto made = b.submit(n);
    made.wait();
    return made;
  });
  EXPECT_EQ(of_one_that_is_there.get(), 4);
}

TEST(then, may_return_a_result_that_is_at_hand) {
  topos::batcher<int, int> b(twice);
  const auto again = [&](int n) { return n > 4 ? topos::make_ready_future(n) : b.submit(n); };

  EXPECT_EQ(b.submit(1).then(again).get(), 4);
  EXPECT_EQ(b.submit(3).then(again).get(), 6);

  auto ready = topos::make_ready_future(std::make_unique<int>(5));
  EXPECT_TRUE(ready.is_ready());
  EXPECT_FALSE(ready.cancel());
  EXPECT_EQ(std::move(ready).then([](std::unique_ptr<int> n) { return *n + 1; }).get(), 6);
}

TEST(then, passes_on_how_a_returned_future_failed) {
  topos::batcher<int, int> b(twice);
  auto f = b.submit(1).then([&](int n) { return b.submit(-n); });
  EXPECT_THROW(f.get(), std::domain_error);
  auto throws = b.submit(1).then(
      [&](int) -> topos::future<int> { throw std::runtime_error("before there is one"); });
  EXPECT_THROW(throws.get(), std::runtime_error);
  auto empty = b.submit(1).then([](int) { return topos::future<int>(); });
  EXPECT_THROW(empty.get(), topos::error);
  auto first_fails = b.submit(-1).then([&](int n) { return b.submit(n); });
  EXPECT_THROW(first_fails.get(), std::domain_error);
}

TEST(then, withdraws_the_future_that_its_function_returned) {
  topos::batcher<int, int> b(twice);
  topos::batcher<int, int> waits(twice, {.hold_until = 2});
  auto f = b.submit(1).then([&](int n) { return waits.submit(n); }).then([](int n) { return n; });
  while (waits.stats().submitted == 0) std::this_thread::yield();
  while (!f.cancel()) std::this_thread::yield();  // until the function has returned
  EXPECT_THROW(f.get(), topos::cancelled);
  EXPECT_EQ(waits.stats().cancelled, 1U);
}

// As deep as would be too deep for a thread's stack.
topos::future<int> count_down(topos::batcher<int, int>& b, int from) {
  return b.submit(from).then(
      [&b, from](int n) { return from == 0 ? b.submit(21) : count_down(b, n / 2 - 1); });
}

TEST(then, may_return_futures_of_such_many_times) {
  topos::batcher<int, int> b(twice);
  EXPECT_EQ(count_down(b, 20'000).get(), 42);
}

// Threads for callbacks of the test's own, as many as it says.
class few_threads : public testing::Test {
 protected:
  // Called by them; its result is what the function returns, or what the error says.
  struct job final : topos::detail::future_state<std::string>,
                     topos::detail::continuation,
                     std::enable_shared_from_this<job> {
    explicit job(std::function<std::string()> f) : function(std::move(f)) {}
    void run() noexcept override {
      const auto self = shared_from_this();
      std::string result;
      try {
        result = function();
      } catch (const topos::error& e) {
        result = e.what();
      }
      set_value(std::move(result));
    }
    std::string get() {
      wait();
      return take();
    }
    std::function<std::string()> function;
  };

  static std::shared_ptr<job> make(std::function<std::string()> f) {
    return std::make_shared<job>(std::move(f));
  }
  static std::shared_ptr<job> say(const std::string& text) {
    return make([=] { return text; });
  }
  static std::shared_ptr<job> wait_for(const std::shared_ptr<job>& other) {
    return make([=] { return other->get(); });
  }

  static constexpr const char* refusal =
      "executor: a callback would wait, while all threads for callbacks wait and no more are to be "
      "had: return the future instead, or co_await it";

  // Its threads end with the program, and it with them.
  topos::detail::callback_threads& threads = *new topos::detail::callback_threads;
};

TEST_F(few_threads, refuse_to_wait_where_all_would) {
  threads.limit_to(2);
  const auto last = say("last");
  const auto first = wait_for(last);
  const auto second = wait_for(last);
  threads.post(*first);  // on one thread, while the other one watches
  threads.post(*second);
  EXPECT_EQ(second->get(), refusal);
  EXPECT_FALSE(first->is_ready());
  threads.post(*last);
  EXPECT_EQ(first->get(), "last");
}

TEST_F(few_threads, may_wait_for_what_is_there) {
  threads.limit_to(1);
  const auto first = say("first");
  const auto second = wait_for(first);
  threads.post(*first);
  first->wait();
  threads.post(*second);
  EXPECT_EQ(second->get(), "first");
}

TEST_F(few_threads, may_wait_once_there_are_more) {
  threads.limit_to(1);
  const auto last = say("last");
  const auto first = wait_for(last);
  threads.post(*first);
  EXPECT_EQ(first->get(), refusal);
  threads.limit_to(3);
  const auto second = wait_for(last);
  const auto third = wait_for(second);
  threads.post(*third);
  threads.post(*second);
  threads.post(*last);
  EXPECT_EQ(third->get(), "last");
}

TEST_F(few_threads, go_on_beside_one_that_blocks) {
  threads.limit_to(2);
  gate hold;
  const auto blocked = make([&] {
    hold.pass();
    return std::string("blocked");
  });
  threads.post(*blocked);
  hold.await(1);
  std::vector<std::shared_ptr<job>> jobs;
  for (int i = 0; i < 100; ++i) {
    if (i == 50) threads.limit_to(3);
    jobs.push_back(say(std::to_string(i)));
    threads.post(*jobs.back());
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i]->get(), std::to_string(i));
  EXPECT_FALSE(blocked->is_ready());
  hold.open();
  EXPECT_EQ(blocked->get(), "blocked");
}

TEST_F(few_threads, are_replaced_by_who_brings_results) {
  threads.limit_to(0);
  const auto here = std::this_thread::get_id();
  const auto last = say("last");
  const auto waits = make([&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    threads.post(*last);  // which is not run inside of this one
    EXPECT_FALSE(last->is_ready());
    return last->get();
  });
  threads.post(*waits);
  EXPECT_EQ(waits->get(), refusal);
  EXPECT_EQ(last->get(), "last");
  const auto sees = make([&] {
    EXPECT_NE(std::this_thread::get_id(), here);
    return std::string();
  });
  threads.limit_to(1);
  threads.post(*sees);
  sees->wait();
}

TEST(then, a_coroutine_waits_for_results) {
  topos::batcher<int, int> b(twice);
  std::latch done(1);
  int sum = 0;
  bool failed = false;
  const auto work = [&]() -> detached {
    sum += co_await b.submit(1);
    sum += co_await b.submit(10);
    try {
      sum += co_await b.submit(-1);
    } catch (const std::domain_error&) {
      failed = true;
    }
    done.count_down();
  };
  work();
  done.wait();
  EXPECT_EQ(sum, 22);
  EXPECT_TRUE(failed);
}

}  // namespace then_test
