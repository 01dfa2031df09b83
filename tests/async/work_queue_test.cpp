// SPDX-License-Identifier: Apache-2.0

/// Work runs in order, here or on the worker; what fails poisons its results and theirs alone.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/async/event.hpp>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue.hpp>
#include <topos/async/work_queue.hpp>
#include <topos/memory/ticket.hpp>
#include <vector>

#include "../support/death_test.hpp"
#include "../support/devices.hpp"
#include "gate.hpp"

namespace work_queue_test {

using support::on_each_device;
using topos::buffer;
using topos::detail::always_queued;
using topos::detail::ticket;
using topos::detail::work_queue;

constexpr topos::index_t small = 10;

work_queue& queue_on(topos::device d) {
  return topos::detail::queue_of(d, std::source_location::current());
}
buffer some(topos::device d = topos::cpu()) { return buffer(d, 64); }

// A failure of a type of its own.
struct mishap : std::runtime_error {
  mishap(const std::string& text, int n) : std::runtime_error(text), number(n) {}
  int number;
};

TEST(work_queue, of_a_device_is_one) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(&queue_on(d), &queue_on(d));
    EXPECT_EQ(queue_on(d).where(), d);
  });
}

TEST(work_queue, runs_small_work_in_place_when_idle) {
  work_queue& q = queue_on(topos::cpu());
  q.drain();
  std::thread::id ran;
  const buffer out = some();

  q.submit({}, {out}, small, [&](const auto&) { ran = std::this_thread::get_id(); });

  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(out.ticket(), 0U);
  EXPECT_TRUE(topos::detail::is_ready(out));
}

TEST(work_queue, runs_what_is_always_queued_on_a_thread_of_its_own) {
  work_queue& q = queue_on(topos::cpu());
  std::thread::id ran;
  const buffer out = some();

  q.submit({}, {out}, always_queued, [&](const auto&) { ran = std::this_thread::get_id(); });
  topos::detail::block_until_ready(out);

  EXPECT_NE(ran, std::thread::id());
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(work_queue, who_waits_for_large_work_runs_it_where_nobody_has_begun) {
  work_queue& q = queue_on(topos::cpu());
  const std::thread::id here = std::this_thread::get_id();
  bool ran_here = false;
  for (int i = 0; i < 100'000 && !ran_here; ++i) {
    const buffer out = some();
    q.submit({}, {out}, topos::backend::host::stream::small_work + 1,
             [&](const auto&) { ran_here = std::this_thread::get_id() == here; });
    topos::detail::block_until_ready(out);
  }
  EXPECT_TRUE(ran_here);
}

TEST(work_queue, runs_in_order_whatever_the_size) {
  work_queue& q = queue_on(topos::cpu());
  std::vector<int> order;
  {
    const support::gate held(q);
    for (int i = 0; i < 100; ++i) {
      q.submit({}, {}, i % 2 == 0 ? small : always_queued,
               [&order, i](const auto&) { order.push_back(i); });
    }
    EXPECT_TRUE(order.empty()) << "control came back at once";
  }
  q.drain();

  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(work_queue, result_is_ready_once_its_work_is_done) {
  work_queue& q = queue_on(topos::cpu());
  const buffer before = some();
  const buffer after = some();
  support::gate held(q, {before});
  q.submit({}, {after}, small, [](const auto&) {});

  EXPECT_FALSE(topos::detail::is_ready(before));
  EXPECT_FALSE(topos::detail::is_ready(after));
  held.open();
  topos::detail::block_until_ready(before);
  EXPECT_TRUE(topos::detail::is_ready(before));
  topos::detail::block_until_ready(after);
  EXPECT_TRUE(topos::detail::is_ready(after));
}

TEST(work_queue, keeps_what_queued_work_needs) {
  work_queue& q = queue_on(topos::cpu());
  buffer in = some();
  const buffer watched = in;
  {
    const support::gate held(q);
    q.submit({in}, {}, always_queued, [](const auto&) {});
    in = buffer();
    EXPECT_EQ(watched.use_count(), 2);
  }
  q.drain();
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(work_queue, owns_nothing_that_its_own_device_works_on) {
  work_queue& q = queue_on(topos::cpu());
  const buffer in = some();
  const buffer out = some();
  {
    const support::gate held(q);
    q.submit({in}, {out}, always_queued, [](const auto&) {});

    EXPECT_TRUE(in.is_unique());
    EXPECT_TRUE(in.is_held());
    EXPECT_TRUE(out.is_unique());
    EXPECT_TRUE(out.is_held());
  }
  q.drain();
  EXPECT_FALSE(in.is_held());
  EXPECT_FALSE(out.is_held());
}

TEST(work_queue, in_place_scope_overwrites_nothing_that_queued_work_reads) {
  work_queue& q = queue_on(topos::cpu());
  const buffer shared = some();
  int& value = *static_cast<int*>(shared.data());
  value = 1;
  int seen = 0;
  q.submit({shared}, {}, always_queued, [&](const auto&) {
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // time to be overtaken in
    seen = value;
  });

  const topos::in_place_scope scope;
  q.submit({}, {shared}, always_queued, [&](const auto&) { value = 2; });

  EXPECT_EQ(seen, 1);
  EXPECT_EQ(value, 2);
}

TEST(work_queue, failure_keeps_its_type_and_content) {
  on_each_device([](topos::device d) {
    for (const topos::index_t elements : {small, always_queued}) {
      work_queue& q = queue_on(d);
      const buffer out = some(d);

      q.submit({}, {out}, elements, [](const auto&) { throw mishap("spilt", 42); });

      for (int again = 0; again < 2; ++again) {
        try {
          topos::detail::block_until_ready(out);
          ADD_FAILURE() << "nothing was rethrown";
        } catch (const mishap& failure) {
          EXPECT_STREQ(failure.what(), "spilt");
          EXPECT_EQ(failure.number, 42);
        }
      }
    }
  });
}

TEST(work_queue, failure_that_is_no_exception_object_is_kept_too) {
  work_queue& q = queue_on(topos::cpu());
  const buffer out = some();

  q.submit({}, {out}, always_queued, [](const auto&) { throw 7; });

  EXPECT_THROW(topos::detail::block_until_ready(out), int);
}

TEST(work_queue, failure_poisons_what_depends_on_it_and_nothing_else) {
  on_each_device([](topos::device d) {
    for (const topos::index_t elements : {small, always_queued}) {
      work_queue& q = queue_on(d);
      const buffer failed = some(d);
      const buffer failed_too = some(d);
      const buffer dependent = some(d);
      const buffer distant = some(d);
      const buffer unrelated = some(d);
      std::atomic<int> ran{0};
      const auto count = [&](const auto&) { ++ran; };

      q.submit({}, {failed, failed_too}, elements, [](const auto&) { throw mishap("spilt", 1); });
      q.submit({unrelated, failed}, {dependent}, elements, count);
      q.submit({dependent}, {distant}, elements, count);
      q.submit({}, {unrelated}, elements, count);

      EXPECT_THROW(topos::detail::block_until_ready(failed), mishap);
      EXPECT_THROW(topos::detail::block_until_ready(failed_too), mishap);
      EXPECT_THROW(topos::detail::block_until_ready(dependent), mishap);
      EXPECT_THROW(topos::detail::block_until_ready(distant), mishap);
      EXPECT_NO_THROW(topos::detail::block_until_ready(unrelated));
      EXPECT_EQ(ran, 1) << "work on poisoned operands does not run";
      EXPECT_NO_THROW(q.drain()) << "nobody's failure";
    }
  });
}

TEST(work_queue, first_failure_among_the_operands_is_told) {
  work_queue& q = queue_on(topos::cpu());
  const buffer first = some();
  const buffer second = some();
  const buffer out = some();

  q.submit({}, {first}, always_queued, [](const auto&) { throw mishap("first", 1); });
  q.submit({}, {second}, always_queued, [](const auto&) { throw mishap("second", 2); });
  q.submit({second, first}, {out}, always_queued, [](const auto&) {});

  EXPECT_EQ(support::refusal<mishap>([&] { topos::detail::block_until_ready(out); }), "second");
}

TEST(work_queue, part_that_succeeds_does_not_heal_a_part_that_failed) {
  work_queue& q = queue_on(topos::cpu());
  const buffer out = some();

  q.submit({}, {out}, small, [](const auto&) { throw mishap("first half", 1); });
  q.submit({}, {out}, small, [](const auto&) {});

  EXPECT_THROW(topos::detail::block_until_ready(out), mishap);
}

TEST(work_queue, work_that_waits_for_itself_fails_instead_of_hanging) {
  work_queue& q = queue_on(topos::cpu());
  const buffer out = some();

  q.submit({}, {out}, always_queued, [&](const auto&) { q.drain(); });

  EXPECT_THROW(topos::detail::block_until_ready(out), topos::error);
}

TEST(work_queue, work_in_place_that_waits_for_what_it_queued_fails_instead_of_hanging) {
  work_queue& q = queue_on(topos::cpu());
  q.drain();
  const buffer out = some();
  const buffer inner = some();

  q.submit({}, {out}, small, [&](const auto&) {
    q.submit({}, {inner}, small, [](const auto&) {});
    topos::detail::block_until_ready(inner);
  });

  EXPECT_THROW(topos::detail::block_until_ready(out), topos::error);
  EXPECT_NO_THROW(topos::detail::block_until_ready(inner));
}

TEST(work_queue, work_may_submit_more_work) {
  work_queue& q = queue_on(topos::cpu());
  for (const topos::index_t elements : {small, always_queued}) {
    const buffer outer = some();
    const buffer inner = some();
    std::vector<int> order;

    q.submit({}, {outer}, elements, [&](const auto&) {
      q.submit({}, {inner}, small, [&](const auto&) { order.push_back(2); });
      order.push_back(1);
    });
    topos::detail::block_until_ready(outer);
    topos::detail::block_until_ready(inner);

    EXPECT_EQ(order, (std::vector<int>{1, 2})) << "after what submitted it";
  }
}

// On a GPU it is launched at once, before what submits it has launched all that is its own.
TEST(work_queue, work_on_a_gpu_ends_after_what_it_submitted_there) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "there is no GPU";
  work_queue& q = queue_on(topos::gpu(0));
  for (const bool shared : {false, true}) {
    std::optional<topos::queue> further;
    if (shared) further.emplace(topos::gpu(0));
    const buffer outer = some(topos::gpu(0));
    const buffer inner = some(topos::gpu(0));

    q.submit({}, {outer}, small,
             [&](const auto&) { q.submit({}, {inner}, small, [](const auto&) {}); });

    EXPECT_LT(inner.ticket(), outer.ticket());
    EXPECT_EQ(outer.ticket(), ticket::of(q.id(), q.submitted()).value);
    topos::detail::block_until_ready(outer);
    EXPECT_TRUE(q.is_done(q.submitted()));
  }
}

TEST(work_queue, is_fed_by_many_threads) {
  work_queue& q = queue_on(topos::cpu());
  std::vector<int> counts(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const buffer out = some();
        q.submit({}, {out}, i % 2 == 0 ? small : always_queued,
                 [&counts, t](const auto&) { ++counts[t]; });
        topos::detail::block_until_ready(out);
        ASSERT_EQ(counts[t], i + 1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(work_queue, on_a_users_instance_leaves_its_id_to_no_other_kind) {
  const auto id_of = [](const topos::queue& q) { return q.lease()->queue.lock()->id(); };
  const auto adopted = [&] {
    return id_of(topos::queue::adopt(topos::backend::host::execution_space()));
  };
  const std::size_t id = adopted();
  std::vector<topos::queue> others;

  // Queues that were lent before are lent first.
  for (std::size_t i = 0; i <= id; ++i) others.emplace_back(topos::cpu());

  for (const topos::queue& q : others)
    EXPECT_NE(id_of(q), id) << "tensors may have tickets of that";
  EXPECT_EQ(adopted(), id);
}

using work_queue_death = support::death_test;

TEST_F(work_queue_death, end_of_the_runtime_finishes_queued_work) {
  EXPECT_EXIT(
      {
        static std::atomic<int> ran{0};
        work_queue& q = queue_on(topos::cpu());
        const buffer out = some();
        for (int i = 0; i < 1000; ++i)
          q.submit({}, {out}, always_queued, [](const auto&) { ++ran; });
        Kokkos::finalize();
        topos::detail::block_until_ready(out);
        std::_Exit(ran == 1000 && topos::detail::is_ready(out) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(work_queue_death, work_may_read_while_the_runtime_ends) {
  EXPECT_EXIT(
      {
        static std::atomic<bool> entered{false};
        work_queue& q = queue_on(topos::cpu());
        const buffer in = some();
        const buffer out = some();
        q.submit({}, {in}, always_queued, [](const auto&) {});
        for (int i = 0; i < 100; ++i) {
          q.submit({in}, {out}, always_queued, [&](const auto&) {
            topos::detail::block_until_ready(in);
            entered = true;
          });
        }
        Kokkos::finalize();
        std::_Exit(entered ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(work_queue_death, failure_outlives_the_runtime) {
  EXPECT_EXIT(
      {
        const buffer out = some();
        queue_on(topos::cpu()).submit({}, {out}, always_queued, [](const auto&) {
          throw mishap("late", 1);
        });
        Kokkos::finalize();
        try {
          topos::detail::block_until_ready(out);
        } catch (const mishap&) {
          std::_Exit(0);
        }
        std::_Exit(1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(work_queue_death, is_refused_after_the_runtime) {
  EXPECT_EXIT(
      {
        Kokkos::finalize();
        try {
          queue_on(topos::cpu());
        } catch (const topos::runtime_not_started&) {
          std::_Exit(0);
        }
        std::_Exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace work_queue_test
