// SPDX-License-Identifier: Apache-2.0

/// Softmax against NumPy's values.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/softmax.hpp>
#include <type_traits>
#include <vector>

#include "../support/types.hpp"
#include "reduction_case.hpp"

namespace softmax_test {

using support::contains;
using support::on_each_device;
using support::reduction_case;
using support::reductions_file;
using support::refusal;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::shape;
using topos::tensor;

// Part `number` of `parts` of a file.
template <class T>
std::vector<T> part_of(const std::string& file, std::size_t number, std::size_t parts) {
  const std::vector<T> all = reductions_file<T>(file).values;
  const auto size = static_cast<std::ptrdiff_t>(all.size() / parts);
  const auto from = all.begin() + size * static_cast<std::ptrdiff_t>(number);
  return {from, from + size};
}

template <class X>
void check_near(const X& got, const std::vector<float>& expected, double units) {
  const auto values = values_of(got);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(values[i]), expected[i],
                units * (1e-7 + 1e-7 * std::abs(expected[i])))
        << i;
  }
}

template <class T>
class softmax_of : public testing::Test {};
using types = support::types<topos::f16, float, double>;
TYPED_TEST_SUITE(softmax_of, types);

TYPED_TEST(softmax_of, gives_numpys_values) {
  using T = TypeParam;
  const double units = std::is_same_v<T, topos::f16> ? 1e4 : 8;
  on_each_device([&](topos::device d) {
    const tensor<T, 3> x = reduction_case<T>().x(d);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto i = static_cast<index_t>(axis);
      check_near(softmax(x, i), part_of<float>("softmax", axis, 3), units);
      check_near(log_softmax(x, i - 3), part_of<float>("log_softmax", axis, 3), units);
    }
    check_near(softmax(x), part_of<float>("softmax", 2, 3), units);
  });
}

TEST(softmax, does_not_depend_on_the_layout) {
  on_each_device([](topos::device d) {
    support::in_several_layouts(reduction_case<float>().x(d), [](const auto& x) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        check_near(softmax(x, static_cast<index_t>(axis)), part_of<float>("softmax", axis, 3), 8);
      }
    });
  });
}

TEST(softmax, of_integers_is_float) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> y = softmax(vector_on<std::int32_t>(d, {1, 1, 1, 1}));
    EXPECT_EQ(values_of(y), (std::vector<float>(4, 0.25F)));
  });
}

TEST(softmax, neither_overflows_nor_underflows) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {1000, 1000, -1000});
    EXPECT_EQ(values_of(softmax(x)), (std::vector<float>{0.5F, 0.5F, 0}));
    check_near(log_softmax(x), {-std::log(2.0F), -std::log(2.0F), -2000 - std::log(2.0F)}, 2);
    const float low = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(values_of(softmax(vector_on<float>(d, {low, 3}))), (std::vector<float>{0, 1}));
  });
}

TEST(softmax, of_long_rows_is_that_of_short_ones) {
  on_each_device([](topos::device d) {
    const index_t n = 70001;  // which takes several passes
    const std::vector<float> in = support::varied(n);
    double total = 0;
    for (const float v : in) total += std::exp(static_cast<double>(v));
    std::vector<float> expected(in.size());
    std::vector<float> logs(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      expected[i] = static_cast<float>(std::exp(static_cast<double>(in[i])) / total);
      logs[i] = static_cast<float>(static_cast<double>(in[i]) - std::log(total));
    }
    const tensor<float, 1> x = vector_on(d, in);
    const std::vector<float> got = values_of(softmax(x));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected[i], 1e-6 * expected[i]) << i;
    }
    check_near(log_softmax(x), logs, 8);
  });
}

// More rows than are summed at once, columns that do not end with a strip, and a second group.
TYPED_TEST(softmax_of, columns_is_that_of_rows) {
  using T = TypeParam;
  const double units = std::is_same_v<T, topos::f16> ? 1e4 : 8;
  on_each_device([&](topos::device d) {
    std::vector<T> in;
    for (const float v : support::varied(2 * 300 * 107)) in.push_back(static_cast<T>(v));
    const tensor<T, 3> x = tensor_on<3>(d, {2, 300, 107}, in);
    const tensor<T, 3> turned = permute(x, {0, 2, 1});
    const auto expect = [&](const auto& columns, const auto& rows) {
      const tensor<T, 3> in_order = permute(columns, {0, 2, 1});
      std::vector<float> expected;
      for (const T v : values_of(rows)) expected.push_back(static_cast<float>(v));
      check_near(in_order, expected, units);
    };
    expect(softmax(x, 1), softmax(turned));
    expect(log_softmax(x, 1), log_softmax(turned));
    // Into results whose neighbours lie apart.
    const auto view = permute(x, {0, 2, 1});
    expect(permute(softmax(view, 2), {0, 2, 1}), softmax(turned));
    expect(permute(log_softmax(view, 2), {0, 2, 1}), log_softmax(turned));
  });
}

TEST(softmax, has_the_same_bits_on_one_thread_and_on_all) {
  const tensor<float, 2> x = tensor_on<2>(topos::cpu(), {300, 900}, support::varied(300 * 900));
  const auto both = [&] {
    std::vector<float> all = values_of(softmax(x, 0));
    const std::vector<float> more = values_of(softmax(x, 1));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<float> on_all = both();
  const topos::in_place_scope scope;
  EXPECT_TRUE(same_bits(both(), on_all));
}

// More rows than are computed at once, of fewer columns than lanes.
TYPED_TEST(softmax_of, many_short_rows_is_that_of_one) {
  constexpr index_t rows = 3000;
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 2, 3, 7}) {
      const std::vector<float> one{0.5f, -1, 3, 2, -0.25f, 1, 0};
      std::vector<TypeParam> values;
      for (index_t i = 0; i < rows * columns; ++i)
        values.push_back(TypeParam(one[static_cast<std::size_t>(i % columns)]));
      const auto x = tensor_on<2>(d, {rows, columns}, values);
      const auto got = values_of(topos::softmax(x, 1));
      const auto alone = values_of(topos::softmax(topos::slice(x, topos::range{0, 1}), 1));
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], alone[i % alone.size()]) << columns << " columns, " << i;
    }
  });
}

TEST(softmax, of_nothing_is_nothing) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(softmax(topos::zeros<float, 2>({0, 3}, d), 0).shape(), (shape<2>{0, 3}));
    EXPECT_EQ(softmax(topos::zeros<float, 2>({3, 0}, d)).shape(), (shape<2>{3, 0}));
  });
}

TEST(softmax, refuses_axes_that_are_not_there) {
  const auto x = topos::zeros<float, 1>({2});
  EXPECT_TRUE(
      contains(refusal<topos::out_of_range>([&] { static_cast<void>(softmax(x, 1)); }), "softmax"));
}

}  // namespace softmax_test
