// SPDX-License-Identifier: Apache-2.0

/// A callback is called once, when its tensor is computed or has failed, and harms nothing.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <future>
#include <source_location>
#include <stdexcept>
#include <thread>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue_scope.hpp>
#include <topos/tensor/on_ready.hpp>
#include <vector>

#include "../async/gate.hpp"
#include "../support/death_test.hpp"
#include "../support/devices.hpp"

namespace on_ready_test {

using support::on_each_device;
using support::values_of;
using topos::on_ready;
using topos::tensor;

constexpr topos::index_t large = 100'000;  // so many elements are queued

topos::detail::work_queue& first(topos::device d) {
  return topos::detail::queue_of(d, std::source_location::current());
}

TEST(on_ready, of_a_ready_tensor_is_called_at_once) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({3}, d).block_until_ready();
    topos::block_until_ready(d);
    int calls = 0;
    std::thread::id ran;

    on_ready(x, [&](const std::exception_ptr& failure) {
      EXPECT_EQ(failure, nullptr);
      ran = std::this_thread::get_id();
      ++calls;
    });

    EXPECT_EQ(calls, 1);
    EXPECT_EQ(ran, std::this_thread::get_id());
  });
}

TEST(on_ready, is_called_once_it_is_computed) {
  std::promise<bool> called;
  {
    const support::gate held(first(topos::cpu()));
    const tensor<float, 1> x = topos::ones<float, 1>({large}) + 1.0f;
    on_ready(x, [&called, x](const std::exception_ptr& failure) {
      called.set_value(failure == nullptr && x.is_ready() && x.data()[large - 1] == 2.0f);
    });
    EXPECT_FALSE(x.is_ready());
  }
  EXPECT_TRUE(called.get_future().get());
}

TEST(on_ready, does_not_wait_for_work_behind) {
  auto& q = first(topos::cpu());
  std::promise<void> called;
  support::gate held(q);
  const tensor<float, 1> x = topos::ones<float, 1>({large}) + 1.0f;
  q.submit({}, {}, topos::detail::always_queued,
           [heard = called.get_future().share()](const auto&) { heard.wait(); });

  on_ready(x, [&](const std::exception_ptr&) { called.set_value(); });
  held.open();
  q.drain();  // which hangs if the callback comes last

  EXPECT_TRUE(x.is_ready());
}

TEST(on_ready, is_told_of_a_failure_with_its_type) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x({large}, d);
    first(d).submit(
        {}, {x.memory()}, topos::detail::always_queued,
        [](const auto&) { throw std::domain_error("gone"); }, "test");
    std::promise<std::exception_ptr> told;

    on_ready(tensor<float, 1>(x + 1.0f),
             [&](const std::exception_ptr& failure) { told.set_value(failure); });

    EXPECT_THROW(std::rethrow_exception(told.get_future().get()), std::domain_error);
  });
}

TEST(on_ready, callback_that_throws_harms_nothing) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x = topos::ones<float, 1>({large}, d) + 1.0f;
    on_ready(x, [](const std::exception_ptr&) { throw 7; });
    const tensor<float, 1> y = x + 1.0f;
    EXPECT_EQ(values_of(y), std::vector<float>(large, 3.0f));
    on_ready(x, [](const std::exception_ptr&) { throw 7; });
  });
}

TEST(on_ready, callbacks_may_enqueue_work_and_follow_it) {
  on_each_device([](topos::device d) {
    std::promise<tensor<float, 1>> done;
    const tensor<float, 1> x = topos::ones<float, 1>({large}, d) + 1.0f;

    on_ready(x, [&done, x](const std::exception_ptr&) {
      const tensor<float, 1> y = x * 2.0f;
      on_ready(y, [&done, y](const std::exception_ptr&) { done.set_value(y); });
    });

    EXPECT_EQ(values_of(done.get_future().get()), std::vector<float>(large, 4.0f));
  });
}

TEST(on_ready, of_another_queue_is_called_by_that) {
  std::promise<std::thread::id> ran;
  const support::gate held(first(topos::cpu()));
  const topos::queue q(topos::cpu());
  std::thread::id worker;
  tensor<float, 1> x({large});
  {
    const topos::queue_scope scope(q);
    first(topos::cpu()).submit({}, {x.memory()}, topos::detail::always_queued, [&](const auto&) {
      worker = std::this_thread::get_id();
    });
  }

  on_ready(x, [&](const std::exception_ptr&) { ran.set_value(std::this_thread::get_id()); });
  const std::thread::id thread = ran.get_future().get();

  EXPECT_TRUE(thread == worker || thread == std::this_thread::get_id());
}

TEST(on_ready, in_place_work_is_ready) {
  const topos::in_place_scope scope;
  const tensor<float, 1> x = topos::ones<float, 1>({large}) + 1.0f;
  int calls = 0;
  on_ready(x, [&](const std::exception_ptr&) { ++calls; });
  EXPECT_EQ(calls, 1);
}

// Runs in processes of their own, since Kokkos ends once.
int end_while_a_callback_runs() {
  static tensor<float, 1> x = topos::zeros<float, 1>({large});
  static std::atomic<bool> computed{false};
  for (int i = 0; i != 5; ++i) x = x + 1.0f;
  on_ready(x, [](const std::exception_ptr&) {
    for (int i = 0; i != 10'000; ++i) std::this_thread::yield();  // so that the end comes first
    const tensor<float, 1> y = x + 1.0f;
    if (x.host()[0] == 5.0f) on_ready(y, [](const std::exception_ptr&) { computed = true; });
  });
  Kokkos::finalize();
  return computed ? 0 : 1;
}

void count_up(const tensor<float, 1>& x) {
  const tensor<float, 1> y = x + 1.0f;
  on_ready(y, [y](const std::exception_ptr&) { count_up(y); });
}

int end_where_callbacks_go_on_for_ever() {
  count_up(topos::zeros<float, 1>({large}));
  Kokkos::finalize();
  return 0;
}

using on_ready_death = support::death_test;

TEST_F(on_ready_death, end_of_the_runtime_waits_for_callbacks_and_what_they_enqueue) {
  EXPECT_EXIT(std::_Exit(end_while_a_callback_runs()), testing::ExitedWithCode(0), "");
}

TEST_F(on_ready_death, end_of_the_runtime_ends_callbacks_that_enqueue_each_other) {
  EXPECT_EXIT(std::_Exit(end_where_callbacks_go_on_for_ever()), testing::ExitedWithCode(0), "");
}

}  // namespace on_ready_test
