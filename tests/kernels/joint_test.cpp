// SPDX-License-Identifier: Apache-2.0

/// Reductions that are asked for together have the bits that each has alone.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/counted.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace joint_test {

using support::on_each_device;
using support::same_bits;
using support::values_of;
using topos::index_t;
using topos::tensor;

template <class T>
class joint : public testing::Test {};
using reduced_types = support::types<std::int16_t, float>;
TYPED_TEST_SUITE(joint, reduced_types);

TYPED_TEST(joint, results_are_those_of_each_alone) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 15, 17, 4095, 4097, 40001}) {
      const auto x = support::vector_on(d, support::varied<T>(n));
      const auto y = x * x + x;

      const auto [low, high, total] = topos::eval(min(y), max(y), sum(x));
      const auto [least, product] = topos::eval(min(x), prod(x));

      EXPECT_TRUE(same_bits(values_of(low), values_of(eval(min(y))))) << n;
      EXPECT_TRUE(same_bits(values_of(high), values_of(eval(max(y))))) << n;
      EXPECT_TRUE(same_bits(values_of(total), values_of(eval(sum(x))))) << n;
      EXPECT_TRUE(same_bits(values_of(least), values_of(eval(min(x))))) << n;
      EXPECT_TRUE(same_bits(values_of(product), values_of(eval(prod(x))))) << n;
    }
  });
}

TYPED_TEST(joint, truths_are_those_of_each_alone) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 15, 17, 40001}) {
      const auto x = support::vector_on(d, support::varied<T>(n));

      const auto [some, every] = topos::eval(any(x), all(x));
      const auto [least, most] = topos::eval(min(x > 0), max(x > 0));

      EXPECT_EQ(some.item(), eval(any(x)).item()) << n;
      EXPECT_EQ(every.item(), eval(all(x)).item()) << n;
      EXPECT_EQ(least.item(), eval(min(x > 0)).item()) << n;
      EXPECT_EQ(most.item(), eval(max(x > 0)).item()) << n;
    }
  });
}

TYPED_TEST(joint, results_along_rows_and_columns_are_those_of_each_alone) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t columns : {3, 100, 5000}) {
      const auto x = support::tensor_on<2>(d, {7, columns}, support::varied<T>(7 * columns));
      for (const index_t axis : {0, 1}) {
        const auto [low, mean_of] = topos::eval(min(x, axis), mean(x, axis));

        EXPECT_TRUE(same_bits(values_of(low), values_of(eval(min(x, axis)))));
        EXPECT_TRUE(same_bits(values_of(mean_of), values_of(eval(mean(x, axis)))));
      }
    }
  });
}

TEST(joint, a_nan_is_seen_by_all) {
  std::vector<float> values = support::varied(5000);
  values[3456] = std::numeric_limits<float>::quiet_NaN();
  const auto x = support::vector_on(topos::cpu(), values);

  const auto [low, high] = topos::eval(min(x), max(x));

  EXPECT_TRUE(std::isnan(low.item()));
  EXPECT_TRUE(std::isnan(high.item()));
}

// Like constants that are no equal ones.
TEST(joint, results_of_expressions_that_differ_are_apart) {
  const auto x = topos::full<float, 1>({5000}, -0.0F);
  const auto y = topos::full<float, 1>({5000}, 1.0F);

  const auto [plus, minus] = topos::eval(min(x + 0.0F), max(x + -0.0F));
  const auto [of_x, of_y] = topos::eval(max(x), max(y));
  const auto [front, back] =
      topos::eval(sum(x.reshape<2>({50, 100}), 0), sum(y.reshape<2>({50, 100}), 0));

  EXPECT_FALSE(std::signbit(plus.item()));
  EXPECT_TRUE(std::signbit(minus.item()));
  EXPECT_EQ(of_x.item(), 0.0F);
  EXPECT_EQ(of_y.item(), 1.0F);
  EXPECT_EQ(front.item({7}), 0.0F);
  EXPECT_EQ(back.item({7}), 50.0F);
}

// g++ fuses a product and the sum that it goes into, where it goes into nothing else.
struct product {
  float operator()(float a, float b) const { return a * b; }
  template <class B>
  auto lanes(const B& a, const B& b) const {
    return a * b;
  }
};

TEST(joint, sums_of_a_users_product_are_those_of_it_alone) {
  const auto x = support::vector_on(topos::cpu(), support::varied(40001)) / 3;
  const auto y = map(product{}, x, x + 1);

  const auto [total, high] = topos::eval(sum(y), max(y));

  EXPECT_EQ(total.item(), eval(sum(y)).item());
  EXPECT_EQ(total.item(), eval(sum(eval(y))).item());
  EXPECT_EQ(high.item(), eval(max(y)).item());
}

TEST(joint, what_is_reduced_is_computed_once) {
  const auto x = topos::ones<float, 1>({4096});
  const auto y = map(support::counted_square{}, x);
  support::calls = 0;

  const auto [low, high] = topos::eval(min(y), sum(y));

  EXPECT_EQ(low.item(), 1.0F);
  EXPECT_EQ(high.item(), 4096.0F);
  EXPECT_EQ(support::calls, 4096);
}

}  // namespace joint_test
