// SPDX-License-Identifier: Apache-2.0

/// Functions of two numbers, powers of every kind, and what integers make of functions.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>
#include <type_traits>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace math_test {

using support::expect_close;
using support::expect_same;
using support::named;
using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::pow;

template <class T>
class math : public testing::Test {};
using types = support::types<topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(math, types);

TYPED_TEST(math, functions_of_two_are_numpys) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("binary_functions"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, rows[0]);
    const auto b = vector_on(d, rows[1]);
    std::size_t row = 2;
    const auto exact = [&](const char* name, const auto& e) {
      expect_same<T>(name, values_of(eval(e)), rows.at(row++), false);
    };
    const auto near = [&](const char* name, const auto& e, double absolute = 0) {
      expect_close<T>(name, rows[0], values_of(eval(e)), rows.at(row++), 4, absolute);
    };
    exact("fmin", fmin(a, b));
    exact("fmax", fmax(a, b));
    exact("fmod", fmod(a, b));
    exact("fdim", fdim(a, b));
    near("atan2", atan2(a, b));
    near("hypot", hypot(a, b));
    exact("copysign", copysign(a, b));
    near("logaddexp", logaddexp(a, b), 4 * std::ldexp(1.0, -support::fraction_bits<T>));
    near("pow", pow(a, b));
    EXPECT_EQ(row, rows.size());
  });
}

TYPED_TEST(math, powers_by_a_scalar_are_numpys) {
  using T = TypeParam;
  // In the order of scripts/reference/expr.py.
  const std::vector<double> exponents{0, 1, 2, 3, 0.5, -1, -2, 5, 10, -0.5, 1.5, -3.25, 64, 65};
  const auto rows = rows_of<T>(named<T>("powers"));
  ASSERT_EQ(rows.size(), exponents.size() + 1);
  on_each_device([&](topos::device d) {
    const auto x = vector_on(d, rows[0]);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      const double p = exponents[i];
      // Each product rounds by half a unit, and squares carry what came before.
      const double units = p == std::floor(p) ? 1 + std::abs(p) : 4;
      const std::string name = "to the power of " + std::to_string(p);
      expect_close<T>(name, rows[0], values_of(eval(pow(x, p))), rows[i + 1], units);
    }
  });
}

TYPED_TEST(math, powers_of_a_scalar_are_powers_of_full_arrays) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("powers"));
  on_each_device([&](topos::device d) {
    const auto x = vector_on(d, rows[0]);
    const auto two = topos::full<T, 1>({1}, T(2.5f), d);
    expect_same<T>("2.5 to x", values_of(eval(pow(2.5, x))), values_of(eval(pow(two, x))));
  });
}

TEST(pow, by_small_whole_powers_and_one_half_costs_products_and_roots) {
  const auto x = vector_on<double>(topos::cpu(), {1.1, 3.7, 0.3});
  EXPECT_EQ(values_of(eval(pow(x, 2))), values_of(eval(x * x)));
  EXPECT_EQ(values_of(eval(pow(x, 3))), values_of(eval(x * x * x)));
  EXPECT_EQ(values_of(eval(pow(x, 0.5))), values_of(eval(sqrt(x))));
  EXPECT_EQ(values_of(eval(pow(x, -1))), values_of(eval(1 / x)));
}

TEST(pow, of_integers_to_integers_stays_integer) {
  on_each_device([](topos::device d) {
    const auto n = vector_on<int>(d, {2, -3, 0, 10, 46341});
    static_assert(std::is_same_v<decltype(pow(n, 2))::value_type, int>);
    static_assert(std::is_same_v<decltype(pow(n, 0.5))::value_type, float>);
    EXPECT_EQ(values_of(eval(pow(n, 3))), (std::vector<int>{8, -27, 0, 1000, -1932785795}));
    EXPECT_EQ(values_of(eval(pow(n, 0))), (std::vector<int>{1, 1, 1, 1, 1}));
    EXPECT_EQ(values_of(eval(pow(2, n)))[3], 1024);
  });
}

// 1.01 is 1.0078125 in bfloat16, which scalars become as in any operation.
TEST(pow, of_halves_takes_a_scalar_as_they_are) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<topos::bf16>(d, {topos::bf16(1e30f), topos::bf16(3.0f)});
    const auto by = vector_on<topos::bf16>(d, {topos::bf16(1.01f), topos::bf16(1.01f)});
    expect_same<topos::bf16>("pow", values_of(eval(pow(x, 1.01))), values_of(eval(pow(x, by))));
  });
}

TEST(math_of_integers, is_float) {
  on_each_device([](topos::device d) {
    const auto n = vector_on<std::int64_t>(d, {1, 4, 9});
    const auto truths = eval(n > 3);
    static_assert(std::is_same_v<decltype(sqrt(n))::value_type, float>);
    EXPECT_EQ(values_of(eval(sqrt(n))), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(values_of(eval(hypot(n - 1, 4))), (std::vector<float>{4, 5, std::hypot(8.0f, 4.0f)}));
    EXPECT_EQ(values_of(eval(exp(truths)))[0], 1);
    EXPECT_EQ(values_of(eval(degrees(n * 0)))[2], 0);
  });
}

TEST(math_of_integers, rounds_nothing) {
  on_each_device([](topos::device d) {
    const std::int64_t large = (std::int64_t{1} << 62) + 1;
    const auto n = vector_on<std::int64_t>(d, {large, -large});
    for (const auto& same : {eval(floor(n)), eval(ceil(n)), eval(trunc(n)), eval(rint(n))})
      EXPECT_EQ(values_of(same), (std::vector<std::int64_t>{large, -large}));
  });
}

TEST(math_of_integers, of_which_the_values_are_integers_stays_integer) {
  on_each_device([](topos::device d) {
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    const auto a = vector_on<std::int32_t>(d, {16777217, -7, 7, least, 5});
    const auto b = vector_on<std::int32_t>(d, {16777216, 3, -3, -1, 0});
    static_assert(std::is_same_v<decltype(fmax(a, 2))::value_type, std::int32_t>);
    static_assert(std::is_same_v<decltype(fmod(a, 2.5))::value_type, float>);
    EXPECT_EQ(values_of(eval(fmax(a, b))), (std::vector<std::int32_t>{16777217, 3, 7, -1, 5}));
    EXPECT_EQ(values_of(eval(fmin(a, b))), (std::vector<std::int32_t>{16777216, -7, -3, least, 0}));
    EXPECT_EQ(values_of(eval(fmod(a, b))), (std::vector<std::int32_t>{1, -1, 1, 0, 0}));
    const auto n = vector_on<std::uint8_t>(d, {255, 7});
    EXPECT_EQ(values_of(eval(fmod(n, 200))), (std::vector<std::uint8_t>{55, 7}));
  });
}

TEST(math_of_integers, fma_wraps_around_as_products_and_sums_do) {
  on_each_device([](topos::device d) {
    const std::int64_t large = (std::int64_t{1} << 53) + 1;
    const auto n = vector_on<std::int64_t>(d, {large, -large});
    EXPECT_EQ(values_of(eval(fma(n, 3, n))), (std::vector<std::int64_t>{4 * large, -4 * large}));
    const auto m = vector_on<std::int32_t>(d, {2147483647});
    EXPECT_EQ(values_of(eval(fma(m, 2, 3))), (std::vector<std::int32_t>{1}));
  });
}

TEST(relu, takes_what_is_negative_for_zero) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {-1, 0, 2, -INFINITY, INFINITY});
    EXPECT_EQ(values_of(eval(relu(x))), (std::vector<float>{0, 0, 2, 0, INFINITY}));
    EXPECT_EQ(values_of(eval(relu(vector_on<std::int8_t>(d, {-128, 127})))),
              (std::vector<std::int8_t>{0, 127}));
  });
}

}  // namespace math_test
