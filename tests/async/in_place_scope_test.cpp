// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <vector>

#include "gate.hpp"

namespace in_place_scope_test {

constexpr topos::index_t large = 100'000;  // so many elements are queued without a scope

TEST(in_place_scope, computes_before_the_call_returns) {
  const auto x = topos::full<float, 1>({large}, 2.0f);

  const topos::in_place_scope scope;
  const topos::tensor<float, 1> y = x * x;

  EXPECT_EQ(y.memory().ticket(), 0u);  // nothing queued writes it
  EXPECT_EQ(y.host()[large - 1], 4.0f);
}

TEST(in_place_scope, runs_on_the_calling_thread) {
  const topos::buffer b(topos::cpu(), 16);
  std::thread::id ran;

  const topos::in_place_scope scope;
  topos::detail::queue_of(topos::cpu(), std::source_location::current())
      .submit({}, {b}, topos::detail::always_queued, [&ran](const auto& stream) {
        EXPECT_TRUE(stream.in_place());
        ran = std::this_thread::get_id();
      });

  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(in_place_scope, ends_and_nests) {
  const auto queued = [] {
    const topos::tensor<float, 1> y = topos::full<float, 1>({large}, 1.0f);
    return y.memory().ticket() != 0;
  };
  {
    const topos::in_place_scope outer;
    { const topos::in_place_scope inner; }
    EXPECT_FALSE(queued());
  }
  EXPECT_TRUE(queued());
}

TEST(in_place_scope, gives_the_bits_that_the_queue_gives) {
  const auto x = topos::full<float, 2>({301, 333}, 0.7f);
  const auto b = topos::full<float, 1>({333}, 0.3f);
  const auto compute = [&] {
    const topos::tensor<float, 2> y = sqrt(x) - log(abs(x * b));
    return std::vector<float>(y.host().begin(), y.host().end());
  };

  const auto queued = compute();
  const topos::in_place_scope scope;

  EXPECT_EQ(compute(), queued);
}

TEST(in_place_scope, overlaps_with_other_threads) {
  const auto x = topos::full<float, 1>({large}, 3.0f);
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (float& result : results) {
    threads.emplace_back([&x, &result] {
      const topos::in_place_scope scope;
      for (int i = 0; i < 10; ++i) result += topos::tensor<float, 1>(x + 1).host()[large / 2];
    });
  }
  for (std::thread& t : threads) t.join();

  EXPECT_EQ(results, std::vector<float>(4, 40.0f));
}

TEST(in_place_scope, poisons_what_fails) {
  const topos::buffer b(topos::cpu(), 16);

  const topos::in_place_scope scope;
  topos::detail::queue_of(topos::cpu(), std::source_location::current())
      .submit({}, {b}, 1, [](const auto&) { throw topos::out_of_range("no such element"); });

  EXPECT_THROW(topos::detail::block_until_ready(b), topos::out_of_range);
}

TEST(in_place_scope, waits_for_no_queue_to_compute_several_results) {
  const auto x = topos::full<float, 1>({1000}, 2.0f);
  x.block_until_ready();
  const support::gate held(topos::detail::queues::all().first(topos::cpu(), {}));

  const topos::in_place_scope scope;
  const auto [sum, product] = topos::eval(x + 1, x * 3);

  EXPECT_EQ(sum.host()[0], 3.0f);
  EXPECT_EQ(product.host()[999], 6.0f);
}

TEST(in_place_scope, waits_for_the_queue_that_reads_what_it_overwrites_alone) {
  auto x = topos::full<float, 1>({1000}, 2.0f);
  x.block_until_ready();
  const topos::queue reader(topos::cpu());
  const support::gate held(topos::detail::queues::all().first(topos::cpu(), {}));
  topos::tensor<float, 1> before;
  std::optional<support::gate> late;
  {
    const topos::queue_scope scope(reader);
    late.emplace(topos::detail::queue_of(topos::cpu(), {}));
    before = x * 3;
  }
  std::thread opens([&] { late->open(); });

  const topos::queue_scope scope(reader);
  const topos::in_place_scope here;
  x += 1;

  opens.join();
  EXPECT_EQ(x.host()[0], 3.0f);
  EXPECT_EQ(before.host()[0], 6.0f);
}

}  // namespace in_place_scope_test
