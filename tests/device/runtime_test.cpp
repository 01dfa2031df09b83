// SPDX-License-Identifier: Apache-2.0

/// The runtime that the test program made is started; a further one leaves it alone.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <source_location>
#include <thread>
#include <topos/device/runtime.hpp>
#include <type_traits>
#include <vector>

namespace runtime_test {

static_assert(!std::is_copy_constructible_v<topos::runtime>);
static_assert(!std::is_move_constructible_v<topos::runtime>);

TEST(runtime, is_started) {
  EXPECT_TRUE(Kokkos::is_initialized());
  EXPECT_NO_THROW(topos::detail::require_runtime(std::source_location::current()));
}

TEST(runtime, second_one_does_nothing) {
  {
    const topos::runtime second;
    EXPECT_TRUE(Kokkos::is_initialized());
  }

  EXPECT_TRUE(Kokkos::is_initialized());
  EXPECT_FALSE(Kokkos::is_finalized());
}

TEST(runtime, second_one_leaves_the_command_line_alone) {
  char name[] = "program";
  char option[] = "--kokkos-num-threads=1";
  char* argv[] = {name, option, nullptr};
  int argc = 2;

  const topos::runtime second(argc, argv);

  EXPECT_EQ(argc, 2);
  EXPECT_EQ(argv[1], option);
}

// Runs in a process of its own, since Kokkos ends once.
int run_past_the_end() {
  char name[] = "program";
  char option[] = "--kokkos-num-threads=1";
  char other[] = "--other";
  char* argv[] = {name, option, other, nullptr};
  int argc = 3;
  const auto refused = [] {
    try {
      topos::detail::require_runtime(std::source_location::current());
    } catch (const topos::runtime_not_started&) {
      return true;
    }
    return false;
  };
  Kokkos::finalize();
  if (!refused()) return 1;
  const auto here = std::source_location::current();
  try {
    const topos::runtime again(argc, argv);
    return 2;
  } catch (const topos::runtime_not_started& e) {
    return e.where().line() == here.line() + 2 ? 0 : 3;
  }
}

TEST(runtime, cannot_be_started_again_after_its_end) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";

  EXPECT_EXIT(std::_Exit(run_past_the_end()), testing::ExitedWithCode(0), "");
}

int ask_for_the_end_on_many_threads() {
  std::atomic<int> told{0};
  std::latch start(4);
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int i = 0; i != 50'000; ++i)
        topos::detail::at_end(topos::detail::end_of::memory, [&] { ++told; });
    });
  }
  for (std::thread& t : threads) t.join();
  Kokkos::finalize();
  return told == 4 * 50'000 ? 0 : 1;
}

TEST(runtime, tells_of_its_end_whoever_asks_at_once) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";

  EXPECT_EXIT(std::_Exit(ask_for_the_end_on_many_threads()), testing::ExitedWithCode(0), "");
}

}  // namespace runtime_test
