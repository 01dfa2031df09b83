// SPDX-License-Identifier: Apache-2.0

/// Who waits for whom, and models of several executors that would wait for one another.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <topos/executor/batcher.hpp>
#include <vector>

#include "gate.hpp"

namespace {

using topos::detail::waiting_thread;
using topos::detail::waiting_threads;

struct maker final : topos::detail::result_maker {
  explicit maker(std::size_t count) : count(count) {}
  [[nodiscard]] std::size_t threads() const noexcept override { return count; }
  void fail_what_waits() noexcept override { ++failed; }

  std::size_t count;
  int failed = 0;
};

struct result final : topos::detail::awaited {
  [[nodiscard]] bool is_ready() const noexcept override { return ready; }

  bool ready = false;
};

// Waits while it lives, if `circle` is 0: else it is refused.
struct waiting {
  using maker_ptr = std::shared_ptr<maker>;

  waiting(const maker_ptr& waits, const result& what, const maker_ptr& from)
      : one{waits.get(), &what, from.get()}, circle(waiting_threads::all().begin(one)) {}
  ~waiting() {
    if (circle == 0) waiting_threads::all().end(one);
  }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

  waiting_thread one;
  std::size_t circle;
};

class waiting_threads_test : public testing::Test {
 protected:
  const std::shared_ptr<maker> a = std::make_shared<maker>(1);
  const std::shared_ptr<maker> b = std::make_shared<maker>(1);
  const std::shared_ptr<maker> c = std::make_shared<maker>(1);
  result r;
};

TEST_F(waiting_threads_test, refuse_to_wait_for_their_own_maker_as_the_last) {
  a->count = 2;
  const waiting first(a, r, a);
  EXPECT_EQ(first.circle, 0U);
  EXPECT_EQ(waiting(a, r, a).circle, 1U);
  EXPECT_EQ(waiting(a, r, a).circle, 1U);  // who was refused does not wait
}

TEST_F(waiting_threads_test, refuse_to_close_a_circle) {
  const waiting first(a, r, b);
  const waiting second(b, r, c);
  EXPECT_EQ(first.circle, 0U);
  EXPECT_EQ(second.circle, 0U);
  EXPECT_EQ(waiting(c, r, a).circle, 3U);
}

TEST_F(waiting_threads_test, may_wait_for_who_has_a_thread_left) {
  a->count = 2;
  const waiting first(a, r, b);
  EXPECT_EQ(waiting(b, r, a).circle, 0U);
}

TEST_F(waiting_threads_test, whose_result_is_there_go_on) {
  const waiting first(a, r, b);
  const result late;
  r.ready = true;  // and the thread has not noticed yet
  EXPECT_EQ(waiting(b, late, a).circle, 0U);
}

TEST_F(waiting_threads_test, count_until_they_end) {
  { const waiting first(a, r, b); }
  EXPECT_EQ(waiting(b, r, a).circle, 0U);
}

TEST_F(waiting_threads_test, others_do_not_matter_to) {
  const waiting first(a, r, b);
  EXPECT_EQ(waiting(c, r, a).circle, 0U);
}

TEST_F(waiting_threads_test, that_must_wait_have_what_waits_fail) {
  const waiting first(a, r, b);
  const waiting apart(c, r, a);
  const waiting_thread last{b.get(), &r, a.get()};
  waiting_threads::all().begin_anyway(last);
  EXPECT_EQ(a->failed, 1);
  EXPECT_EQ(b->failed, 1);
  waiting_threads::all().end(last);
}

TEST_F(waiting_threads_test, of_a_maker_that_lost_a_thread_have_what_waits_fail) {
  a->count = 2;
  const waiting first(a, r, a);
  waiting_threads::all().fail_stuck();
  EXPECT_EQ(a->failed, 0);
  a->count = 1;
  waiting_threads::all().fail_stuck();
  EXPECT_EQ(a->failed, 1);
}

// Models that call one another: `next` of an item's executor does the item less one, and so on
// until it is 0.
struct relay_race {
  using batcher = topos::batcher<int, std::string>;

  explicit relay_race(std::size_t executors, const topos::executor_options& options = {})
      : all(executors) {
    for (std::size_t i = 0; i < executors; ++i) {
      all[i] = std::make_unique<batcher>(
          [this, i](std::span<const int> batch) {
            std::vector<std::string> results;
            for (const int left : batch) results.push_back(pass(i, left));
            return results;
          },
          options);
    }
  }

  std::string pass(std::size_t from, int left) {
    if (left == 0) return "done";
    try {
      return all[(from + 1) % all.size()]->submit(left - 1).get();
    } catch (const topos::error& e) {
      return e.what();
    }
  }

  std::vector<std::unique_ptr<batcher>> all;
};

TEST(models_of_several_executors, may_wait_in_a_row) {
  relay_race race(3);
  EXPECT_EQ(race.all[0]->submit(2).get(), "done");
}

// One item a batch: who is told may be any of them, and what the others wait for then is not to be
// in a batch with the next item, which would wait for them.
TEST(models_of_several_executors, are_told_where_they_would_wait_for_one_another) {
  relay_race race(3, {.max_batch_size = 1});
  const std::string said = race.all[0]->submit(3).get();
  EXPECT_NE(said.find("the models of 3 executors would wait for one another"), std::string::npos)
      << said;
  EXPECT_EQ(race.all[0]->submit(2).get(), "done");  // and go on
}

TEST(models_of_several_executors, may_wait_in_a_circle_with_replicas_left) {
  relay_race race(2, {.replicas = 2});
  EXPECT_EQ(race.all[0]->submit(3).get(), "done");
}

// Two models, each of which fills the other's queue.
TEST(models_of_several_executors, are_told_where_they_would_wait_for_room_in_full_queues) {
  std::vector<std::unique_ptr<topos::batcher<int, int>>> both(2);
  gate hold;
  const auto model = [&](std::size_t other) {
    return [&, other](std::span<const int> batch) {
      int refused = 0;
      if (batch[0] > 0) {
        hold.pass();
        for (int i = 0; i < batch[0]; ++i) {
          auto made = both[other]->submit(0);
          if (!made.is_ready()) continue;
          try {
            EXPECT_EQ(made.get(), 0);
          } catch (const topos::rejected& e) {
            EXPECT_NE(std::string(e.what()).find("would wait for one another"), std::string::npos)
                << e.what();
            ++refused;
          }
        }
      }
      return std::vector<int>(batch.size(), refused);
    };
  };
  for (std::size_t i = 0; i < 2; ++i) {
    both[i] = std::make_unique<topos::batcher<int, int>>(
        model(1 - i), topos::executor_options{.max_batch_size = 1, .queue_capacity = 2});
  }
  auto first = both[0]->submit(5);
  auto second = both[1]->submit(5);
  hold.await(2);
  hold.open();
  EXPECT_GE(first.get() + second.get(), 1);
}

}  // namespace
