// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ostream>
#include <ranges>
#include <span>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <streambuf>
#include <string>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <topos/executor/result_stream.hpp>
#include <utility>
#include <vector>

#include "gate.hpp"

namespace result_stream_test {

using namespace std::chrono_literals;
using histogram = std::map<std::size_t, std::uint64_t>;
using batcher = topos::batcher<int, int>;
using stream = topos::result_stream<int, int>;

static_assert(std::ranges::input_range<stream>);
static_assert(!std::ranges::forward_range<stream>);
static_assert(std::movable<stream> && !std::copyable<stream>);
static_assert(std::same_as<std::ranges::range_reference_t<stream>, int&>);

std::vector<int> twice(std::span<const int> batch) {
  std::vector<int> results;
  for (const int item : batch) results.push_back(2 * item);
  return results;
}

std::vector<int> twice_or_throw(std::span<const int> batch) {
  for (const int item : batch) {
    if (item < 0) throw std::domain_error("negative: " + std::to_string(item));
  }
  return twice(batch);
}

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> collect(stream results) {
  std::vector<int> all;
  for (const int r : results) all.push_back(r);
  return all;
}

TEST(result_stream, keeps_the_order_at_every_size) {
  for (const std::size_t replicas : {1U, 2U, 3U}) {
    for (const int count : {0, 1, 31, 32, 33, 64, 1000}) {
      batcher b(twice, {.replicas = replicas});
      const std::vector<int> items = numbers(count);
      EXPECT_EQ(collect(b.map(items)), twice(items)) << count << " items";
      histogram expected;
      if (count / 32 != 0) expected[32] = static_cast<std::uint64_t>(count / 32);
      if (count % 32 != 0) ++expected[static_cast<std::size_t>(count % 32)];
      EXPECT_EQ(b.stats().batch_sizes, expected) << count << " items";
    }
  }
}

TEST(result_stream, takes_ranges_and_generators) {
  batcher b(twice);
  const auto expected = twice(numbers(50));
  EXPECT_EQ(collect(b.map(numbers(50), {.request_size = 7})), expected);
  EXPECT_EQ(collect(b.map(std::views::iota(0, 50), {.request_size = 7})), expected);
  EXPECT_EQ(collect(b.map([n = 0]() mutable { return n < 50 ? std::optional(n++) : std::nullopt; },
                          {.request_size = 7})),
            expected);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{7, 21}, {1, 3}}));
}

TEST(result_stream, passes_its_own_parameters) {
  topos::batcher<int, int, int> b([](std::span<const int> batch, const int& factor) {
    std::vector<int> results;
    for (const int item : batch) results.push_back(factor * item);
    return results;
  });
  auto doubled = b.map(numbers(40), {.request_size = 8}, 2);
  auto tripled = b.map(numbers(40), {.request_size = 8}, 3);
  for (int i = 0; auto& each : b.requests(numbers(16), {.request_size = 8}, 5))
    EXPECT_EQ(each.get().at(1), 5 * (8 * i++ + 1));
  EXPECT_EQ(collect(std::move(doubled)).at(39), 78);
  EXPECT_EQ(collect(std::move(tripled)).at(39), 117);
  EXPECT_EQ(collect(b.map(numbers(3))), (std::vector{0, 0, 0}));  // the default: 0
}

TEST(result_stream, keeps_the_order_when_replicas_overtake_each_other) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t later = 0;
  batcher b(
      [&](std::span<const int> batch) {
        std::unique_lock lock(mutex);
        if (batch[0] == 0) {
          // The first request ends only when two after it have.
          changed.wait(lock, [&] { return later >= 2; });
        } else {
          ++later;
          changed.notify_all();
        }
        return twice(batch);
      },
      {.replicas = 2});
  const auto items = numbers(40);
  EXPECT_EQ(collect(b.map(items, {.request_size = 4})), twice(items));
}

TEST(result_stream, does_not_copy_what_lies_in_memory) {
  std::atomic<const int*> seen = nullptr;
  batcher b([&](std::span<const int> batch) {
    seen = batch.data();
    return twice(batch);
  });
  const auto items = numbers(3);
  static_cast<void>(collect(b.map(items)));
  EXPECT_EQ(seen.load(), items.data());
}

TEST(result_stream, takes_no_more_from_a_generator_than_the_replicas_need) {
  for (const int replicas : {1, 2}) {
    batcher b(twice, {.replicas = static_cast<std::size_t>(replicas)});
    int made = 0;
    int most = 0;
    int used = 0;
    for (const int r : b.map(
             [&]() -> std::optional<int> {
               most = std::max(most, made + 1 - used);
               return made < 5000 ? std::optional(made++) : std::nullopt;
             },
             {.request_size = 10})) {
      EXPECT_EQ(r, 2 * used);
      ++used;
    }
    EXPECT_EQ(used, 5000);
    EXPECT_LE(most, (2 * replicas + 1) * 10);
  }
}

// Of a generator that goes on once all before is ready: it is asked for no more than that result
// and the one after it need, though there is room for more.
TEST(result_stream, does_not_wait_for_a_slow_generator_where_results_are_ready) {
  for (const auto order : {topos::result_order::ordered, topos::result_order::as_completed}) {
    gate hold;
    batcher b(
        [&](std::span<const int> batch) {
          if (batch[0] < 0) hold.pass();
          return twice(batch);
        },
        {.devices = {topos::cpu()}, .replicas = 2, .max_batch_size = 1});
    auto busy = b.submit(-1);  // so that the other replica does all else, in order
    hold.await(1);
    int made = 0;
    const auto slow = [&]() -> std::optional<int> {
      if (made == 10) return std::nullopt;
      if (made != 0) b.submit(1'000).wait();
      return made++;
    };
    int used = 0;
    for (const int r : b.map(slow, {.request_size = 1, .order = order})) {
      EXPECT_EQ(r, 2 * used++);
      EXPECT_LE(made, used + 2);
    }
    EXPECT_EQ(used, 10);
    hold.open();
  }
}

TEST(result_stream, queues_the_next_requests_before_it_gives_results) {
  gate first;
  gate hold;
  batcher b([&](std::span<const int> batch) {
    (batch[0] == 0 ? first : hold).pass();
    return twice(batch);
  });
  auto results = b.map(numbers(100), {.request_size = 10});
  EXPECT_EQ(b.stats().submitted, 20U);  // at the call itself
  first.open();
  auto at = results.begin();
  EXPECT_EQ(*at, 0);
  hold.await(1);  // the second one runs while the first one's results are looked at
  EXPECT_EQ(b.stats().submitted, 30U);
  hold.open();
}

TEST(result_stream, advances_the_generator_on_the_consumers_thread) {
  batcher b(twice);
  const auto here = std::this_thread::get_id();
  int made = 0;
  for (const int r : b.map([&]() -> std::optional<int> {
         EXPECT_EQ(std::this_thread::get_id(), here);
         return made < 100 ? std::optional(made++) : std::nullopt;
       })) {
    static_cast<void>(r);
  }
  EXPECT_EQ(made, 100);
}

TEST(result_stream, an_iterator_goes_on_after_what_it_has_thrown) {
  batcher b(twice_or_throw, {.idempotent = true});
  std::vector<int> items = numbers(10);
  items[3] = -3;
  items[4] = -4;
  items[9] = -9;
  std::vector<int> good;
  int failures = 0;
  auto results = b.map(items, {.request_size = 5});
  for (auto at = results.begin(); at != results.end();) {
    good.push_back(*at);
    for (bool came = false; !came;) {
      try {
        ++at;
        came = true;
      } catch (const std::domain_error&) {
        ++failures;
      }
    }
  }
  EXPECT_EQ(good, (std::vector<int>{0, 2, 4, 10, 12, 14, 16}));
  EXPECT_EQ(failures, 3);
}

TEST(result_stream, throws_for_a_request_that_failed_and_goes_on_after_it) {
  batcher b(twice_or_throw);
  std::vector<int> items = numbers(100);
  items[0] = -1;    // in the first request
  items[45] = -45;  // in the second of the middle
  items[99] = -99;  // in the last
  std::vector<int> good;
  std::vector<std::string> failures;
  for (auto results = b.map(items, {.request_size = 20});;) {
    try {
      for (const int r : results) good.push_back(r);
      break;
    } catch (const std::domain_error& e) {
      failures.emplace_back(e.what());
    }
  }
  std::vector<int> expected;
  for (const int i : items) {
    if ((i >= 20 && i < 40) || (i >= 60 && i < 80)) expected.push_back(2 * i);
  }
  EXPECT_EQ(good, expected);
  EXPECT_EQ(failures, (std::vector<std::string>{"negative: -1", "negative: -45", "negative: -99"}));
  EXPECT_EQ(b.stats().failed, 60U);
  EXPECT_EQ(b.stats().done, 40U);
}

TEST(result_stream, throws_for_a_wrong_count_of_results) {
  batcher b([](std::span<const int> batch) { return std::vector<int>(batch.size() - 1); });
  auto results = b.map(numbers(4));
  try {
    static_cast<void>(results.begin());
    FAIL() << "it should have thrown";
  } catch (const topos::error& e) {
    EXPECT_NE(std::string(e.what()).find("3 results came back for a batch of 4 items"),
              std::string::npos);
  }
  EXPECT_TRUE(results.begin() == results.end());
}

TEST(result_stream, throws_what_the_generator_threw_after_what_came_before) {
  batcher b(twice);
  int made = 0;
  auto results = b.map(
      [&]() -> std::optional<int> {
        if (made == 70) throw std::runtime_error("no more");
        return made++;
      },
      {.request_size = 32});
  std::vector<int> good;
  EXPECT_THROW(
      {
        for (const int r : results) good.push_back(r);
      },
      std::runtime_error);
  EXPECT_EQ(good, twice(numbers(70)));
  EXPECT_TRUE(results.begin() == results.end());
  EXPECT_EQ(made, 70);
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{32, 2}, {6, 1}}));
}

TEST(result_stream, gives_results_where_its_bar_cannot_be_drawn) {
  struct : std::streambuf {
  } takes_nothing;
  std::ostream out(&takes_nothing);
  out.exceptions(std::ios::badbit | std::ios::failbit);
  batcher b(twice_or_throw);

  std::vector<int> results;
  for (const int r : b.map(std::vector<int>{1, 2},
                           {.request_size = 1, .show_progress = true, .progress = {.out = &out}}))
    results.push_back(r);

  EXPECT_EQ(results, (std::vector<int>{2, 4}));
}

TEST(result_stream, of_a_generator_that_throws_at_once_has_no_results) {
  batcher b(twice);
  auto results = b.map([]() -> std::optional<int> { throw std::runtime_error("nothing"); });
  EXPECT_THROW(static_cast<void>(results.begin()), std::runtime_error);
  EXPECT_TRUE(results.begin() == results.end());
  EXPECT_EQ(b.stats().submitted, 0U);
}

TEST(result_stream, withdraws_what_has_not_started_when_it_is_destroyed) {
  gate hold;
  batcher b([&](std::span<const int> batch) {
    hold.pass();
    return twice(batch);
  });
  auto results = std::make_unique<stream>(b.map(numbers(1000), {.request_size = 10}));
  hold.await(1);  // one runs, one waits
  std::thread release([&] {
    while (b.stats().cancelled == 0) std::this_thread::yield();
    hold.open();
  });
  results.reset();
  const auto stats = b.stats();
  EXPECT_EQ(stats, (topos::statistics{
                       .submitted = 20, .done = 10, .cancelled = 10, .batch_sizes = {{10, 1}}}));
  release.join();
}

TEST(result_stream, can_be_left_in_the_middle_and_taken_up_again) {
  batcher b(twice);
  auto results = b.map(numbers(10), {.request_size = 4});
  for (const int r : results) {
    if (r == 10) break;
  }
  std::vector<int> rest;
  for (const int r : results) rest.push_back(r);
  EXPECT_EQ(rest, (std::vector{10, 12, 14, 16, 18}));
}

TEST(result_stream, moves_without_losing_its_place) {
  batcher b(twice);
  auto results = b.map(numbers(10), {.request_size = 4});
  auto at = results.begin();
  ++at;
  stream moved(std::move(results));
  EXPECT_EQ(*at, 2);
  EXPECT_EQ(*moved.begin(), 2);
}

TEST(result_stream, can_be_piped) {
  batcher b(twice);
  std::vector<int> some;
  for (const int r : b.map(std::views::iota(0)) | std::views::take(5)) some.push_back(r);
  EXPECT_EQ(some, (std::vector{0, 2, 4, 6, 8}));
}

TEST(result_stream, lets_its_results_be_moved_out) {
  topos::batcher<int, std::unique_ptr<int>> b([](std::span<const int> batch) {
    std::vector<std::unique_ptr<int>> results;
    for (const int item : batch) results.push_back(std::make_unique<int>(item));
    return results;
  });
  std::vector<std::unique_ptr<int>> kept;
  for (auto& r : b.map(numbers(5))) kept.push_back(std::move(r));
  ASSERT_EQ(kept.size(), 5U);
  EXPECT_EQ(*kept[4], 4);
}

TEST(result_stream, that_outlives_its_executor_gives_what_was_under_way_and_an_error) {
  gate hold;
  std::optional<batcher> b(std::in_place, behind(hold, twice));
  auto results = b->map(numbers(100), {.request_size = 10});
  hold.open();
  b.reset();
  std::vector<int> good;
  EXPECT_THROW(
      {
        for (const int r : results) good.push_back(r);
      },
      topos::error);
  EXPECT_EQ(good, twice(numbers(20)));
}

// Ends only if the model is told.
TEST(result_stream, that_is_dropped_asks_its_requests_to_stop) {
  gate arrived;
  arrived.open();
  batcher b([&](std::span<const int> batch, const std::stop_token& stop) {
    arrived.pass();
    while (!stop.stop_requested()) std::this_thread::yield();
    return twice(batch);
  });
  {
    const auto results = b.map(numbers(3));
    arrived.await(1);
  }
  EXPECT_EQ(b.stats().done, 3U);
}

TEST(result_stream, is_refused_inside_of_the_only_replica) {
  for (const auto order : {topos::result_order::ordered, topos::result_order::as_completed}) {
    batcher* self = nullptr;
    batcher b([&](std::span<const int> batch) {
      EXPECT_THROW(static_cast<void>(collect(self->map(numbers(9), {.order = order}))),
                   topos::error);
      return twice(batch);
    });
    self = &b;
    EXPECT_EQ(b.submit(1).get(), 2);
  }
}

TEST(result_stream, shows_its_progress) {
  std::ostringstream out;
  topos::manual_time time;
  batcher b([&](std::span<const int> batch) {
    if (batch.size() == 1) time.advance(2s);  // the last request
    return twice(batch);
  });
  const topos::request_options options{
      .request_size = 4, .show_progress = true, .progress = {.out = &out, .time = &time}};
  static_cast<void>(collect(b.map(numbers(9), options)));
  const std::string text = out.str();
  EXPECT_NE(text.find(" 0:00:00 0.0 step/s 0/3 steps"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" 0:00:02 1.5 step/s 3 steps done in 2 seconds\x1b[K\n")) << text;
}

// Takes one text.
struct short_lived final : std::streambuf {
  std::streamsize xsputn(const char*, std::streamsize count) override {
    return std::exchange(written, true) ? throw std::runtime_error("the disk is full") : count;
  }
  bool written = false;
};

TEST(result_stream, loses_nothing_where_its_progress_cannot_be_shown) {
  short_lived disk;
  std::ostream out(&disk);
  out.exceptions(std::ios::badbit);
  topos::manual_time time;
  batcher b([&](std::span<const int> batch) {
    time.advance(1s);
    return twice(batch);
  });
  const topos::request_options options{
      .request_size = 1, .show_progress = true, .progress = {.out = &out, .time = &time}};
  EXPECT_EQ(collect(b.map(numbers(9), options)), twice(numbers(9)));
  EXPECT_TRUE(disk.written);
}

// What comes of the items: their results, or -1 for each that is thrown.
template <class Stream>
std::vector<int> endings(Stream results) {
  std::vector<int> all;
  for (;;) {
    try {
      for (const int result : results) all.push_back(result);
      return all;
    } catch (const std::domain_error&) {
      all.push_back(-1);
    }
  }
}

TEST(result_stream, of_an_idempotent_model_loses_the_items_at_fault_alone) {
  batcher b(
      [](std::span<const int> batch) {
        for (const int item : batch) {
          if (item % 10 == 3) throw std::domain_error("ends in three");
        }
        return twice(batch);
      },
      {.idempotent = true});
  std::vector<int> expected;
  for (int i = 0; i < 64; ++i) expected.push_back(i % 10 == 3 ? -1 : 2 * i);

  EXPECT_EQ(endings(b.map(numbers(64), {.request_size = 16})), expected);

  EXPECT_EQ(b.stats().failed, 7U);
  EXPECT_EQ(b.stats().done, 57U);
  EXPECT_LE(b.stats().reruns, 7U * 2 * 4);
}

TEST(result_stream, of_outcomes_loses_the_items_at_fault_alone) {
  batcher b([](std::span<const int> batch) {
    std::vector<topos::outcome<int>> results;
    for (const int item : batch) {
      if (item % 4 == 0)
        results.push_back(topos::outcome<int>::failed(std::domain_error("a fourth")));
      else
        results.push_back(item);
    }
    return results;
  });
  EXPECT_EQ(endings(b.map(numbers(8), {.request_size = 4})),
            (std::vector<int>{-1, 1, 2, 3, -1, 5, 6, 7}));
  EXPECT_EQ(b.stats().failed, 2U);
  EXPECT_EQ(b.stats().done, 6U);
}

// The batches that are made of a request of these items, whose costs they are themselves.
struct request_of_costs {
  request_of_costs(const std::vector<int>& items, topos::executor_options options)
      : b(
            [this](std::span<const int> batch) {
              batches.emplace_back(batch.begin(), batch.end());
              return twice_or_throw(batch);
            },
            options,
            [](const int& item) -> std::size_t {
              if (item == 0) throw std::domain_error("no cost");
              return static_cast<std::size_t>(std::abs(item));
            }) {
    std::vector<std::exception_ptr> thrown;
    for (auto results = b.map(items, {.request_size = items.size()});;) {
      try {
        for (const int result : results) made.push_back(result);
        break;
      } catch (const std::exception&) {
        thrown.push_back(std::current_exception());
      }
    }
    // Once nobody else lets go of them: ThreadSanitizer does not see how these are counted.
    EXPECT_TRUE(b.drain());
    for (const auto& each : thrown) {
      try {
        std::rethrow_exception(each);
      } catch (const std::exception& e) {
        failures.emplace_back(e.what());
      }
    }
  }

  std::vector<std::vector<int>> batches;
  batcher b;
  std::vector<int> made;
  std::vector<std::string> failures;
};

using several = std::vector<std::vector<int>>;

TEST(result_stream, never_exceeds_a_budget_of_costs) {
  request_of_costs of({3, 4, 3, 10, 1, 9, 2}, {.max_batch_cost = 10});
  EXPECT_EQ(of.batches, (several{{3, 4, 3}, {10}, {1, 9}, {2}}));
  EXPECT_EQ(of.made, (std::vector{6, 8, 6, 20, 2, 18, 4}));
  EXPECT_EQ(of.b.stats(), (topos::statistics{
                              .submitted = 7, .done = 7, .batch_sizes = {{1, 2}, {2, 1}, {3, 1}}}));
  EXPECT_EQ(of.b.stats().queue.count(), 7U);
  EXPECT_EQ(of.b.stats().compute.count(), 4U);
}

TEST(result_stream, counts_items_that_have_no_cost_as_one) {
  batcher b(twice, {.max_batch_cost = 4});
  EXPECT_EQ(collect(b.map(numbers(10))), twice(numbers(10)));
  EXPECT_EQ(b.stats().batch_sizes, (histogram{{2, 1}, {4, 2}}));
}

TEST(result_stream, rejects_items_that_cost_more_than_a_batch_may) {
  request_of_costs of({2, 11, 3}, {.max_batch_cost = 10});
  EXPECT_EQ(of.batches, (several{{2}, {3}}));
  EXPECT_EQ(of.made, (std::vector{4, 6}));
  EXPECT_EQ(of.failures,
            std::vector<std::string>{
                "batcher: an item of cost 11 does not fit a batch, which costs 10 at most"});
  EXPECT_EQ(of.b.stats().failed, 1U);
  request_of_costs of_one({11}, {.max_batch_cost = 10});
  EXPECT_EQ(of_one.failures, of.failures);
}

TEST(result_stream, runs_items_that_cost_too_much_alone_where_told) {
  request_of_costs of({2, 11, 3}, {.max_batch_cost = 10, .too_large = topos::oversize::alone});
  EXPECT_EQ(of.batches, (several{{2}, {11}, {3}}));
  EXPECT_EQ(of.made, (std::vector{4, 22, 6}));
}

TEST(result_stream, begins_no_further_batch_of_a_request_once_told_to_abort) {
  gate hold;
  std::atomic<int> calls = 0;
  const auto copy = [&](std::span<const int> batch) {
    ++calls;
    hold.pass();
    return std::vector<int>(batch.begin(), batch.end());
  };
  batcher b(copy, {.max_batch_cost = 1});
  auto requests = b.requests(numbers(3));
  auto request = std::move(*requests.begin());
  hold.await(1);
  b.abort();
  hold.open();
  EXPECT_THROW(request.get(), topos::cancelled);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(b.stats().done, 1U);
  EXPECT_EQ(b.stats().cancelled, 2U);
}

TEST(result_stream, fails_items_whose_cost_cannot_be_told_and_no_others) {
  request_of_costs of({2, 0, 3}, {.max_batch_cost = 10});
  EXPECT_EQ(of.made, (std::vector{4, 6}));
  EXPECT_EQ(of.failures, std::vector<std::string>{"no cost"});
}

TEST(result_stream, fails_those_alone_that_share_a_batch_with_what_failed) {
  request_of_costs whole({6, 7, -3, 8}, {.max_batch_cost = 10});
  EXPECT_EQ(whole.made, (std::vector{12, 16}));
  request_of_costs halved({6, 7, -3, 8}, {.max_batch_cost = 10, .idempotent = true});
  EXPECT_EQ(halved.batches, (several{{6}, {7, -3}, {7}, {-3}, {8}}));
  EXPECT_EQ(halved.made, (std::vector{12, 14, 16}));
}

TEST(result_stream, in_several_batches_ends_on_another_device_where_one_is_lost) {
  std::atomic<bool> lost = false;
  batcher b(
      [&](std::span<const int> batch) {
        if (batch[0] == 2 && !lost.exchange(true)) throw topos::device_lost("it is gone");
        return twice(batch);
      },
      {.devices = {topos::cpu()}, .replicas = 2, .max_batch_cost = 2});
  EXPECT_EQ(collect(b.map(numbers(6))), twice(numbers(6)));
  EXPECT_TRUE(lost);
}

TEST(result_stream, that_may_not_run_twice_fails_by_requests) {
  batcher b([](std::span<const int> batch) {
    if (batch[0] == 0) throw std::domain_error("the first");
    return twice(batch);
  });
  EXPECT_EQ(endings(b.map(numbers(4), {.request_size = 2})), (std::vector<int>{-1, 4, 6}));
  EXPECT_EQ(b.stats().failed, 2U);
}

TEST(result_stream, throws_each_failure_where_nothing_else_came_of_a_request) {
  const auto fail = [](int item) { return std::domain_error(std::to_string(item)); };
  const auto failures = [](auto& b) {
    std::vector<std::string> all;
    for (auto results = b.map(std::vector{-1, -2}, {.request_size = 2});;) {
      try {
        for (const int result : results) all.push_back("result " + std::to_string(result));
        return all;
      } catch (const std::domain_error& e) {
        all.emplace_back(e.what());
      }
    }
  };
  const auto throws = [&](std::span<const int> batch) -> std::vector<int> {
    throw fail(batch.front());
  };
  const std::vector<std::string> each{"-1", "-2"};
  batcher outcomes([&](std::span<const int> batch) {
    std::vector<topos::outcome<int>> made;
    for (const int item : batch) made.push_back(topos::outcome<int>::failed(fail(item)));
    return made;
  });
  EXPECT_EQ(failures(outcomes), each);
  batcher idempotent(throws, {.idempotent = true});
  EXPECT_EQ(failures(idempotent), each);
  batcher in_parts(throws, {.max_batch_cost = 1});
  EXPECT_EQ(failures(in_parts), each);
  batcher whole(throws);
  EXPECT_EQ(failures(whole), std::vector<std::string>{"-1"});
}

TEST(result_stream, fails_the_item_alone_whose_own_device_was_lost) {
  batcher b(
      [](std::span<const int> batch) {
        std::vector<topos::outcome<int>> made;
        for (const int item : batch) {
          if (item < 0)
            made.push_back(topos::outcome<int>::failed(topos::device_lost("the item's own")));
          else
            made.emplace_back(item);
        }
        return made;
      },
      {.replicas = 2});
  std::vector<int> made;
  int lost = 0;
  for (auto results = b.map(std::vector{-1, 2, 3});;) {
    try {
      for (const int result : results) made.push_back(result);
      break;
    } catch (const topos::device_lost&) {
      ++lost;
    }
  }
  EXPECT_EQ(made, (std::vector{2, 3}));
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(b.submit(4).get(), 4);
}

}  // namespace result_stream_test
