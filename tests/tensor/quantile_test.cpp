// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/core/half.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/random/integers.hpp>
#include <topos/random/normal.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/quantile.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace quantile_test {

using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::shape;

// Expected values are numpy.quantile's and numpy.median's, of NumPy 2.
TEST(quantile, lies_between_neighbours) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 4}, std::vector<double>{3, -1, 7.5, 2, 0.25, 9, -4, 1});
    const auto expect = [](const auto& found, const std::vector<double>& values) {
      const std::vector<double> are = values_of(found);
      ASSERT_EQ(are.size(), values.size());
      for (std::size_t i = 0; i != values.size(); ++i) EXPECT_DOUBLE_EQ(are[i], values[i]);
    };
    expect(quantile(x, 0, 1), {-1, -4});
    expect(quantile(x, 1, 1), {7.5, 9});
    expect(quantile(x, 0.5, 1), {2.5, 0.625});
    expect(quantile(x, 0.77, 1), {4.395, 3.48});
    expect(quantile(x, 0.77, 0), {2.3675, 6.7, 4.855, 1.77});
    expect(quantile(x, 0.77), {4.755000000000003});
    expect(median(x, -1), {2.5, 0.625});
    expect(median(x), {1.5});
    EXPECT_EQ(median(x, 1, topos::keep_dims).shape(), (shape<2>{2, 1}));
    EXPECT_EQ(median(x, 1).device(), d);
  });
}

TEST(quantile, of_an_odd_number_is_one_of_them) {
  on_each_device([](topos::device d) {
    const auto whole = vector_on(d, std::vector<int>{5, 1, 4});
    const topos::tensor<float, 0> middle = median(whole);
    EXPECT_EQ(middle.item(), 4);
    const auto half = vector_on(d, std::vector<topos::f16>{topos::f16(3), topos::f16(0.1f)});
    EXPECT_EQ(static_cast<float>(median(half).item()), 1.5498046875f);  // as float, rounded once
  });
}

TEST(quantile, of_nan_is_nan_and_infinities_stay) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  on_each_device([&](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<float>{1, nan, 2, -inf, inf, inf});
    const std::vector<float> low = values_of(quantile(x, 0, 1));
    EXPECT_NE(low[0], low[0]);
    EXPECT_EQ(low[1], -inf);
    EXPECT_EQ(values_of(quantile(x, 0.75, 1))[1], inf);
    const auto none = tensor_on<2>(d, {2, 0}, std::vector<float>{});
    const std::vector<float> of_none = values_of(median(none, 1));
    ASSERT_EQ(of_none.size(), 2U);
    EXPECT_NE(of_none[0], of_none[0]);
    EXPECT_EQ(median(none, 0).size(), 0);
  });
}

TEST(quantile, of_several_shares_is_that_of_each) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 4}, std::vector<float>{3, -1, 7.5, 2, 0.25, 9, -4, 1});
    const topos::tensor<float, 2> rows = quantile(x, {0.5, 0.0, 0.77}, 1);
    EXPECT_EQ(rows.shape(), (shape<2>{3, 2}));
    EXPECT_EQ(rows.device(), d);
    EXPECT_EQ(values_of(rows), (std::vector<float>{2.5f, 0.625f, -1, -4, 4.395f, 3.48f}));
    const std::vector<double> shares{1, 0.5};
    const topos::tensor<float, 1> all = quantile(x, shares);
    EXPECT_EQ(values_of(all), (std::vector<float>{9, 1.5f}));
    const topos::tensor<float, 3> kept = quantile(x, shares, 0, topos::keep_dims);
    EXPECT_EQ(kept.shape(), (shape<3>{2, 1, 4}));
    EXPECT_EQ(values_of(kept), (std::vector<float>{3, 9, 7.5f, 2, 1.625f, 4, 1.75f, 1.5f}));
    EXPECT_EQ(quantile(x, std::vector<double>{}, 1).shape(), (shape<2>{0, 2}));
    const auto none = tensor_on<2>(d, {2, 0}, std::vector<float>{});
    for (const float value : values_of(quantile(none, {0.5, 1.0}, 1))) EXPECT_NE(value, value);
  });
}

// Rows so long that they are not sorted for it on the CPU.
template <class T>
void expect_those_of_sorted(const topos::tensor<T, 2>& x) {
  const topos::tensor<T, 2> ordered = sort(x, 1);
  const topos::index_t last = x.shape(1) - 1;
  for (const double q : {0.0, 1e-5, 0.25, 0.5, 0.9, 1.0}) {
    SCOPED_TRACE(q);
    const double place = q * static_cast<double>(last);
    const auto below = static_cast<topos::index_t>(place);
    const auto found = quantile(x, q, 1);
    for (topos::index_t r = 0; r < x.shape(0); ++r) {
      const auto low = static_cast<double>(ordered.item(r, below));
      const auto high = static_cast<double>(ordered.item(r, std::min(below + 1, last)));
      const double part = place - static_cast<double>(below);
      EXPECT_NEAR(static_cast<double>(found.item(r)), low * (1 - part) + high * part,
                  1e-6 * (std::abs(low) + std::abs(high)));
    }
  }
}

TEST(quantile, of_long_rows_is_that_of_sorted_ones) {
  constexpr topos::index_t n = 70'001;
  const topos::random::key key{7};
  const topos::tensor<float, 2> x = topos::random::normal(key, {2, n});
  expect_those_of_sorted(x);
  expect_those_of_sorted<float>(sort(x, 1));
  expect_those_of_sorted<float>(topos::eval(exp(exp(x))));
  expect_those_of_sorted<float>(topos::eval(maximum(x, 0.0f)));  // half of them equal
  expect_those_of_sorted<std::int32_t>(topos::eval(topos::random::randint(key, {2, n}, 0, 7)));
  expect_those_of_sorted<std::uint8_t>(
      topos::eval(topos::astype<std::uint8_t>(topos::random::randint(key, {2, n}, 0, 256))));
  expect_those_of_sorted<double>(topos::full<double>({1, n}, 3));
  // Where the sample sees other numbers than there are.
  expect_those_of_sorted<float>(topos::eval(topos::where(topos::arange(n) % 64 == 0, x, 5.0f)));
}

TEST(quantile, of_long_columns_and_of_expressions_is_that_of_rows) {
  on_each_device([](topos::device d) {
    const topos::tensor<float, 2> x = topos::random::uniform(topos::random::key{8}, {66'000, 3}, d);
    const topos::tensor<float, 2> y = transpose(x);
    const std::vector<double> shares{0.5, 0.125};
    EXPECT_EQ(values_of(quantile(x * 2.0f, shares, 0)), values_of(quantile(y * 2.0f, shares, 1)));
    EXPECT_EQ(values_of(median(x, 0)), values_of(topos::eval(quantile(y, shares, 1).row(0))));
    const auto drawn = topos::random::normal(topos::random::key{8}, {66'000}, d);
    EXPECT_EQ(values_of(quantile(drawn, shares)), values_of(quantile(topos::eval(drawn), shares)));
  });
}

TEST(quantile, of_long_rows_with_nan_is_nan) {
  on_each_device([](topos::device d) {
    topos::tensor<float, 2> x = topos::random::uniform(topos::random::key{8}, {2, 70'000}, d);
    x.slice(1, 69'999) = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> found = values_of(median(x, 1));
    EXPECT_EQ(found[0], found[0]);
    EXPECT_NE(found[1], found[1]);
  });
}

TEST(quantile, refuses_what_is_no_share) {
  const auto x = topos::ones<float>({3});
  EXPECT_THROW((void)quantile(x, 1.5), topos::invalid_argument);
  EXPECT_THROW((void)quantile(x, -0.1, 0), topos::invalid_argument);
  EXPECT_THROW((void)quantile(x, std::numeric_limits<double>::quiet_NaN()),
               topos::invalid_argument);
  EXPECT_THROW((void)quantile(x, 0.5, 1), topos::out_of_range);
  EXPECT_THROW((void)quantile(x, {0.5, 2.0}), topos::invalid_argument);
}

}  // namespace quantile_test
