// SPDX-License-Identifier: Apache-2.0

/// Expressions know shape, type and device, own what they read, and run only when asked.

#include <gtest/gtest.h>

#include <optional>
#include <topos/expr/math.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

#include "../async/gate.hpp"
#include "../support/devices.hpp"

namespace expression_test {

using support::on_each_device;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::tensor;

using sum_node = decltype(tensor<float, 1>() + tensor<float, 2>());

static_assert(topos::expression<sum_node>);
static_assert(topos::expression<topos::detail::tensor_node<int, 3>>);
static_assert(topos::expression<topos::detail::constant_node<double>>);
static_assert(!topos::expression<tensor<float, 1>>);
static_assert(!topos::expression<float>);
static_assert(topos::operand<tensor<float, 1>>);
static_assert(topos::operand<sum_node>);
static_assert(!topos::operand<float>);
static_assert(!topos::operand<std::vector<float>>);
static_assert(sum_node::rank == 2);
static_assert(std::is_same_v<sum_node::value_type, float>);

TEST(expression, knows_shape_and_device) {
  on_each_device([](topos::device d) {
    const auto e = topos::zeros<float, 2>({4, 1}, d) * topos::zeros<float, 1>({3}, d) + 1.0f;

    EXPECT_EQ(e.shape(), (topos::shape<2>{4, 3}));
    EXPECT_EQ(e.device(), std::optional(d));
  });
}

TEST(expression, constant_has_no_device) {
  const topos::detail::constant_node<float> one{1.0f};

  EXPECT_EQ(one.device(), std::nullopt);
  EXPECT_EQ(one.shape(), topos::shape<0>{});
}

TEST(expression, owns_what_it_reads) {
  on_each_device([](topos::device d) {
    const auto make = [&] {
      const auto x = vector_on<float>(d, {1, 2, 3});
      const auto y = vector_on<float>(d, {10, 20, 30});
      return x * 2 + y;  // x and y end here
    };
    const auto e = make();
    const auto other = vector_on<float>(d, {0, 0, 0});  // would take their memory

    EXPECT_EQ(values_of(eval(e)), (std::vector<float>{12, 24, 36}));
    EXPECT_EQ(values_of(other), (std::vector<float>{0, 0, 0}));
  });
}

TEST(expression, reads_the_buffers_of_its_leaves) {
  const auto x = vector_on<float>(topos::cpu(), {1, 2});
  const auto y = vector_on<float>(topos::cpu(), {1, 2});
  std::vector<topos::buffer> reads;

  (sqrt(x) + y * 2).collect(reads);

  EXPECT_EQ(reads, (std::vector<topos::buffer>{x.memory(), y.memory()}));
}

TEST(expression, runs_only_when_asked_and_as_often) {
  const auto x = vector_on<float>(topos::cpu(), {1, 4, 9});
  const auto e = sqrt(x);
  const std::size_t before = topos::memory_stats(topos::cpu()).in_use;
  const auto twice = e + e;
  EXPECT_EQ(topos::memory_stats(topos::cpu()).in_use, before) << "nothing was computed";

  EXPECT_EQ(values_of(eval(twice)), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(values_of(eval(twice)), (std::vector<float>{2, 4, 6}));
}

TEST(expression, walks_as_one_row_where_every_leaf_is_whole) {
  const auto x = topos::zeros<float, 2>({4, 3});
  const auto row = topos::zeros<float, 1>({3});

  EXPECT_EQ(topos::detail::walk_of(x + x * 2).axes, 1);
  EXPECT_EQ(topos::detail::walk_of(x + x).columns(), 12);
  EXPECT_EQ(topos::detail::walk_of(x + x).rows(), 1);
  EXPECT_EQ(topos::detail::walk_of(x + row).axes, 2);
  EXPECT_EQ(topos::detail::walk_of(x + row).columns(), 3);
  EXPECT_EQ(topos::detail::walk_of(x + row).rows(), 4);
}

TEST(expression, is_fetched_ahead_along_its_rows) {
  const auto x = topos::zeros<float, 2>({100, 1000});
  const auto row = topos::zeros<float, 1>({1000});
  const auto ahead = [](const auto& of, const auto& walked) {
    auto w = topos::detail::walk_of(walked);
    w.ahead = 1024;
    return topos::detail::as_node(of).rows(w).elements.ahead;
  };
  const auto part = slice(x, topos::range{}, topos::range{0, 64});

  EXPECT_EQ(ahead(x, x + x), 1024);
  EXPECT_EQ(ahead(x, x + row), 1024) << "rows that follow each other";
  EXPECT_EQ(ahead(part, part), 16 * 1000) << "what rows of 64 elements take";
  EXPECT_EQ(ahead(row, x + row), 0) << "one row again and again";
}

TEST(expression, is_fetched_ahead_by_whole_rows_where_they_lie_apart) {
  using topos::detail::fetched_ahead;

  EXPECT_EQ(fetched_ahead(1024, 1000, 1000, 1000), 1024) << "rows that follow each other";
  EXPECT_EQ(fetched_ahead(1024, 10000, 10000, 20000), 1024) << "long rows";
  EXPECT_EQ(fetched_ahead(1024, 64, 64, 1000), 16 * 1000) << "what 16 rows of 64 elements take";
  EXPECT_EQ(fetched_ahead(1024, 64, 64, 0), 0) << "one row again and again";
  EXPECT_EQ(fetched_ahead(0, 64, 64, 1000), 0);
}

TEST(expression, of_empty_shape_has_no_elements_to_walk) {
  const auto w =
      topos::detail::walk_of(topos::zeros<float, 2>({0, 3}) + topos::zeros<float, 1>({3}));

  EXPECT_EQ(w.rows() * w.columns(), 0);
}

TEST(expression, reads_work_that_is_still_queued) {
  auto& queue = topos::detail::queue_of(topos::cpu(), std::source_location::current());
  std::optional<tensor<float, 1>> y;
  {
    const support::gate held(queue);
    const auto x = topos::full<float, 1>({33}, 3);
    EXPECT_FALSE(x.is_ready());
    y = x * x + 1;
    EXPECT_FALSE(y->is_ready());
  }
  EXPECT_EQ(values_of(*y), std::vector<float>(33, 10));
}

}  // namespace expression_test
