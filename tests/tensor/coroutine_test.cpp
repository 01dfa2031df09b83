// SPDX-License-Identifier: Apache-2.0

/// Coroutines go on when what they wait for is computed, and catch what it failed with.

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <source_location>
#include <stdexcept>
#include <topos/tensor/coroutine.hpp>
#include <topos/tensor/placement.hpp>
#include <utility>
#include <vector>

#include "../async/gate.hpp"
#include "../support/devices.hpp"

namespace coroutine_test {

using support::on_each_device;
using topos::tensor;

constexpr topos::index_t large = 100'000;  // so many elements are queued

// A coroutine that starts at once and whose result is a future's.
template <class T>
struct task {
  struct promise_type {
    std::promise<T> result;
    task get_return_object() { return {result.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(T value) { result.set_value(std::move(value)); }
    void unhandled_exception() { result.set_exception(std::current_exception()); }
  };
  std::future<T> result;
};

task<float> chain(tensor<float, 1> x) {
  const tensor<float, 1> y = co_await tensor<float, 1>(x + 1.0f);
  const tensor<float, 1> z = co_await tensor<float, 1>(y * 2.0f);
  const tensor<float, 1> here = co_await topos::device_put(z, topos::cpu());
  co_return here.host()[large - 1];
}

task<int> recover(tensor<float, 1> x) {
  try {
    co_await x;
  } catch (const std::domain_error&) {
    co_return 1;
  }
  co_return 0;
}

TEST(coroutine, goes_on_with_what_it_waited_for) {
  on_each_device([](topos::device d) {
    task<float> running = chain(topos::ones<float, 1>({large}, d));
    EXPECT_EQ(running.result.get(), 4.0f);
  });
}

TEST(coroutine, gives_control_back_while_it_waits) {
  std::future<float> result;
  {
    const support::gate held(
        topos::detail::queue_of(topos::cpu(), std::source_location::current()));
    result = chain(topos::ones<float, 1>({large})).result;
    EXPECT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  }
  EXPECT_EQ(result.get(), 4.0f);
}

TEST(coroutine, does_not_suspend_where_all_is_ready) {
  const auto x = topos::ones<float, 1>({3}).block_until_ready();
  EXPECT_EQ(recover(x).result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
}

TEST(coroutine, catches_what_failed) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x({large}, d);
    topos::detail::queue_of(d, std::source_location::current())
        .submit({}, {x.memory()}, topos::detail::always_queued,
                [](const auto&) { throw std::domain_error("gone"); });
    EXPECT_EQ(recover(x).result.get(), 1);
  });
}

TEST(coroutine, many_wait_at_once) {
  std::vector<std::future<float>> results;
  for (int i = 0; i < 200; ++i) {
    results.push_back(chain(topos::full<float, 1>({large}, static_cast<float>(i))).result);
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2.0f * static_cast<float>(i + 1));
  }
}

}  // namespace coroutine_test
