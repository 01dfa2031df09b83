// SPDX-License-Identifier: Apache-2.0

/// Buffers are references: the last one gives the memory back, wherever and whenever it ends.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <topos/memory/buffer.hpp>
#include <type_traits>
#include <utility>

#include "../support/death_test.hpp"
#include "../support/devices.hpp"

namespace buffer_test {

using support::on_each_device;
using topos::buffer;
using topos::memory_stats;

static_assert(std::is_nothrow_move_constructible_v<buffer>);
static_assert(std::is_nothrow_move_assignable_v<buffer>);
static_assert(!std::is_convertible_v<topos::device, buffer>);

TEST(buffer, without_memory_is_empty_and_on_the_cpu) {
  const buffer none;

  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.use_count(), 0);
  EXPECT_EQ(none.where(), topos::cpu());
  EXPECT_EQ(none.ticket(), 0U);
  EXPECT_EQ(none.poison(), nullptr);
}

TEST(buffer, has_room_on_its_device) {
  on_each_device([](topos::device d) {
    for (const std::size_t bytes : {0, 1, 255, 257, 100'000}) {
      const buffer b(d, bytes);
      EXPECT_EQ(b.where(), d);
      EXPECT_GE(b.size(), bytes);
      ASSERT_NE(b.data(), nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % topos::backend::alignment, 0U);
    }
  });
}

TEST(buffer, copies_share_and_the_last_gives_back) {
  on_each_device([](topos::device d) {
    const std::size_t before = memory_stats(d).in_use;
    {
      buffer first(d, 1000);
      buffer second = first;
      EXPECT_EQ(first, second);
      EXPECT_EQ(first.data(), second.data());
      EXPECT_EQ(first.use_count(), 2);
      EXPECT_EQ(memory_stats(d).in_use, before + 1024);

      first = buffer();
      EXPECT_EQ(second.use_count(), 1);
      EXPECT_EQ(memory_stats(d).in_use, before + 1024);

      const buffer moved = std::move(second);
      EXPECT_EQ(moved.use_count(), 1);
    }
    EXPECT_EQ(memory_stats(d).in_use, before);
  });
}

TEST(buffer, others_are_not_equal) {
  const buffer a(topos::cpu(), 8);
  const buffer b(topos::cpu(), 8);

  EXPECT_NE(a, b);
  EXPECT_EQ(buffer(), buffer());
}

TEST(buffer, copies_share_ticket_and_poison) {
  const buffer a(topos::cpu(), 8);
  const buffer b = a;

  a.set_ticket(7);
  a.set_poison(std::make_exception_ptr(std::out_of_range("gone")));

  EXPECT_EQ(b.ticket(), 7U);
  EXPECT_THROW(std::rethrow_exception(b.poison()), std::out_of_range);
  a.set_ticket(0);
}

TEST(buffer, reused_memory_starts_clean) {
  const void* data = nullptr;
  {
    const buffer failed(topos::cpu(), 3000);
    failed.set_poison(std::make_exception_ptr(std::runtime_error("old")));
    data = failed.data();
  }

  const buffer next(topos::cpu(), 3000);

  EXPECT_EQ(next.data(), data) << "the pool keeps it";
  EXPECT_EQ(next.poison(), nullptr);
  EXPECT_EQ(next.ticket(), 0U);
}

TEST(buffer, is_unique_while_nobody_else_owns_it) {
  buffer first(topos::cpu(), 8);
  EXPECT_TRUE(first.is_unique());
  EXPECT_FALSE(buffer().is_unique());

  buffer second = first;
  EXPECT_FALSE(first.is_unique());
  EXPECT_FALSE(second.is_unique());

  second = buffer();
  EXPECT_TRUE(first.is_unique());
}

TEST(buffer, holds_keep_memory_without_owning_it) {
  const std::size_t before = memory_stats(topos::cpu()).in_use;
  buffer owner(topos::cpu(), 1000);
  {
    buffer::holds held({owner});
    EXPECT_FALSE(owner.is_unique()) << "an owner until it is told otherwise";
    EXPECT_FALSE(owner.is_held());

    held.disown_read(0);
    EXPECT_TRUE(owner.is_unique());
    EXPECT_TRUE(owner.is_held());
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(held.begin()->data(), owner.data());

    const buffer::holds moved = std::move(held);
    EXPECT_EQ(owner.use_count(), 2);
    owner = buffer();
    EXPECT_EQ(memory_stats(topos::cpu()).in_use, before + 1024);
  }
  EXPECT_EQ(memory_stats(topos::cpu()).in_use, before);
}

TEST(buffer, knows_which_queue_reads_it_since_it_was_written) {
  const buffer b(topos::cpu(), 8);
  EXPECT_FALSE(b.is_read_beside(0));
  {
    buffer::holds read({b});
    read.disown_read(3);
    EXPECT_FALSE(b.is_read_beside(3));
    EXPECT_TRUE(b.is_read_beside(4));

    buffer::holds again({b});
    again.disown_read(3);
    EXPECT_FALSE(b.is_read_beside(3));

    buffer::holds written({b});
    written.disown_written();
    EXPECT_FALSE(b.is_read_beside(4)) << "who read it is done when who writes it is";

    buffer::holds elsewhere({b});
    elsewhere.disown_read(4);
    buffer::holds both({b});
    both.disown_read(3);
    EXPECT_TRUE(b.is_read_beside(3));
    EXPECT_TRUE(b.is_read_beside(4));
  }
  EXPECT_FALSE(b.is_read_beside(0)) << "nobody holds it";
  {
    buffer::holds high({b});
    high.disown_read(1000);
    EXPECT_TRUE(b.is_read_beside(1000)) << "not told from 1001";
    EXPECT_TRUE(b.is_read_beside(0));
  }
}

TEST(buffer, holds_share_ticket_and_poison) {
  const buffer owner(topos::cpu(), 8);
  const buffer::holds held({owner});

  held.begin()->set_ticket(3);
  held.begin()->set_poison(std::make_exception_ptr(std::out_of_range("gone")));

  EXPECT_EQ(owner.ticket(), 3U);
  EXPECT_THROW(std::rethrow_exception(owner.poison()), std::out_of_range);
  owner.set_ticket(0);
}

TEST(buffer, adopted_memory_goes_back_to_its_maker_once) {
  int released = 0;
  std::int32_t values[3] = {1, 2, 3};
  const std::size_t before = memory_stats(topos::cpu()).in_use;
  {
    buffer first = buffer::adopt(topos::cpu(), values, sizeof values,
                                 std::shared_ptr<void>(values, [&](void*) { ++released; }));
    EXPECT_EQ(first.data(), values);
    EXPECT_EQ(first.size(), sizeof values);
    EXPECT_EQ(first.where(), topos::cpu());
    EXPECT_EQ(first.ticket(), 0U);
    EXPECT_TRUE(first.is_unique());
    EXPECT_EQ(memory_stats(topos::cpu()).in_use, before);

    buffer::holds last({first});
    last.disown_written();
    first = buffer();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(buffer, read_only_memory_is_never_unique) {
  const float constant = 1;

  const buffer b = buffer::adopt(topos::cpu(), &constant, sizeof constant, nullptr);

  EXPECT_FALSE(b.is_unique());
  EXPECT_EQ(b.use_count(), 1);
  EXPECT_EQ(b.data(), &constant);
}

TEST(buffer, owners_on_many_threads_leave_one) {
  const buffer shared(topos::cpu(), 8);
  const auto work = [&](std::size_t queue) {
    for (int round = 0; round < 2000; ++round) {
      const buffer copy = shared;
      buffer::holds held({copy});
      held.disown_read(queue);
    }
  };

  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();

  EXPECT_TRUE(shared.is_unique());
  EXPECT_EQ(shared.use_count(), 1);
}

using buffer_death = support::death_test;

TEST_F(buffer_death, outlives_the_runtime) {
  EXPECT_EXIT(
      {
        buffer b(topos::cpu(), 1000);
        static_cast<char*>(b.data())[999] = 1;
        Kokkos::finalize();
        const bool kept = static_cast<char*>(b.data())[999] == 1;
        b = buffer();
        const bool empty = memory_stats(topos::cpu()).cached == 0;
        std::_Exit(kept && empty ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(buffer_death, is_refused_after_the_runtime) {
  EXPECT_EXIT(
      {
        Kokkos::finalize();
        try {
          const buffer b(topos::cpu(), 1000);
        } catch (const topos::runtime_not_started&) {
          std::_Exit(0);
        }
        std::_Exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace buffer_test
