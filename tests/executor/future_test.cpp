// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/executor/future.hpp>
#include <type_traits>
#include <utility>

namespace future_test {

using namespace std::chrono_literals;

static_assert(topos::future_value<int>);
static_assert(topos::future_value<std::unique_ptr<int>>);
static_assert(!topos::future_value<void>);
static_assert(!topos::future_value<int&>);
static_assert(!topos::future_value<const int>);
static_assert(std::movable<topos::future<int>> && !std::copyable<topos::future<int>>);
static_assert(std::is_nothrow_move_constructible_v<topos::future<std::string>>);
static_assert(std::derived_from<topos::cancelled, topos::error>);

template <class T>
struct state final : topos::detail::future_state<T> {};

// Its move throws where it is told to.
struct fragile {
  bool broken = false;
  fragile() = default;
  fragile(fragile&& other) : broken(other.broken) {
    if (broken) throw std::runtime_error("cannot be moved");
  }
  fragile& operator=(fragile&&) = default;
};

TEST(future, gives_its_value_once) {
  const auto shared = std::make_shared<state<std::unique_ptr<int>>>();
  topos::future<std::unique_ptr<int>> f(shared);
  EXPECT_TRUE(f.valid());
  EXPECT_FALSE(f.is_ready());
  EXPECT_FALSE(f.wait_for(0s));
  EXPECT_FALSE(f.wait_until(std::chrono::system_clock::now()));

  shared->set_value(std::make_unique<int>(7));

  EXPECT_TRUE(f.is_ready());
  EXPECT_TRUE(f.wait_for(0s));
  EXPECT_TRUE(f.wait_until(std::chrono::steady_clock::time_point::max()));
  f.wait();
  EXPECT_EQ(*f.get(), 7);
  EXPECT_FALSE(f.valid());
  EXPECT_THROW(static_cast<void>(f.get()), topos::error);
}

TEST(future, throws_with_the_type_that_was_thrown) {
  const auto shared = std::make_shared<state<int>>();
  topos::future<int> f(shared);
  shared->set_error(std::make_exception_ptr(std::out_of_range("item 3")));
  EXPECT_TRUE(f.is_ready());
  EXPECT_THROW(f.get(), std::out_of_range);
  EXPECT_FALSE(f.valid());
}

TEST(future, without_a_result_says_so) {
  topos::future<int> f;
  EXPECT_FALSE(f.valid());
  for (const auto& use : {+[](topos::future<int>& g) { g.wait(); },
                          +[](topos::future<int>& g) { static_cast<void>(g.is_ready()); },
                          +[](topos::future<int>& g) { static_cast<void>(g.get()); }}) {
    try {
      use(f);
      FAIL() << "it should have thrown";
    } catch (const topos::error& e) {
      EXPECT_STREQ(
          e.what(),
          "future: it refers to no result; was it moved from, or its result taken before?");
      EXPECT_NE(std::string(e.where().file_name()).find("future_test.cpp"), std::string::npos);
    }
  }
}

TEST(future, moves_with_its_result) {
  const auto shared = std::make_shared<state<int>>();
  topos::future<int> f(shared);
  topos::future<int> g(std::move(f));
  shared->set_value(5);
  EXPECT_FALSE(f.valid());
  EXPECT_EQ(g.get(), 5);
}

TEST(future, blocks_until_another_thread_is_done) {
  const auto shared = std::make_shared<state<int>>();
  topos::future<int> f(shared);
  std::thread maker([shared] { shared->set_value(9); });
  EXPECT_EQ(f.get(), 9);
  maker.join();
}

TEST(future, may_be_awaited_for_longer_than_a_clock_counts) {
  for (int round = 0; round < 20; ++round) {
    const auto shared = std::make_shared<state<int>>();
    topos::future<int> f(shared);
    EXPECT_FALSE(f.wait_for(std::chrono::hours::min()));
    std::thread maker([shared] { shared->set_value(9); });
    EXPECT_TRUE(f.wait_for(std::chrono::hours::max()));
    maker.join();
  }
}

TEST(future, turns_a_throwing_move_into_its_error) {
  const auto shared = std::make_shared<state<fragile>>();
  topos::future<fragile> f(shared);
  fragile value;
  value.broken = true;
  shared->set_value(std::move(value));
  EXPECT_THROW(static_cast<void>(f.get()), std::runtime_error);
}

}  // namespace future_test
