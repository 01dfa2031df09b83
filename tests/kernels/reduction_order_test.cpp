// SPDX-License-Identifier: Apache-2.0

/// Reductions over axes between which others are kept: when they take two steps, and that these
/// give what a plain loop gives.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/kernels/reduction_order.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/statistics.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace reduction_order_test {

using support::on_each_device;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::keep_dims;
using topos::shape;
using topos::tensor;
using topos::detail::axis_set;

template <std::size_t Rank, class X>
topos::detail::reduction_order<Rank> order_of(const X& x, const axis_set<Rank>& set) {
  return {topos::detail::as_node(x), set};
}

// Whole numbers, of which few enough add up exactly in float.
template <class T, std::size_t Rank>
tensor<T, Rank> whole_numbers(topos::device d, const shape<Rank>& extents) {
  std::vector<T> values;
  for (const std::int32_t v : support::varied<std::int32_t>(topos::size_of_shape(extents))) {
    values.push_back(static_cast<T>(static_cast<float>(v % 7 - 2)));
  }
  return tensor_on<Rank>(d, extents, values);
}

// One element of many, for each index of the kept axes in row-major order.
template <std::size_t Rank, class T, class Result, class Op>
std::vector<Result> looped(const std::vector<T>& x, const shape<Rank>& extents,
                           const axis_set<Rank>& set, Result start, const Op& op) {
  index_t kept = 1;
  for (std::size_t axis = 0; axis != Rank; ++axis) kept *= set[axis] ? 1 : extents[axis];
  std::vector<Result> results(static_cast<std::size_t>(kept), start);
  for (std::size_t i = 0; i != x.size(); ++i) {
    auto rest = static_cast<index_t>(i);
    index_t to = 0;
    index_t stride = 1;
    for (std::size_t axis = Rank; axis-- > 0; rest /= extents[axis]) {
      if (set[axis]) continue;
      to += rest % extents[axis] * stride;
      stride *= extents[axis];
    }
    Result& result = results[static_cast<std::size_t>(to)];
    result = op(result, x[i]);
  }
  return results;
}

template <class To, class From>
std::vector<To> as(const std::vector<From>& values) {
  std::vector<To> result;
  for (const From v : values) result.push_back(static_cast<To>(v));
  return result;
}

// Sums and extrema over `axes`, of two steps or of one, beside those of a loop.
template <std::size_t Rank, std::size_t N, class X>
void check(const X& x, const index_t (&axes)[N], bool two_steps) {
  using T = topos::detail::value_of_t<X>;
  using total = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  axis_set<Rank> set{};
  for (const index_t axis : axes) set[static_cast<std::size_t>(axis)] = true;
  const tensor<T, Rank> stored = x;
  const shape<Rank> extents = stored.shape();
  SCOPED_TRACE(topos::to_string(extents));
  const std::vector<double> values = as<double>(as<float>(values_of(stored)));

  EXPECT_EQ(order_of<Rank>(x, set).has_second_step(), two_steps);
  const auto sums = looped(values, extents, set, 0.0, [](double a, double b) { return a + b; });
  EXPECT_EQ(values_of(eval(sum(x, axes))), as<total>(as<float>(sums)));
  EXPECT_EQ(values_of(eval(sum(x, axes, keep_dims))), as<total>(as<float>(sums)));
  const auto most =
      looped(values, extents, set, -1e9, [](double a, double b) { return std::max(a, b); });
  EXPECT_EQ(values_of(eval(max(x, axes))), as<T>(as<float>(most)));
}

TEST(reduction_order, fetches_the_rows_that_come_next_down_the_columns) {
  const auto x = topos::zeros<float, 3>({100, 50, 1000});
  const auto part = slice(x, topos::range{}, topos::range{}, topos::range{0, 200});
  const axis_set<3> set{true, false, false};
  const auto order = order_of<3>(part, set);
  const shape<3> extents = part.shape();
  const auto v = topos::detail::as_node(part).viewed(extents, order.axes);
  auto w = topos::detail::reduction_walk(
      v, order.axes(topos::detail::reduced_layout<3>(extents, set)), order.by_rows);
  w.ahead = 1024;

  EXPECT_FALSE(order.by_rows);
  EXPECT_EQ(v.rows(w).elements.ahead, 6 * 50 * 1000) << "what 6 rows of 200 elements take";
}

TEST(reduction_order, takes_two_steps_where_short_segments_would_lie_apart) {
  constexpr axis_set<3> ends{true, false, true};
  const auto of = [&](const shape<3>& extents) {
    return order_of<3>(topos::zeros<float, 3>(extents), ends);
  };

  const auto order = of({100, 7, 5});
  EXPECT_TRUE(order.has_second_step());
  EXPECT_FALSE(order.by_rows);
  EXPECT_EQ(order.outer, 1);
  EXPECT_EQ(order.reduced, 100);
  EXPECT_EQ(order.inner, 35);
  EXPECT_EQ(order.rest, 5);
  EXPECT_EQ(order.first, (axis_set<3>{true, false, false}));

  EXPECT_TRUE(of({2, 7, 64}).has_second_step());
  EXPECT_FALSE(of({2, 7, 65}).has_second_step()) << "little is gained by it, and written again";
  EXPECT_FALSE(of({1, 7, 5}).has_second_step());
  EXPECT_FALSE(of({100, 1, 5}).has_second_step());
  EXPECT_FALSE(of({100, 7, 1}).has_second_step());
  EXPECT_FALSE(of({0, 7, 5}).has_second_step());
  EXPECT_FALSE(of({100, 7, 0}).has_second_step());

  // Rows that do not join are short to the first step too: it has to leave less.
  const auto with_column = [&](index_t leading) {
    const auto column = topos::zeros<float, 2>({7, 1});
    return order_of<3>(topos::zeros<float, 3>({leading, 7, 5}) + column, ends);
  };
  EXPECT_FALSE(with_column(15).has_second_step());
  EXPECT_TRUE(with_column(16).has_second_step());
}

TEST(reduction_order, takes_one_step_where_the_reduced_axes_are_together) {
  const auto x = topos::zeros<float, 3>({50, 60, 7});
  EXPECT_FALSE(order_of<3>(x, {true, true, true}).has_second_step());
  EXPECT_FALSE(order_of<3>(x, {true, true, false}).has_second_step());
  EXPECT_FALSE(order_of<3>(x, {false, true, true}).has_second_step());
  EXPECT_FALSE(order_of<3>(x, {false, false, true}).has_second_step());
  // In memory the kept axis comes first here, or the last two come together.
  const axis_set<3> ends{true, false, true};
  EXPECT_FALSE(order_of<3>(permute(x, {1, 0, 2}), ends).has_second_step());
  EXPECT_FALSE(order_of<3>(permute(x, {2, 0, 1}), ends).has_second_step());
  EXPECT_TRUE(order_of<3>(transpose(x), ends).has_second_step());
}

template <class T>
class two_steps : public testing::Test {};
using types = support::types<std::int32_t, topos::f16, float>;
TYPED_TEST_SUITE(two_steps, types);

TYPED_TEST(two_steps, give_what_a_loop_gives) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    // Short and long rows in each step, one piece and several.
    const shape<3> shapes[] = {{2, 3, 2},     {5, 700, 3},    {100, 37, 10}, {129, 11, 100},
                               {300, 3, 129}, {1000, 2, 700}, {160, 2, 5000}};
    for (const shape<3>& extents : shapes) {
      const tensor<T, 3> x = whole_numbers<T>(d, extents);
      check<3>(x, {0, 2}, true);
    }
    check<3>(whole_numbers<T, 3>(d, {2, 3, 100}), {0, 2}, false);
  });
}

TYPED_TEST(two_steps, take_any_axes_of_several) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const tensor<T, 4> x = whole_numbers<T, 4>(d, {9, 5, 11, 13});
    check<4>(x, {0, 2}, false);
    check<4>(x, {0, 3}, true);
    check<4>(x, {1, 3}, true);
    check<4>(x, {0, 1, 3}, true);
    check<4>(x, {0, 2, 3}, true);
    check<4>(whole_numbers<T, 4>(d, {9, 5, 1, 13}), {0, 2, 3}, true);
    check<4>(whole_numbers<T, 4>(d, {1, 7, 5, 13}), {1, 3}, true);
    check<4>(x, {1, 2, 3}, false);
  });
}

TEST(two_step_reduction, bears_any_layout) {
  on_each_device([](topos::device d) {
    const auto x = whole_numbers<float>(d, shape<3>{140, 6, 20});
    const auto row = whole_numbers<float>(d, shape<1>{20});
    const auto column = whole_numbers<float>(d, shape<2>{6, 1});
    const auto other = whole_numbers<float>(d, shape<3>{20, 6, 140});
    check<3>(transpose(x), {0, 2}, true);
    check<3>(permute(x, {1, 2, 0}), {1, 2}, true);
    check<3>(flip(x), {0, 2}, true);
    check<3>(flip(transpose(x), 0), {0, 2}, true);
    check<3>(x + row, {0, 2}, true);
    check<3>(x * column, {0, 2}, true);
    check<3>(x + transpose(other), {0, 2}, true);
    check<3>(topos::broadcast_to<3>(column, {140, 6, 20}), {0, 2}, false);
    check<3>(slice(x, topos::range{1, 139, 2}, topos::range{0, 6}, topos::range{3, 17}), {0, 2},
             true);
  });
}

TEST(two_step_reduction, has_every_function) {
  on_each_device([](topos::device d) {
    const shape<3> extents{150, 9, 21};
    const axis_set<3> set{true, false, true};
    const auto x = whole_numbers<float>(d, extents);
    const std::vector<float> values = values_of(x);
    const double count = 150 * 21;
    ASSERT_TRUE(order_of<3>(x, set).has_second_step());
    const auto sums = looped(values, extents, set, 0.0, [](double a, float b) { return a + b; });
    const auto squares =
        looped(values, extents, set, 0.0, [](double a, float b) { return a + double{b} * b; });

    const auto means = values_of(eval(mean(x, {0, 2}, keep_dims)));
    const auto norms = values_of(eval(norm(x, {0, 2})));
    const auto spreads = values_of(eval(topos::var(x, {0, 2})));
    ASSERT_EQ(means.size(), 9U);
    for (std::size_t i = 0; i != 9; ++i) {
      EXPECT_FLOAT_EQ(means[i], static_cast<float>(sums[i] / count));
      EXPECT_FLOAT_EQ(norms[i], static_cast<float>(std::sqrt(squares[i])));
      const double m = sums[i] / count;
      EXPECT_NEAR(spreads[i], squares[i] / count - m * m, 1e-5);
    }
    EXPECT_EQ(values_of(eval(min(x, {0, 2}))),
              looped(values, extents, set, 1e9F, [](float a, float b) { return std::min(a, b); }));
    EXPECT_EQ(values_of(eval(count_nonzero(x, {0, 2}))),
              looped(values, extents, set, std::int64_t{0},
                     [](std::int64_t a, float b) { return a + (b != 0 ? 1 : 0); }));
    const tensor<float, 3> signs = where(x > 0, 1.0F, -1.0F);
    EXPECT_EQ(values_of(eval(prod(signs, {0, 2}))),
              looped(values_of(signs), extents, set, 1.0F, [](float a, float b) { return a * b; }));
    // One element of the fourth column, and all of it.
    const tensor<float, 3> numbers =
        topos::reshape(topos::arange<float>(0, 150 * 9 * 21, 1, d), extents);
    const std::vector<bool> one_of_nine{false, false, false, true, false,
                                        false, false, false, false};
    EXPECT_EQ(as<bool>(values_of(eval(any(numbers == 9.0F * 21 * 149 + 3 * 21 + 20, {0, 2})))),
              one_of_nine);
    const auto column = topos::reshape(topos::arange<float>(0, 9, 1, d), shape<2>{9, 1});
    const tensor<bool, 3> fourth = topos::broadcast_to(column == 3.0F, extents);
    EXPECT_EQ(as<bool>(values_of(eval(all(fourth, {0, 2})))), one_of_nine);
  });
}

TEST(two_step_reduction, rounds_sixteen_bits_once) {
  on_each_device([](topos::device d) {
    // Sums of the first step that are no f16, and whose roundings would add up.
    const auto x = topos::full<topos::f16, 3>({2051, 3, 4}, topos::f16(1.0F), d);
    for (const topos::f16 total : values_of(eval(sum(x, {0, 2})))) {
      EXPECT_EQ(static_cast<float>(total), static_cast<float>(topos::f16(4.0F * 2051)));
    }
    const auto y = topos::full<topos::f16, 3>({2051, 3, 3}, topos::f16(1.0F / 3), d);
    for (const topos::f16 m : values_of(eval(mean(y, {0, 2})))) EXPECT_EQ(m, topos::f16(1.0F / 3));
  });
}

TEST(two_step_reduction, is_nan_where_one_element_is) {
  on_each_device([](topos::device d) {
    for (const index_t at : {0, 20, 140 * 6 * 20 - 1}) {
      std::vector<float> values(std::size_t{140} * 6 * 20, 1);
      values[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
      const auto most = values_of(eval(max(tensor_on<3>(d, {140, 6, 20}, values), {0, 2})));
      for (std::size_t i = 0; i != 6; ++i) {
        EXPECT_EQ(std::isnan(most[i]), static_cast<index_t>(i) == at / 20 % 6) << at;
      }
    }
  });
}

TEST(two_step_reduction, of_nothing_is_the_neutral_element) {
  on_each_device([](topos::device d) {
    for (const shape<3>& extents : {shape<3>{0, 3, 4}, shape<3>{40, 3, 0}}) {
      const auto none = topos::zeros<float, 3>(extents, d);
      EXPECT_EQ(values_of(eval(sum(none, {0, 2}))), (std::vector<float>{0, 0, 0}));
      EXPECT_EQ(values_of(eval(prod(none, {0, 2}))), (std::vector<float>{1, 1, 1}));
    }
    const auto none = topos::zeros<float, 3>({40, 0, 4}, d);
    EXPECT_EQ(eval(sum(none, {0, 2})).shape(), (shape<1>{0}));
    EXPECT_EQ(eval(sum(none, {0, 2}, keep_dims)).shape(), (shape<3>{1, 0, 1}));
  });
}

TEST(two_step_reduction, shares_a_launch) {
  on_each_device([](topos::device d) {
    for (const shape<3>& extents : {shape<3>{140, 60, 20}, shape<3>{9, 5, 3}}) {
      const auto x = tensor_on<3>(d, extents, support::varied(topos::size_of_shape(extents)));
      const auto [low, high, total] = eval(min(x, {0, 2}), max(x, {0, 2}), sum(x * x, {0, 2}));
      EXPECT_TRUE(same_bits(values_of(low), values_of(eval(min(x, {0, 2})))));
      EXPECT_TRUE(same_bits(values_of(high), values_of(eval(max(x, {0, 2})))));
      EXPECT_TRUE(same_bits(values_of(total), values_of(eval(sum(x * x, {0, 2})))));
    }
  });
}

TEST(two_step_reduction, has_the_same_bits_on_one_thread_and_on_all) {
  const auto x = tensor_on<3>(topos::cpu(), {300, 90, 50}, support::varied(index_t{300} * 90 * 50));
  const auto both = [&] {
    std::vector<float> all = values_of(eval(sum(exp(x), {0, 2})));
    const auto more = values_of(eval(topos::var(x, {0, 2})));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<float> on_all = both();
  const topos::in_place_scope scope;
  EXPECT_TRUE(same_bits(both(), on_all));
}

TEST(two_step_reduction, does_not_depend_on_the_rest_of_the_batch) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<4>(d, {5, 70, 6, 30}, support::varied(index_t{5} * 70 * 6 * 30));
    const std::vector<float> together = values_of(eval(sum(exp(x), {1, 3})));
    std::vector<float> alone;
    for (index_t i = 0; i < 5; ++i) {
      const auto one = values_of(eval(sum(exp(slice(x, topos::range{i, i + 1})), {1, 3})));
      alone.insert(alone.end(), one.begin(), one.end());
    }
    EXPECT_TRUE(same_bits(alone, together));
  });
}

}  // namespace reduction_order_test
