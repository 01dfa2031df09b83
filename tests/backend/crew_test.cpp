// SPDX-License-Identifier: Apache-2.0

/// A crew runs each part of a job once, on threads of its own and on those that wait for it, and
/// waits for nobody who has not begun.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <latch>
#include <thread>
#include <topos/backend/crew.hpp>
#include <type_traits>
#include <vector>

namespace crew_test {

using topos::index_t;
using topos::backend::crew;
using topos::backend::parted_job;

static_assert(!std::is_copy_constructible_v<crew>);
static_assert(!std::is_convertible_v<int, crew>);

// A job of a callable on the number of a part.
template <class Part>
parted_job job_of(index_t parts, const Part& part, int threads = 2) {
  return {parts, &part, [](const void* job, index_t p) { (*static_cast<const Part*>(job))(p); },
          threads};
}

// A core that is not there.
constexpr int elsewhere = 1'000'000;

// Whether another thread helps with a job of many parts, of which there are some.
bool somebody_comes(crew& c, bool at_once) {
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<bool> came{false};
  const auto part = [&](index_t) {
    if (std::this_thread::get_id() != here) came = true;
  };
  for (int i = 0; i < 1000 && !came; ++i) {
    parted_job job = job_of(1'000'000, part);
    c.run(job, at_once);
  }
  return came;
}

TEST(parted_job, gives_each_thread_another_share) {
  const auto part = [](index_t) {};
  parted_job job = job_of(7, part, 3);
  std::vector<int> shares{job.share_of_this_core(), job.share_of_this_core(),
                          job.share_of_this_core()};
  std::sort(shares.begin(), shares.end());
  EXPECT_EQ(shares, (std::vector<int>{0, 1, 2}));
  const int fourth = job.share_of_this_core();
  EXPECT_TRUE(0 <= fourth && fourth < 3);
}

TEST(parted_job, gives_parts_of_a_share_and_then_of_others) {
  index_t ran = -1;
  const auto part = [&](index_t p) { ran = p; };
  parted_job job = job_of(7, part, 3);
  const auto next = [&](int share) {
    ran = -1;
    const bool has_run = job.run_one(share);
    EXPECT_EQ(has_run, ran >= 0);
    return ran;
  };
  EXPECT_EQ(next(0), 0);
  EXPECT_EQ(next(1), 2);
  EXPECT_EQ(next(2), 4);
  EXPECT_EQ(next(0), 1);
  EXPECT_EQ(next(0), 3);  // of the next, since it has none left
  EXPECT_TRUE(job.has_more());
  EXPECT_EQ(next(0), 5);
  EXPECT_EQ(next(2), 6);
  EXPECT_FALSE(job.has_more());
  EXPECT_EQ(next(1), -1);
}

TEST(parted_job, may_have_fewer_parts_than_threads) {
  for (const int threads : {1, 2, 16, 17, 1000}) {
    for (const index_t parts : {0, 1, 3}) {
      std::vector<int> times(static_cast<std::size_t>(parts));
      const auto part = [&](index_t p) { ++times[static_cast<std::size_t>(p)]; };
      parted_job job = job_of(parts, part, threads);
      while (job.run_one(threads - 1)) {
      }
      EXPECT_FALSE(job.has_more());
      EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(parts), 1));
    }
  }
}

TEST(crew, runs_each_part_once) {
  for (const int threads : {1, 2, 4}) {
    crew c(threads);
    for (const index_t parts : {0, 1, 2, 7, 1000}) {
      for (const bool at_once : {false, true}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(parts));
        const auto part = [&](index_t p) { ++seen[static_cast<std::size_t>(p)]; };
        parted_job job = job_of(parts, part);

        c.run(job, at_once);

        for (const auto& times : seen) ASSERT_EQ(times, 1);
      }
    }
  }
}

TEST(crew, many_jobs_one_after_the_other_see_what_those_before_wrote) {
  crew c(3);
  std::vector<int> numbers(64, 0);
  for (int i = 0; i < 2000; ++i) {
    const auto part = [&](index_t p) {
      int& number = numbers[static_cast<std::size_t>((p + i) % 64)];
      number = number == i ? i + 1 : -1;
    };
    parted_job job = job_of(64, part);
    c.run(job, i % 2 == 0);
  }
  for (const int n : numbers) EXPECT_EQ(n, 2000);
}

TEST(crew, helpers_come_when_they_are_called) {
  crew c(3);
  EXPECT_EQ(c.size(), 3);
  std::barrier together(3);
  const auto part = [&](index_t) { together.arrive_and_wait(); };
  for (int i = 0; i < 10; ++i) {
    parted_job job = job_of(3, part);
    c.run(job, true);  // would not end on fewer threads
  }
}

TEST(crew, helpers_come_to_a_job_that_lasts) {
  crew c(2);
  EXPECT_TRUE(somebody_comes(c, false));
}

TEST(crew, guest_helps) {
  static std::latch* held = nullptr;
  std::latch end(1);
  held = &end;
  crew c(2, [] { held->wait(); });  // its own thread cannot
  std::atomic<bool> done{false};
  c.first_is_awake(elsewhere);
  std::thread waiter([&] {
    crew::guest g(c);
    while (!g.help_until([&] { return done.load(); })) std::this_thread::yield();
  });
  std::barrier together(2);
  const auto part = [&](index_t) { together.arrive_and_wait(); };
  for (int i = 0; i < 10; ++i) {
    parted_job job = job_of(2, part);
    c.run(job, true);  // would not end on one thread
  }
  done = true;
  end.count_down();
  waiter.join();
}

TEST(crew, waits_for_nobody_who_has_not_begun) {
  crew c(2);
  c.first_is_awake(elsewhere);
  const crew::guest asleep(c);  // for whom its own thread rests
  int ran = 0;
  const auto part = [&](index_t) { ++ran; };
  parted_job job = job_of(1, part);

  c.run(job, true);

  EXPECT_EQ(ran, 1);
}

TEST(crew, guest_on_the_core_of_the_first_thread_does_not_keep_it_busy) {
  crew c(2);
  bool asked = false;
  for (int i = 0; i < 1000; ++i) {  // a thread may be moved meanwhile
    c.first_is_awake();
    crew::guest g(c);
    int times = 0;
    EXPECT_FALSE(g.help_until([&] { return ++times, false; }));
    if (times == 1) asked = true;
  }
  EXPECT_TRUE(asked);
}

TEST(crew, helpers_come_for_guests_that_sleep) {
  crew c(2);
  c.first_is_awake(elsewhere);
  const crew::guest asleep(c);
  EXPECT_TRUE(somebody_comes(c, true));
}

TEST(crew, knows_the_threads_that_are_at_its_job) {
  crew c(2);
  crew other(2);
  std::barrier together(2);
  std::atomic<int> at_work{0};
  const auto part = [&](index_t) {
    if (c.works_here() && !other.works_here()) ++at_work;
    together.arrive_and_wait();
  };
  parted_job job = job_of(2, part);

  EXPECT_FALSE(c.works_here());
  c.run(job, true);
  EXPECT_FALSE(c.works_here());

  EXPECT_EQ(at_work, 2);
}

TEST(crew, each_thread_of_its_own_prepares_itself_first) {
  static std::atomic<int> prepared{0};
  prepared = 0;
  {
    crew c(3, [] { ++prepared; });
    EXPECT_EQ(prepared, 0) << "they start when they are needed";
    std::barrier together(3);
    const auto part = [&](index_t) { together.arrive_and_wait(); };
    parted_job job = job_of(3, part);
    c.run(job, true);
    EXPECT_EQ(prepared, 2);
  }
}

}  // namespace crew_test
