// SPDX-License-Identifier: Apache-2.0

/// Tasks are run in order, by one thread or those that wait for them; small work may run on the
/// caller's while nothing is queued.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <topos/async/host_worker.hpp>
#include <type_traits>
#include <vector>

namespace host_worker_test {

using topos::detail::host_worker;

using stream = topos::backend::host::stream;

constexpr topos::index_t large = stream::small_work + 1;
constexpr auto nobody = [](std::uint64_t, const auto&) {};

static_assert(!std::is_copy_constructible_v<host_worker>);
static_assert(!std::is_convertible_v<int, host_worker>);

TEST(host_worker, runs_what_is_always_queued_in_order_on_one_other_thread) {
  host_worker worker(0);
  std::vector<int> order;
  std::vector<std::thread::id> threads;

  for (int i = 0; i < 1000; ++i) {
    worker.submit(nobody, [&, i](const auto&) {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  worker.drain();

  ASSERT_EQ(order.size(), 1000U);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(threads[static_cast<std::size_t>(i)], threads[0]);
  }
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(host_worker, tickets_count_up_and_are_announced_before_the_task_runs) {
  host_worker worker(0);
  std::atomic<std::uint64_t> announced{0};
  std::vector<std::uint64_t> seen;

  for (std::uint64_t i = 1; i <= 100; ++i) {
    const std::uint64_t ticket =
        worker.submit([&](std::uint64_t t, const auto&) { announced = t; },
                      [&, i](const auto&) { seen.push_back(announced >= i ? i : 0); });
    EXPECT_EQ(ticket, i);
  }
  worker.wait(100);

  EXPECT_TRUE(worker.is_done(100));
  EXPECT_FALSE(worker.is_done(101));
  for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(seen[i - 1], i);
}

TEST(host_worker, takes_small_work_in_place_only_while_idle) {
  host_worker worker(0);
  std::binary_semaphore entered{0};
  std::binary_semaphore opened{0};
  std::thread::id ran;
  const auto small = [&](const auto& stream) {
    ran = std::this_thread::get_id();
    EXPECT_TRUE(stream.in_place());
  };

  EXPECT_TRUE(worker.try_in_place(small));
  EXPECT_EQ(ran, std::this_thread::get_id());

  worker.submit(nobody, [&](const auto& stream) {
    EXPECT_FALSE(stream.in_place());
    entered.release();
    opened.acquire();
  });
  EXPECT_FALSE(worker.try_in_place(small)) << "queued";
  entered.acquire();
  EXPECT_FALSE(worker.try_in_place(small)) << "running";
  opened.release();
  worker.drain();
  EXPECT_TRUE(worker.try_in_place(small)) << "idle again";
}

TEST(host_worker, work_in_place_keeps_queued_work_waiting) {
  host_worker worker(0);
  std::binary_semaphore entered{0};
  std::binary_semaphore opened{0};
  std::vector<int> order;

  std::thread other([&] {
    EXPECT_TRUE(worker.try_in_place([&](const auto&) {
      entered.release();
      opened.acquire();
      order.push_back(1);
    }));
  });
  entered.acquire();
  EXPECT_FALSE(worker.try_in_place([](const auto&) {})) << "one at a time";
  worker.submit(nobody, [&](const auto&) { order.push_back(2); });
  EXPECT_FALSE(worker.is_done(1));
  opened.release();
  other.join();
  worker.drain();

  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(host_worker, who_waits_runs_what_nobody_has_begun) {
  host_worker worker(0);
  const std::thread::id here = std::this_thread::get_id();
  for (const topos::index_t elements : {stream::small_work, large}) {
    bool ran_here = false;
    for (int i = 0; i < 100'000 && !ran_here; ++i) {
      int times = 0;
      const std::uint64_t ticket = worker.submit(
          nobody,
          [&](const auto& s) {
            ++times;
            ran_here = std::this_thread::get_id() == here;
            EXPECT_TRUE(host_worker::works_here());
            EXPECT_EQ(s.in_place(), ran_here && elements == stream::small_work);
          },
          elements);
      worker.wait(ticket);
      ASSERT_EQ(times, 1);
    }
    EXPECT_TRUE(ran_here);
    EXPECT_FALSE(host_worker::works_here());
  }
}

TEST(host_worker, who_waits_runs_no_more_than_that) {
  host_worker worker(0);
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 1000; ++i) {
    std::thread::id second;
    worker.wait(worker.submit(
        nobody, [](const auto&) {}, large));
    const std::uint64_t first = worker.submit(
        nobody, [](const auto&) {}, large);
    worker.submit(
        nobody, [&](const auto&) { second = std::this_thread::get_id(); }, large);
    worker.wait(first);
    while (!worker.is_done(first + 1)) std::this_thread::yield();
    ASSERT_NE(second, here);
  }
}

TEST(host_worker, waiting_on_itself_is_refused_where_another_thread_runs_it) {
  host_worker worker(0);
  for (int i = 0; i < 1000; ++i) {
    int refused = 0;
    std::uint64_t ticket = worker.submitted() + 1;
    worker.submit(
        nobody,
        [&](const auto&) {
          try {
            worker.wait(ticket);
          } catch (const topos::error&) {
            ++refused;
          }
        },
        large);
    worker.wait(ticket);
    ASSERT_EQ(refused, 1);
  }
}

// What is taken may wait for another worker, whose task waits for what came before.
TEST(host_worker, who_waits_takes_nothing_before_what_is_done_counts_as_done) {
  host_worker worker(0);
  host_worker other(0, true);
  for (int i = 0; i < 10'000; ++i) {
    bool refused = false;
    const std::uint64_t first = worker.submit(nobody, [](const auto&) {});
    const std::uint64_t second = other.submit(
        nobody,
        [&](const auto&) {
          try {
            worker.wait(first);
          } catch (const topos::error&) {
            refused = true;
          }
        },
        large);
    worker.wait(worker.submit(
        nobody, [&](const auto&) { other.wait(second); }, large));
    ASSERT_FALSE(refused);
  }
}

TEST(host_worker, end_finishes_what_is_queued) {
  std::atomic<int> ran{0};
  {
    host_worker worker(0);
    for (int i = 0; i < 100; ++i) worker.submit(nobody, [&](const auto&) { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

TEST(host_worker, gives_back_what_a_task_holds_before_it_counts_as_done) {
  host_worker worker(0);
  const auto held = std::make_shared<int>(1);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t ticket = worker.submit(nobody, [held](const auto&) {});
    worker.wait(ticket);
    ASSERT_EQ(held.use_count(), 1);
  }
}

TEST(host_worker, waiting_on_itself_is_refused_instead_of_hanging) {
  host_worker worker(0);
  std::atomic<int> refused{0};
  std::atomic<int> passed{0};

  worker.submit(nobody, [](const auto&) {});
  worker.submit(nobody, [&](const auto&) {
    worker.wait(1);  // done already
    ++passed;
    for (const std::uint64_t own_or_later : {2, 3}) {
      try {
        worker.wait(own_or_later);
      } catch (const topos::error&) {
        ++refused;
      }
    }
  });
  worker.drain();

  EXPECT_EQ(passed, 1);
  EXPECT_EQ(refused, 2);
}

// Every item waits for the work that it belongs to.
struct wait_for_own_work {
  host_worker* worker;
  std::atomic<int>* refused;

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, topos::index_t /*i*/) const {
    if constexpr (Team::on_host) wait();
  }

  void wait() const {
    try {
      worker->wait(1);
    } catch (const topos::error&) {
      refused->fetch_add(1);
    }
  }
};

TEST(host_worker, waiting_on_itself_is_refused_on_each_thread_of_a_launch) {
  host_worker worker(0);
  std::atomic<int> refused{0};

  worker.submit(nobody, [&](const auto& stream) {
    stream.for_each("wait_for_own_work", 256, 1'000'000, 0, wait_for_own_work{&worker, &refused});
  });
  worker.drain();

  EXPECT_EQ(refused, 256);
}

TEST(host_worker, is_fed_by_many_threads_and_keeps_the_order_of_each) {
  host_worker worker(0);
  constexpr int each = 500;
  std::vector<std::vector<int>> orders(4);

  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < orders.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        const auto task = [&, t, i](const auto&) { orders[t].push_back(i); };
        if (i % 3 != 0 || !worker.try_in_place(task)) worker.submit(nobody, task);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  worker.drain();

  for (const std::vector<int>& order : orders) {
    ASSERT_EQ(order.size(), static_cast<std::size_t>(each));
    for (int i = 0; i < each; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(host_worker, follower_comes_after_its_task_and_before_the_next) {
  host_worker worker(0);
  std::binary_semaphore go{0};
  std::vector<int> order;
  worker.submit(nobody, [&](const auto&) {
    go.acquire();
    order.push_back(1);
  });
  worker.submit(nobody, [&](const auto&) { order.push_back(3); });

  EXPECT_TRUE(worker.follow(1, [&] { order.push_back(2); }));
  go.release();
  worker.drain();

  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(worker.follow(1, [&] { order.push_back(4); }));
  EXPECT_EQ(order.size(), 3U);
}

TEST(host_worker, follower_comes_before_the_next_whoever_runs_that) {
  host_worker worker(0);
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 1000; ++i) {
    std::vector<int> order;
    const std::uint64_t first = worker.submit(
        nobody, [&](const auto&) { order.push_back(1); }, large);
    const bool followed = worker.follow(first, [&] {
      EXPECT_NE(std::this_thread::get_id(), here);
      order.push_back(2);
    });
    worker.submit(
        nobody, [&](const auto&) { order.push_back(3); }, large);
    worker.drain();
    if (!followed) order.insert(order.begin() + 1, 2);
    ASSERT_EQ(order, (std::vector<int>{1, 2, 3}));
  }
}

TEST(host_worker, follower_of_what_another_thread_ran_last_is_run) {
  host_worker worker(0);
  int followed = 0;
  int expected = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t ticket = worker.submit(
        nobody, [](const auto&) {}, large);
    if (worker.follow(ticket, [&] { ++followed; })) ++expected;
    worker.wait(ticket);
  }
  worker.drain_followers();
  EXPECT_EQ(followed, expected);
}

TEST(host_worker, is_waited_for_by_many_threads) {
  host_worker worker(0);
  int ran = 0;  // one at a time, whoever it is
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t ticket = worker.submit(
            nobody, [&](const auto&) { ++ran; }, large);
        if (i % 3 == 0) worker.follow(ticket, [] {});
        worker.wait(ticket);
        EXPECT_TRUE(worker.is_done(ticket));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(ran, 2000);
}

TEST(host_worker, followers_are_run_before_its_end) {
  std::binary_semaphore go{0};
  int followed = 0;
  {
    host_worker worker(0);
    worker.submit(nobody, [&](const auto&) { go.acquire(); });
    for (int i = 0; i < 3; ++i) worker.follow(1, [&] { ++followed; });
    go.release();
  }
  EXPECT_EQ(followed, 3);
}

}  // namespace host_worker_test
