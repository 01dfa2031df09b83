// SPDX-License-Identifier: Apache-2.0

/// How single items are batched: budgets, priorities, parameters, deadlines, and full queues.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/on_ready.hpp>
#include <utility>
#include <vector>

#include "gate.hpp"

namespace submit_test {

using namespace std::chrono_literals;
using histogram = std::map<std::size_t, std::uint64_t>;

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

std::size_t itself(const int& item) { return static_cast<std::size_t>(item); }

// Keeps the batches it was called with.
struct diary {
  std::vector<int> operator()(std::span<const int> batch) const {
    batches->emplace_back(batch.begin(), batch.end());
    return twice(batch);
  }
  std::vector<std::vector<int>>* batches;
};

using batches = std::vector<std::vector<int>>;

// The batches that are made of these items where all are there before the first starts.
batches batched(const std::vector<int>& items, topos::executor_options options,
                std::function<std::size_t(const int&)> cost = {},
                const std::vector<std::size_t>& priorities = {}) {
  batches made;
  options.hold_until = items.size();
  {
    topos::batcher<int, int> b(diary{&made}, options, std::move(cost));
    for (std::size_t i = 0; i < items.size(); ++i)
      static_cast<void>(b.submit(items[i], {.priority = priorities.empty() ? 0 : priorities[i]}));
  }
  return made;
}

TEST(submit, takes_batches_of_any_size) {
  EXPECT_EQ(batched({1, 2}, {.max_batch_size = std::size_t{1} << 62U, .priority_levels = 2}),
            (batches{{1, 2}}));
}

// Only what has a name can be compared.
struct unit {
  std::string name;
  bool operator==(const unit& other) const {
    if (name.empty() || other.name.empty()) throw std::domain_error("cannot be compared");
    return name == other.name;
  }
};

TEST(submit, lets_parameters_that_cannot_be_compared_share_no_batch) {
  topos::batcher<int, int, unit> b(
      [](std::span<const int> batch, const unit&) { return twice(batch); }, {.hold_until = 2});
  auto first = b.submit(1);
  auto second = b.submit(2);
  EXPECT_EQ(first.get() + second.get(), 6);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{1, 2}}));
}

TEST(submit, starts_nothing_before_as_many_are_there_as_told) {
  topos::batcher<int, int> b(twice, {.max_batch_size = 4, .hold_until = 10});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 9; ++i) futures.push_back(b.submit(i));
  EXPECT_FALSE(futures.front().is_ready());
  futures.push_back(b.submit(9));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), 2 * i);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{2, 1}, {4, 2}}));
}

TEST(submit, is_counted_as_waiting_until_it_runs) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.max_batch_size = 2, .hold_until = 2});
  std::vector<topos::future<int>> futures;
  for (int i = 0; i < 2; ++i) futures.push_back(b.submit(i));
  hold.await(1);
  for (int i = 2; i < 5; ++i) futures.push_back(b.submit(i));
  EXPECT_EQ(b.stats().running, 2U);
  EXPECT_EQ(b.stats().waiting(), 3U);
  EXPECT_TRUE(futures[0].cancel());
  EXPECT_TRUE(futures[4].cancel());
  EXPECT_EQ(b.stats().running, 1U);
  EXPECT_EQ(b.stats().waiting(), 2U);
  hold.open();
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(b.stats().running + b.stats().waiting(), 0U);
}

TEST(submit, never_exceeds_a_budget_of_costs) {
  EXPECT_EQ(batched({3, 4, 3, 10, 1, 9, 2}, {.max_batch_cost = 10}, itself),
            (batches{{3, 4, 3}, {10}, {1, 9}, {2}}));
}

TEST(submit, rejects_an_item_that_costs_more_than_a_batch_may) {
  topos::batcher<int, int> b(twice, {.max_batch_cost = 10}, itself);
  EXPECT_THROW(b.submit(11).get(), topos::rejected);
  EXPECT_EQ(b.submit(10).get(), 20);
  EXPECT_EQ(b.stats().refused, 1U);
  EXPECT_EQ(b.stats().submitted, 1U);
}

TEST(submit, runs_an_item_that_costs_too_much_alone_where_told) {
  EXPECT_EQ(
      batched({2, 11, 3}, {.max_batch_cost = 10, .too_large = topos::oversize::alone}, itself),
      (batches{{2}, {11}, {3}}));
}

TEST(submit, fails_an_item_whose_cost_cannot_be_told_and_no_other) {
  topos::batcher<int, int> b(twice, {}, [](const int& item) -> std::size_t {
    if (item < 0) throw std::domain_error("negative");
    return 1;
  });
  EXPECT_THROW(b.submit(-1).get(), std::domain_error);
  EXPECT_EQ(b.submit(1).get(), 2);
}

TEST(submit, puts_alike_costs_together_as_far_as_it_looks_ahead) {
  EXPECT_EQ(batched({5, 100, 6, 90, 7, 95}, {.max_batch_size = 3, .look_ahead = 6}, itself),
            (batches{{5, 6, 7}, {100, 95, 90}}));
  // The oldest is always one of the batch.
  EXPECT_EQ(batched({50, 1, 2, 3, 4}, {.max_batch_size = 2, .look_ahead = 3}, itself),
            (batches{{50, 2}, {1, 3}, {4}}));
}

TEST(submit, serves_the_more_urgent_first) {
  EXPECT_EQ(batched({1, 2, 3, 4}, {.max_batch_size = 2, .priority_levels = 3, .ageing = 1h}, {},
                    {0, 2, 1, 2}),
            (batches{{2, 4}, {3, 1}}));
}

TEST(submit, serves_the_more_urgent_first_where_none_ages_in_time) {
  EXPECT_EQ(
      batched(
          {1, 2, 3, 4},
          {.max_batch_size = 1, .priority_levels = 4, .ageing = std::chrono::nanoseconds::max()},
          {}, {0, 1, 2, 3}),
      (batches{{4}, {3}, {2}, {1}}));
}

TEST(submit, serves_the_less_urgent_once_they_have_waited) {
  topos::manual_time time;
  batches made;
  {
    topos::batcher<int, int> b(
        diary{&made},
        {.max_batch_size = 1, .priority_levels = 2, .ageing = 10s, .hold_until = 3, .time = &time});
    static_cast<void>(b.submit(1, {.priority = 0}));
    time.advance(9s);
    static_cast<void>(b.submit(2, {.priority = 1}));  // counts from 1 s before the first
    time.advance(2s);
    static_cast<void>(b.submit(3, {.priority = 1}));  // counts from 1 s after the first
  }
  EXPECT_EQ(made, (batches{{2}, {1}, {3}}));
}

// Against what is sorted by the times that the items count as if they had come at.
TEST(submit, serves_many_levels_in_the_order_of_their_turns) {
  constexpr std::size_t count = 300;
  topos::manual_time time;
  batches made;
  std::vector<std::pair<std::int64_t, int>> turns;
  std::vector<topos::future<int>> futures;
  {
    topos::batcher<int, int> b(diary{&made}, {.max_batch_size = 7,
                                              .priority_levels = 40,
                                              .ageing = 10s,
                                              .hold_until = count,
                                              .time = &time});
    std::uint32_t random = 1;
    for (int i = 0; i < static_cast<int>(count); ++i) {
      random = random * 1'664'525U + 1'013'904'223U;
      const std::int64_t priority = random % 53U;  // beyond the last level, too
      const bool late = random % 11U == 0 && i + 1 < static_cast<int>(count);
      futures.push_back(b.submit(i, {.deadline = late ? time.now() + 1s : time.now() + 1h,
                                     .priority = static_cast<std::size_t>(priority)}));
      if (!late) turns.emplace_back(3 * i - 10 * std::min<std::int64_t>(priority, 39), i);
      time.advance(3s);
      if (late) futures.back().wait();
    }
  }
  // Of two that count alike the more urgent one, which came later, is first.
  std::sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  std::vector<int> expected;
  for (const auto& [turn, item] : turns) expected.push_back(item);
  std::vector<int> served;
  for (const auto& batch : made) served.insert(served.end(), batch.begin(), batch.end());
  EXPECT_EQ(served, expected);
}

TEST(submit, lets_only_equal_parameters_share_a_batch) {
  std::map<std::string, batches> made;
  {
    topos::batcher<int, int, unit> b(
        [&](std::span<const int> batch, const unit& u) {
          made[u.name].emplace_back(batch.begin(), batch.end());
          return twice(batch);
        },
        {.max_batch_size = 8, .hold_until = 5});
    for (int i = 0; i < 5; ++i)
      static_cast<void>(b.submit(i, {.parameters = {i % 2 == 0 ? "even" : "odd"}}));
  }
  EXPECT_EQ(made["even"], (batches{{0, 2, 4}}));
  EXPECT_EQ(made["odd"], (batches{{1, 3}}));
}

TEST(submit, ends_what_waits_at_its_deadline_while_all_replicas_are_busy) {
  topos::manual_time time;
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.time = &time});
  auto busy = b.submit(1);
  hold.await(1);
  auto late = b.submit(2, {.deadline = time.now() + 5s});
  auto patient = b.submit(3, {.deadline = time.now() + 5h});
  time.wait_for_waiters(1);
  time.advance(5s);
  EXPECT_THROW(late.get(), topos::deadline_exceeded);
  EXPECT_FALSE(busy.is_ready());
  hold.open();
  EXPECT_EQ(busy.get(), 2);
  EXPECT_EQ(patient.get(), 6);
  EXPECT_EQ(b.stats().expired, 1U);
}

TEST(submit, ends_what_runs_at_its_deadline_and_drops_its_result) {
  topos::manual_time time;
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice),
                             {.max_batch_size = 2, .hold_until = 2, .time = &time});
  auto late = b.submit(1, {.deadline = time.now() + 5s});
  auto neighbour = b.submit(2);
  hold.await(1);
  time.wait_for_waiters(1);
  time.advance(5s);
  EXPECT_THROW(late.get(), topos::deadline_exceeded);
  hold.open();
  EXPECT_EQ(neighbour.get(), 4);
}

TEST(submit, does_not_admit_what_is_too_late_already) {
  topos::manual_time time;
  topos::batcher<int, int> b(twice, {.time = &time});
  EXPECT_THROW(b.submit(1, {.deadline = time.now()}).get(), topos::deadline_exceeded);
  EXPECT_EQ(b.stats(), (topos::statistics{.submitted = 1, .expired = 1}));
}

TEST(submit, is_counted_by_who_waits_for_many_though_it_is_too_late) {
  topos::manual_time time;
  topos::batcher<int, int> b(twice, {.hold_until = 2, .time = &time});
  auto f = b.submit(1);
  EXPECT_THROW(b.submit(2, {.deadline = time.now()}).get(), topos::deadline_exceeded);
  EXPECT_EQ(f.get(), 2);
}

TEST(submit, does_not_wait_for_others_until_its_deadline) {
  topos::manual_time time;
  topos::batcher<int, int> b(twice, {.max_delay = 1h, .time = &time});
  auto first = b.submit(1, {.deadline = time.now() + 5s});  // when batches took no time yet
  EXPECT_EQ(first.get(), 2);

  auto late = b.submit(2, {.deadline = time.now() + 5s});
  auto patient = b.submit(3);
  time.wait_for_waiters(2);  // the replica and the clock
  EXPECT_FALSE(late.is_ready());
  time.advance(4999ms);

  EXPECT_EQ(late.get(), 4);
  EXPECT_EQ(patient.get(), 6);
}

// A model may be slow to hear that nobody wants its results.
TEST(submit, keeps_deadlines_while_a_model_is_told_to_stop) {
  topos::manual_time time;
  gate hold;
  gate told;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch, const std::stop_token& stop) {
        const std::stop_callback hears(stop, [&] { told.pass(); });
        hold.pass();
        return twice(batch);
      },
      {.max_batch_size = 1, .time = &time});
  auto first = b.submit(1, {.deadline = time.now() + 1s});
  hold.await(1);
  auto second = b.submit(2, {.deadline = time.now() + 2s});
  time.wait_for_waiters(1);
  time.advance(1s);
  told.await(1);
  EXPECT_THROW(first.get(), topos::deadline_exceeded);
  time.wait_for_waiters(1);
  time.advance(1s);
  EXPECT_THROW(second.get(), topos::deadline_exceeded);
  told.open();
  hold.open();
}

TEST(submit, is_blocked_by_a_full_queue_until_its_deadline) {
  topos::manual_time time;
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice),
                             {.max_batch_size = 1, .queue_capacity = 1, .time = &time});
  auto busy = b.submit(1);
  hold.await(1);
  auto waiting = b.submit(2);
  std::thread later([&] {
    time.wait_for_waiters(1);
    time.advance(5s);
  });
  auto late = b.submit(3, {.deadline = time.now() + 5s});
  later.join();
  EXPECT_TRUE(late.is_ready());
  EXPECT_THROW(late.get(), topos::deadline_exceeded);
  hold.open();
  EXPECT_EQ(b.stats().expired, 1U);
}

TEST(submit, is_blocked_by_a_full_queue_until_it_is_withdrawn) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.max_batch_size = 1, .queue_capacity = 1});
  auto busy = b.submit(1);
  hold.await(1);
  auto waiting = b.submit(2);
  std::stop_source stop;
  std::thread other([&] { stop.request_stop(); });
  auto stopped = b.submit(3, {.stop = stop.get_token()});
  other.join();
  EXPECT_THROW(stopped.get(), topos::cancelled);
  hold.open();
}

TEST(submit, can_be_withdrawn_while_it_waits) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.queue_capacity = 2});
  auto busy = b.submit(1);
  hold.await(1);
  auto first = b.submit(2);
  auto second = b.submit(3);
  EXPECT_TRUE(second.cancel());
  EXPECT_FALSE(second.cancel());
  auto third = b.submit(4);  // its place is free again
  hold.open();
  EXPECT_THROW(second.get(), topos::cancelled);
  EXPECT_EQ(first.get(), 4);
  EXPECT_EQ(third.get(), 8);
  EXPECT_FALSE(busy.cancel());
  EXPECT_EQ(busy.get(), 2);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{1, 1}, {2, 1}}));
}

TEST(submit, can_be_withdrawn_while_it_runs) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.max_batch_size = 2, .hold_until = 2});
  auto dropped = b.submit(1);
  auto neighbour = b.submit(2);
  hold.await(1);
  EXPECT_TRUE(dropped.cancel());
  EXPECT_THROW(dropped.get(), topos::cancelled);
  hold.open();
  EXPECT_EQ(neighbour.get(), 4);
  EXPECT_EQ(b.stats().cancelled, 1U);
}

TEST(submit, is_withdrawn_by_a_stop_token) {
  std::stop_source stop;
  topos::batcher<int, int> b(twice, {.hold_until = 2});
  auto stopped = b.submit(1, {.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_THROW(stopped.get(), topos::cancelled);
  auto stopped_before = b.submit(2, {.stop = stop.get_token()});
  EXPECT_THROW(stopped_before.get(), topos::cancelled);
}

TEST(submit, tells_a_model_that_nobody_wants_its_results) {
  topos::batcher<int, int> b(
      [](std::span<const int> batch, const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::yield();
        return twice(batch);
      },
      {.max_batch_size = 2, .hold_until = 2});
  auto first = b.submit(1);
  auto second = b.submit(2);
  while (b.stats().batches() == 0) std::this_thread::yield();
  EXPECT_TRUE(first.cancel());
  EXPECT_TRUE(second.cancel());
  // The destructor ends only if the model has been told.
}

TEST(submit, is_refused_by_a_full_queue_where_told) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice),
                             {.queue_capacity = 2, .full = topos::when_full::fail});
  auto busy = b.submit(1);
  hold.await(1);
  auto first = b.submit(2);
  auto second = b.submit(3);
  EXPECT_THROW(b.submit(4).get(), topos::rejected);
  hold.open();
  EXPECT_EQ(first.get() + second.get() + busy.get(), 12);
  EXPECT_EQ(b.stats().refused, 1U);
}

// Two places, for which the less urgent are given up.
const topos::executor_options two_that_shed{
    .queue_capacity = 2, .full = topos::when_full::shed_oldest, .priority_levels = 2};

TEST(submit, pushes_the_oldest_of_the_least_urgent_out_where_told) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), two_that_shed);
  auto busy = b.submit(1);
  hold.await(1);
  auto urgent = b.submit(2, {.priority = 1});
  auto old = b.submit(3);
  auto newer = b.submit(4);
  EXPECT_THROW(old.get(), topos::rejected);
  hold.open();
  EXPECT_EQ(urgent.get(), 4);
  EXPECT_EQ(newer.get(), 8);
  EXPECT_EQ(busy.get(), 2);
  EXPECT_EQ(b.stats().shed, 1U);
  EXPECT_EQ(b.stats().pending(), 0U);
}

TEST(submit, sheds_nothing_that_is_more_urgent) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), two_that_shed);
  auto busy = b.submit(1);
  hold.await(1);
  auto urgent = b.submit(2, {.priority = 1});
  auto another = b.submit(3, {.priority = 1});
  EXPECT_THROW(b.submit(4).get(), topos::rejected);
  EXPECT_FALSE(urgent.is_ready());
  hold.open();
  EXPECT_EQ(another.get(), 6);
  EXPECT_EQ(b.stats().shed, 0U);
}

TEST(submit, sheds_nothing_where_there_is_no_room_even_so) {
  gate hold;
  topos::batcher<std::vector<char>, int> b(
      [&](std::span<const std::vector<char>> batch) {
        hold.pass();
        return std::vector<int>(batch.size(), 1);
      },
      {.max_batch_size = 1, .queue_bytes = 1000, .full = topos::when_full::shed_oldest});
  auto busy = b.submit({});
  hold.await(1);
  auto waiting = b.submit({});
  const auto requests = b.requests(std::vector<std::vector<char>>(1));
  EXPECT_THROW(b.submit(std::vector<char>(5000)).get(), topos::rejected);
  EXPECT_EQ(b.stats().shed, 0U);
  hold.open();
  EXPECT_EQ(waiting.get(), 1);
}

TEST(submit, lets_go_of_what_is_shed) {
  topos::batcher<std::shared_ptr<int>, std::shared_ptr<int>> b(
      [](auto batch) { return std::vector<std::shared_ptr<int>>(batch.size()); },
      {.queue_capacity = 1, .full = topos::when_full::shed_oldest, .hold_until = 9});
  const auto owned = std::make_shared<int>(1);
  auto old = b.submit(owned);
  auto newer = b.submit(nullptr);
  EXPECT_TRUE(old.is_ready());
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(submit, lets_go_of_results_that_nobody_wants) {
  gate hold;
  const auto owned = std::make_shared<int>(1);
  topos::batcher<std::shared_ptr<int>, std::shared_ptr<int>> b([&](auto batch) {
    hold.pass();
    return std::vector<std::shared_ptr<int>>(batch.size(), owned);
  });
  auto f = b.submit(nullptr);
  hold.await(1);
  EXPECT_TRUE(f.cancel());
  hold.open();
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(submit, is_bounded_by_bytes) {
  gate hold;
  topos::batcher<std::vector<char>, int> b(
      [&](std::span<const std::vector<char>> batch) {
        hold.pass();
        return std::vector<int>(batch.size(), 1);
      },
      {.queue_bytes = 1000, .full = topos::when_full::fail});
  auto busy = b.submit(std::vector<char>(5000));  // more than there is room for, but alone
  hold.await(1);
  auto first = b.submit(std::vector<char>(900));
  EXPECT_THROW(b.submit(std::vector<char>(900)).get(), topos::rejected);
  hold.open();
  EXPECT_EQ(first.get() + busy.get(), 2);
}

TEST(submit, from_inside_a_model_is_refused_where_it_would_wait_for_itself) {
  topos::batcher<int, int>* self = nullptr;
  std::vector<topos::future<int>> inner;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        if (batch[0] == 0) {
          for (int i = 1; i < 4; ++i) inner.push_back(self->submit(i));
        }
        return twice(batch);
      },
      {.queue_capacity = 2});
  self = &b;
  EXPECT_EQ(b.submit(0).get(), 0);
  ASSERT_EQ(inner.size(), 3U);
  EXPECT_EQ(inner[0].get(), 2);
  EXPECT_EQ(inner[1].get(), 4);
  EXPECT_THROW(inner[2].get(), topos::rejected);
}

TEST(submit, from_inside_a_model_is_not_waited_for_by_the_only_replica) {
  topos::batcher<int, int>* self = nullptr;
  topos::batcher<int, int> b([&](std::span<const int> batch) {
    if (batch[0] == 0) {
      EXPECT_THROW(static_cast<void>(self->submit(1).get()), topos::error);
    }
    return twice(batch);
  });
  self = &b;
  EXPECT_EQ(b.submit(0).get(), 0);
}

TEST(submit, of_an_items_own_batch_is_not_waited_for_in_it) {
  std::optional<topos::future<int>> first;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        EXPECT_EQ(batch.size(), 2U);
        EXPECT_THROW(first->wait(), topos::error);
        return twice(batch);
      },
      {.replicas = 2, .hold_until = 2});
  first = b.submit(1);
  auto second = b.submit(2);
  EXPECT_EQ(second.get(), 4);
  EXPECT_EQ(first->get(), 2);
}

// A model may need the CPU's work, which this thread holds up.
TEST(submit, is_not_waited_for_by_who_does_the_cpus_work) {
  gate hold;
  topos::batcher<int, int> b(behind(hold, twice), {.max_batch_size = 1, .queue_capacity = 1});
  auto running = b.submit(1);
  hold.await(1);
  auto waiting = b.submit(2);
  const auto x = topos::zeros<int, 1>({4}).block_until_ready();
  auto y = x;
  std::latch known(1);
  topos::enqueue(topos::cpu(), topos::reads(), topos::writes(y),
                 [&](const auto&, const auto&) { known.wait(); });
  std::promise<void> called;
  topos::on_ready(y, [&](const std::exception_ptr&) {
    EXPECT_THROW(running.wait(), topos::error);
    EXPECT_THROW(static_cast<void>(b.submit(3)), topos::error);
    called.set_value();
  });
  known.count_down();
  called.get_future().wait();
  hold.open();
  EXPECT_EQ(waiting.get(), 4);
}

// Both would wait for each other for ever.
TEST(submit, from_inside_a_model_is_waited_for_by_all_replicas_but_one) {
  topos::batcher<int, int>* self = nullptr;
  std::latch both(2);
  std::atomic<int> refused = 0;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        if (batch[0] < 2) {
          both.arrive_and_wait();
          try {
            EXPECT_EQ(self->submit(5).get(), 10);
          } catch (const topos::error&) {
            ++refused;
          }
        }
        return twice(batch);
      },
      {.replicas = 2, .max_batch_size = 1});
  self = &b;
  auto first = b.submit(0);
  auto second = b.submit(1);
  EXPECT_EQ(first.get(), 0);
  EXPECT_EQ(second.get(), 2);
  EXPECT_EQ(refused, 1);
}

// Whichever comes first, the wait or the loss.
TEST(submit, from_inside_a_model_fails_when_no_replica_is_left_to_run_it) {
  topos::batcher<int, int>* self = nullptr;
  std::latch both(2);
  std::atomic<bool> loses = true;
  topos::batcher<int, int> b(
      [&](std::span<const int> batch) {
        if (batch[0] == 0) {
          both.arrive_and_wait();
          EXPECT_THROW(static_cast<void>(self->submit(5).get()), topos::error);
        }
        if (batch[0] == 1 && loses.exchange(false)) {
          both.arrive_and_wait();
          throw topos::device_lost("it is gone");
        }
        return twice(batch);
      },
      {.replicas = 2, .max_batch_size = 1});
  self = &b;
  auto waits = b.submit(0);
  auto lost = b.submit(1);
  EXPECT_EQ(waits.get(), 0);
  lost.wait();
  EXPECT_EQ(b.submit(7).get(), 14);
}

TEST(submit, of_what_never_fits_sheds_nothing) {
  gate hold;
  topos::batcher<std::vector<char>, int> b(
      [&](std::span<const std::vector<char>> batch) {
        hold.pass();
        std::vector<int> results;
        for (const auto& item : batch) results.push_back(static_cast<int>(item.size()));
        return results;
      },
      {.queue_bytes = 1000, .full = topos::when_full::shed_oldest});
  auto busy = b.submit(std::vector<char>(1));
  hold.await(1);
  auto waits = b.submit(std::vector<char>(90));
  EXPECT_THROW(b.submit(std::vector<char>(5000)).get(), topos::rejected);
  hold.open();
  EXPECT_EQ(waits.get(), 90);
  EXPECT_EQ(b.stats().shed, 0U);
  EXPECT_EQ(busy.get(), 1);
}

}  // namespace submit_test
