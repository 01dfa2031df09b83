// SPDX-License-Identifier: Apache-2.0

/// Variance, norms and scalar products against NumPy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/statistics.hpp>
#include <vector>

#include "../support/counted.hpp"
#include "../support/types.hpp"
#include "reduction_case.hpp"

namespace statistics_test {

using support::contains;
using support::on_each_device;
using support::reduction_case;
using support::refusal;
using support::values_of;
using support::vector_on;
using topos::ddof;
using topos::eval;
using topos::index_t;
using topos::keep_dims;
using topos::shape;
using topos::tensor;

template <class T, class X, class... Axes>
void check_axes(const reduction_case<T>& c, const X& x, std::size_t number, const Axes&... axes) {
  c.check(var(x, axes...), number, "var", 8);
  c.check(topos::std(x, axes..., ddof{1}), number, "std", 8);
  c.check(norm(x, axes...), number, "norm", 4);
  c.check(logsumexp(x, axes...), number, "logsumexp", 8);
}

template <class T>
class statistics_of : public testing::Test {};
using types = support::types<std::int32_t, topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(statistics_of, types);

TYPED_TEST(statistics_of, are_numpys) {
  on_each_device([](topos::device d) {
    const reduction_case<TypeParam> c;
    const tensor<TypeParam, 3> x = c.x(d);
    check_axes(c, x, 0);
    for (int axis = 0; axis < 3; ++axis) {
      check_axes(c, x, static_cast<std::size_t>(1 + axis), axis);
    }
  });
}

TEST(statistics, take_lists_of_axes) {
  on_each_device([](topos::device d) {
    const reduction_case<float> c;
    const tensor<float, 3> x = c.x(d);
    constexpr index_t pairs[3][2] = {{0, 1}, {-1, 0}, {1, 2}};
    for (std::size_t i = 0; i < 3; ++i) check_axes(c, x, 4 + i, pairs[i]);
  });
}

TEST(statistics, of_a_long_row_are_numpys) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x = vector_on(d, support::reductions_file<float>("long_x").values);
    const auto expected = support::reductions_file<double>("long_results").values;
    EXPECT_NEAR(var(x).item(), expected[10], 1e-6);
    EXPECT_NEAR(topos::std(x, ddof{1}).item(), expected[11], 1e-6);
    EXPECT_NEAR(norm(x).item(), expected[12], 1e-4);
    EXPECT_NEAR(eval(logsumexp(x)).item(), expected[13], 1e-5);
  });
}

TEST(statistics, do_not_cancel) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {1000001, 1000002, 1000003});
    EXPECT_FLOAT_EQ(var(x).item(), 2.0F / 3);
  });
}

TEST(statistics, do_not_cancel_where_pieces_are_joined) {
  on_each_device([](topos::device d) {
    // 0, 1 and 2 beside what takes most of a float's digits.
    const auto x = topos::arange<float>(300000, d);
    const tensor<float, 2> y = eval(fmod(x, 3.0F) + 1000000.0F).reshape(shape<2>{30000, 10});
    EXPECT_NEAR(var(y).item(), 2.0F / 3, 2e-6);
    for (const float each : values_of(eval(var(y, 0)))) EXPECT_NEAR(each, 2.0F / 3, 2e-6);
    for (const float each : values_of(eval(var(y.reshape(shape<2>{10, 30000}), 1))))
      EXPECT_NEAR(each, 2.0F / 3, 2e-6);
  });
}

TEST(statistics, are_infinite_where_squares_are) {
  static constexpr float inf = std::numeric_limits<float>::infinity();
  on_each_device([](topos::device d) {
    const auto x = eval(topos::arange<float>(40, d) * 1e35F).reshape(shape<2>{20, 2});
    EXPECT_EQ(var(x).item(), inf);
    EXPECT_EQ(values_of(eval(var(x, 0))), (std::vector<float>{inf, inf}));
    EXPECT_TRUE(std::isnan(var(vector_on<float>(d, {1, inf, 2})).item()));
  });
}

TEST(statistics, of_a_view_are_those_of_its_copy) {
  // The first rows of it and the last lie as if all did one after another.
  const tensor<float, 1> numbers = eval(sin(topos::arange<float>(40, topos::cpu())));
  const auto x = slice(numbers.reshape(shape<4>{2, 5, 2, 2}), {}, {2, {}, -2});
  const tensor<float, 1> of_view = var(x, {0, 1, 2});
  const tensor<float, 1> of_copy = var(x + 0, {0, 1, 2});
  ASSERT_EQ(x.shape(), (shape<4>{2, 2, 2, 2}));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_FLOAT_EQ(of_view.host()[i], of_copy.host()[i]) << i;
}

TEST(statistics, compute_what_they_reduce_once) {
  const tensor<float, 1> x = topos::arange<float>(60000, topos::cpu());
  const auto calls_of = [&](const auto& reduce, const auto& of) {
    support::calls = 0;
    const tensor result = eval(reduce(map(support::counted_square{}, of)));
    result.block_until_ready();
    return support::calls.load();
  };
  const auto spread = [](const auto& e) { return var(e); };
  const auto rows = [](const auto& e) { return topos::std(e, 1); };
  const auto columns = [](const auto& e) { return logsumexp(e, 0); };
  EXPECT_EQ(calls_of(spread, x), x.size());
  for (const index_t width : {3, 20, 30, 300, 6000}) {
    const auto y = x.reshape(shape<2>{x.size() / width, width});
    EXPECT_EQ(calls_of(rows, y), x.size()) << width;
    EXPECT_EQ(calls_of(columns, y), x.size()) << width;
  }
}

TEST(statistics, have_their_bits_beside_other_results) {
  const auto x = eval(sin(topos::arange<float>(100000, topos::cpu())));
  const auto [mean_of_x, var_of_x] = eval(mean(exp(x)), var(exp(x)));
  EXPECT_EQ(mean_of_x.item(), mean(exp(x)).item());
  EXPECT_EQ(var_of_x.item(), var(exp(x)).item());
}

TEST(statistics, keep_axes_where_asked) {
  const auto x = topos::ones<float, 3>({5, 7, 33});
  EXPECT_EQ(eval(var(x, 1, ddof{1}, keep_dims)).shape(), (shape<3>{5, 1, 33}));
  EXPECT_EQ(eval(var(x, {0, 1}, keep_dims)).shape(), (shape<3>{1, 1, 33}));
  EXPECT_EQ(eval(topos::std(x, keep_dims)).shape(), (shape<3>{1, 1, 1}));
  EXPECT_EQ(eval(norm(x, 2, keep_dims)).shape(), (shape<3>{5, 7, 1}));
  EXPECT_EQ(eval(logsumexp(x, 2, keep_dims)).shape(), (shape<3>{5, 7, 1}));
}

TEST(statistics, of_nothing_or_too_little_are_nan) {
  on_each_device([](topos::device d) {
    EXPECT_TRUE(std::isnan(var(topos::zeros<float, 1>({0}, d)).item()));
    EXPECT_TRUE(std::isnan(var(topos::zeros<float, 1>({1}, d), ddof{1}).item()));
    EXPECT_EQ(norm(topos::zeros<float, 1>({0}, d)).item(), 0);
    EXPECT_THROW(static_cast<void>(logsumexp(topos::zeros<float, 1>({0}, d))),
                 topos::invalid_argument);
  });
}

TEST(statistics, of_complex_numbers_are_real) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<Kokkos::complex<float>>(d, {{1, 2}, {3, -4}, {-1, 5}});
    EXPECT_FLOAT_EQ(var(x).item(), (1 + 4 + 25 + 4 + 16) / 3.0F);
    EXPECT_FLOAT_EQ(norm(x).item(), std::sqrt(56.0F));
  });
}

TEST(statistics, logsumexp_bears_infinities) {
  static constexpr float inf = std::numeric_limits<float>::infinity();
  on_each_device([](topos::device d) {
    EXPECT_EQ(eval(logsumexp(vector_on<float>(d, {1, inf, 2}))).item(), inf);
    EXPECT_EQ(eval(logsumexp(vector_on<float>(d, {-inf, -inf}))).item(), -inf);
    EXPECT_EQ(eval(logsumexp(vector_on<float>(d, {-inf, 5}))).item(), 5);
    EXPECT_FLOAT_EQ(eval(logsumexp(vector_on<float>(d, {1000, 1000}))).item(),
                    1000 + std::log(2.0F));
  });
}

TEST(statistics, logsumexp_bears_infinities_in_some_pieces) {
  static constexpr float inf = std::numeric_limits<float>::infinity();
  on_each_device([](topos::device d) {
    std::vector<float> values(20000, -inf);
    const auto of = [&] { return eval(logsumexp(vector_on(d, values))).item(); };
    EXPECT_EQ(of(), -inf);
    values[12345] = -1000;
    EXPECT_EQ(of(), -1000);
    values[123] = 3e38F;
    EXPECT_EQ(of(), 3e38F);
    values[19999] = inf;
    EXPECT_EQ(of(), inf);
    values[7000] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(of()));
  });
}

TEST(statistics, dot_multiplies_vectors) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {1, 2, 3});
    const auto y = vector_on<std::int32_t>(d, {4, 5, 6});
    EXPECT_EQ(dot(x, y).item(), 32);
    EXPECT_EQ(dot(y, y + 1).item(), 4 * 5 + 5 * 6 + 6 * 7);
    const auto ones = topos::ones<topos::bf16, 1>({3}, d);
    EXPECT_EQ(float(dot(ones, y * 0 + 257)), 3 * 256) << "257 is no bf16";
    const std::string message = refusal<topos::shape_mismatch>(
        [&] { static_cast<void>(dot(x, vector_on<float>(d, {1}))); });
    EXPECT_TRUE(contains(message, "3") && contains(message, "1")) << message;
  });
}

}  // namespace statistics_test
