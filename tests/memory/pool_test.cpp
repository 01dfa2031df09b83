// SPDX-License-Identifier: Apache-2.0

/// The pool keeps what it is given back, by size class, and knows what it holds.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <source_location>
#include <string>
#include <thread>
#include <topos/memory/pool.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace pool_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using topos::detail::pool;

constexpr std::size_t kib = std::size_t{1} << 10;
constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t gib = std::size_t{1} << 30;

TEST(pool, rounds_sizes_up_to_four_classes_in_a_power_of_two) {
  EXPECT_EQ(pool::class_of(0), 256U);
  EXPECT_EQ(pool::class_of(1), 256U);
  EXPECT_EQ(pool::class_of(256), 256U);
  EXPECT_EQ(pool::class_of(257), 512U);
  EXPECT_EQ(pool::class_of(kib), kib);
  EXPECT_EQ(pool::class_of(kib + 1), kib + 256);
  EXPECT_EQ(pool::class_of(mib), mib);
  EXPECT_EQ(pool::class_of(mib + 1), mib + mib / 4);
  EXPECT_EQ(pool::class_of(2 * mib - 1), 2 * mib);
  EXPECT_EQ(pool::class_of(gib), gib);
  EXPECT_EQ(pool::class_of(gib + 1), gib + 2 * mib);
}

TEST(pool, classes_hold_what_they_are_asked_for_and_waste_little) {
  for (std::size_t bytes = 1; bytes < 8 * gib; bytes += bytes / 7 + 1) {
    const std::size_t rounded = pool::class_of(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_EQ(rounded % topos::backend::alignment, 0U) << bytes;
    EXPECT_EQ(pool::class_of(rounded), rounded) << "a class is its own";
    if (bytes < kib) continue;
    EXPECT_LE(rounded - bytes, rounded / 4) << bytes;
  }
}

// A server whose batches are of many lengths has each for a moment, and would keep all of them.
TEST(pool, keeps_no_more_than_was_in_use_at_once_over_again) {
  pool p(topos::cpu());
  for (std::size_t i = 1; i <= 8; ++i) {
    const std::size_t bytes = gib + i * 2 * mib;
    p.deallocate(p.allocate(bytes, std::source_location::current()), bytes);
    EXPECT_LE(p.statistics().cached, 2 * p.statistics().peak) << i;
  }
  p.set_limit(2 * gib);
  for (const std::size_t bytes : {gib, gib + gib / 4, gib + gib / 2}) {
    p.deallocate(p.allocate(bytes, std::source_location::current()), bytes);
    EXPECT_LE(p.statistics().cached, 2 * gib);
  }
  p.empty_cache();
}

TEST(pool, gives_back_the_block_it_kept) {
  on_each_device([](topos::device d) {
    pool p(d);
    void* first = p.allocate(4 * kib, std::source_location::current());
    p.deallocate(first, 4 * kib);
    void* again = p.allocate(4 * kib, std::source_location::current());

    EXPECT_EQ(again, first);

    p.deallocate(again, 4 * kib);
    p.empty_cache();
  });
}

TEST(pool, keeps_size_classes_apart) {
  on_each_device([](topos::device d) {
    pool p(d);
    void* small = p.allocate(4 * kib, std::source_location::current());
    p.deallocate(small, 4 * kib);
    void* large = p.allocate(8 * kib, std::source_location::current());

    EXPECT_NE(large, small);
    EXPECT_EQ(p.statistics().cached, 4 * kib);

    p.deallocate(large, 8 * kib);
    p.empty_cache();
  });
}

TEST(pool, blocks_are_aligned) {
  on_each_device([](topos::device d) {
    pool p(d);
    for (const std::size_t bytes : {std::size_t{1}, kib, 3 * mib}) {
      const std::size_t rounded = pool::class_of(bytes);
      void* block = p.allocate(rounded, std::source_location::current());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % topos::backend::alignment, 0U);
      p.deallocate(block, rounded);
    }
    p.empty_cache();
  });
}

TEST(pool, counts_what_is_in_use_cached_and_at_most) {
  pool p(topos::cpu());
  void* a = p.allocate(kib, std::source_location::current());
  void* b = p.allocate(2 * kib, std::source_location::current());
  EXPECT_EQ(p.statistics().in_use, 3 * kib);
  EXPECT_EQ(p.statistics().peak, 3 * kib);

  p.deallocate(a, kib);
  EXPECT_EQ(p.statistics().in_use, 2 * kib);
  EXPECT_EQ(p.statistics().cached, kib);
  EXPECT_EQ(p.statistics().peak, 3 * kib) << "the peak stays";

  p.deallocate(b, 2 * kib);
  p.empty_cache();
  EXPECT_EQ(p.statistics().in_use, 0U);
  EXPECT_EQ(p.statistics().cached, 0U);
  EXPECT_EQ(p.statistics().peak, 3 * kib);
  EXPECT_EQ(p.statistics().limit, 0U);
}

TEST(pool, limit_is_kept_and_its_error_names_the_numbers) {
  pool p(topos::cpu());
  p.set_limit(4 * kib);
  void* block = p.allocate(3 * kib, std::source_location::current());

  const std::string message = refusal<topos::out_of_memory>(
      [&] { p.deallocate(p.allocate(2 * kib, std::source_location::current()), 2 * kib); });

  EXPECT_TRUE(contains(message, "cpu")) << message;
  EXPECT_TRUE(contains(message, "2048")) << message;
  EXPECT_TRUE(contains(message, "3072")) << message;
  EXPECT_TRUE(contains(message, "4096")) << message;
  EXPECT_EQ(p.statistics().in_use, 3 * kib) << "what was refused is not counted";
  void* fits = p.allocate(kib, std::source_location::current());
  p.set_limit(0);
  void* more = p.allocate(16 * kib, std::source_location::current());
  p.deallocate(block, 3 * kib);
  p.deallocate(fits, kib);
  p.deallocate(more, 16 * kib);
  p.empty_cache();
}

TEST(pool, waits_for_work_that_holds_memory_before_it_refuses) {
  on_each_device([](topos::device d) {
    pool p(d);
    p.set_limit(kib);
    void* held = p.allocate(kib, std::source_location::current());
    int waited = 0;
    p.wait_by([&] {
      if (++waited == 1) p.deallocate(held, kib);
    });

    void* next = p.allocate(kib, std::source_location::current());
    EXPECT_EQ(waited, 1);
    EXPECT_THROW((void)p.allocate(kib, std::source_location::current()), topos::out_of_memory);
    EXPECT_EQ(waited, 2);

    p.deallocate(next, kib);
    p.close();
  });
}

TEST(pool, closed_pool_keeps_nothing) {
  pool p(topos::cpu());
  void* before = p.allocate(kib, std::source_location::current());
  void* after = p.allocate(kib, std::source_location::current());
  p.deallocate(before, kib);

  p.close();
  EXPECT_EQ(p.statistics().cached, 0U);
  p.deallocate(after, kib);

  EXPECT_EQ(p.statistics().cached, 0U);
  EXPECT_EQ(p.statistics().in_use, 0U);
}

TEST(pool, memory_that_no_machine_has_is_refused_with_what_is_in_use) {
  on_each_device([](topos::device d) {
    pool p(d);
    void* block = p.allocate(kib, std::source_location::current());

    const std::string message = refusal<topos::out_of_memory>([&] {
      static_cast<void>(p.allocate(std::size_t{1} << 60, std::source_location::current()));
    });

    EXPECT_TRUE(contains(message, "1024 bytes are in use")) << message;
    EXPECT_EQ(p.statistics().in_use, kib);
    p.deallocate(block, kib);
    p.empty_cache();
  });
}

// Work that is queued holds its memory: here two blocks, which waiting for it gives back.
TEST(pool, waits_for_queued_work_before_that_holds_too_much) {
  pool p(topos::cpu());
  const auto allocate = [&](std::size_t bytes) {
    return p.allocate(bytes, std::source_location::current());
  };
  constexpr std::size_t block = 128 * mib;
  std::vector<void*> queued;
  int waits = 0;
  p.wait_by([&] {
    ++waits;
    for (void* each : queued) p.deallocate(each, block);
    queued.clear();
  });

  for (int i = 0; i < 5; ++i) queued.push_back(allocate(block));
  EXPECT_EQ(waits, 0) << "a few blocks of any size";
  queued.push_back(allocate(block));
  EXPECT_EQ(waits, 1);
  for (int i = 0; i < 4; ++i) queued.push_back(allocate(block));
  EXPECT_EQ(waits, 1) << "blocks are free";
  void* const kept = allocate(kib);
  EXPECT_EQ(waits, 2) << "five blocks, of 640 MiB";
  EXPECT_EQ(p.statistics().in_use, kib);

  p.deallocate(kept, kib);
  p.empty_cache();
}

// What the user holds is not queued work's: it is waited for once, and counts no more.
TEST(pool, waits_once_for_what_stays) {
  pool p(topos::cpu());
  int waits = 0;
  p.wait_by([&] { ++waits; });
  constexpr std::size_t block = 64 * mib;
  std::vector<void*> held;
  for (int i = 0; i < 16; ++i) held.push_back(p.allocate(block, std::source_location::current()));

  EXPECT_EQ(waits, 3);
  for (void* each : held) p.deallocate(each, block);
  p.empty_cache();
}

TEST(pool, is_shared_by_threads_without_handing_a_block_out_twice) {
  pool p(topos::cpu());
  std::atomic<int> clashes{0};
  const auto work = [&](int own) {
    for (int round = 0; round < 500; ++round) {
      int* block = static_cast<int*>(p.allocate(kib, std::source_location::current()));
      *block = own * 1000 + round;
      if (*block != own * 1000 + round) ++clashes;
      p.deallocate(block, kib);
    }
  };

  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();

  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(p.statistics().in_use, 0U);
  EXPECT_LE(p.statistics().peak, 4 * kib);
  p.empty_cache();
}

TEST(pool, of_a_device_is_one_and_tells_its_statistics) {
  on_each_device([](topos::device d) {
    pool& p = topos::detail::pool_of(d);
    EXPECT_EQ(&p, &topos::detail::pool_of(d));
    EXPECT_EQ(p.where(), d);
    const std::size_t before = topos::memory_stats(d).in_use;

    void* block = p.allocate(kib, std::source_location::current());
    EXPECT_EQ(topos::memory_stats(d).in_use, before + kib);
    p.deallocate(block, kib);
    EXPECT_GE(topos::memory_stats(d).cached, kib);

    topos::empty_cache(d);
    EXPECT_EQ(topos::memory_stats(d).cached, 0U);
  });
}

TEST(pool, limit_of_a_device_bounds_its_tensors) {
  on_each_device([](topos::device d) {
    topos::set_memory_limit(d, topos::memory_stats(d).in_use + mib);
    EXPECT_THROW(static_cast<void>(topos::empty<float, 1>({300'000}, d)), topos::out_of_memory);
    EXPECT_NO_THROW(static_cast<void>(topos::empty<float, 1>({200'000}, d)));
    topos::set_memory_limit(d, 0);
    EXPECT_NO_THROW(static_cast<void>(topos::empty<float, 1>({300'000}, d)));
  });
}

}  // namespace pool_test
