// SPDX-License-Identifier: Apache-2.0

/// The places of extrema against NumPy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/tensor/extremum.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reduction_case.hpp"

namespace extremum_test {

using support::contains;
using support::on_each_device;
using support::reduction_case;
using support::refusal;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::index_t;
using topos::keep_dims;
using topos::shape;
using topos::tensor;

template <class T, class X>
void check_each(const reduction_case<T>& c, const X& x) {
  c.check(argmin(x), 0, "argmin");
  c.check(argmax(x), 0, "argmax");
  for (int axis = 0; axis < 3; ++axis) {
    const auto number = static_cast<std::size_t>(1 + axis);
    c.check(argmin(x, axis), number, "argmin");
    c.check(argmax(x, axis - 3), number, "argmax");
  }
}

template <class T>
class extremum_of : public testing::Test {};
using types = support::types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, topos::f16,
                             topos::bf16, float, double>;
TYPED_TEST_SUITE(extremum_of, types);

TYPED_TEST(extremum_of, is_where_numpy_finds_it) {
  on_each_device([](topos::device d) {
    const reduction_case<TypeParam> c;
    const tensor<TypeParam, 3> x = c.x(d);
    for (int axis = 0; axis < 3; ++axis) {
      c.check(argmax(x, axis - 3), static_cast<std::size_t>(1 + axis), "argmax");
    }
  });
}

// The first of equal ones, and of floats the first NaN.
TYPED_TEST(extremum_of, is_found_in_each_of_many_short_rows) {
  using T = TypeParam;
  constexpr bool has_nan = !std::is_integral_v<T>;
  on_each_device([](topos::device d) {
    for (const index_t columns : {2, 5, 15, 16, 17, 28, 40, 56, 63, 64, 79, 80}) {
      const index_t rows = 135;
      std::vector<float> in = support::varied(rows * columns, 7);
      for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = std::floor(std::abs(in[i]) * 10);
        if (has_nan && i % 41 == 0) in[i] = std::nanf("");
      }
      const tensor<T, 2> x = topos::astype<T>(tensor_on<2>(d, {rows, columns}, in));
      const std::vector<float> as_compared = values_of(eval(topos::astype<float>(x)));

      const auto largest = values_of(eval(argmax(x, 1)));

      for (index_t r = 0; r < rows; ++r) {
        const float* const row = as_compared.data() + r * columns;
        index_t best = 0;
        for (index_t c = 1; c < columns; ++c) {
          if (row[c] > row[best] || (std::isnan(row[c]) && !std::isnan(row[best]))) best = c;
        }
        ASSERT_EQ(largest[static_cast<std::size_t>(r)], best) << "row " << r << " of " << columns;
      }
    }
  });
}

TEST(extremum, along_an_axis_or_all) {
  on_each_device([](topos::device d) {
    const reduction_case<float> c;
    check_each(c, c.x(d));
    const reduction_case<std::int32_t> whole;
    check_each(whole, whole.x(d));
  });
}

TEST(extremum, does_not_depend_on_the_layout) {
  on_each_device([](topos::device d) {
    const reduction_case<float> c;
    support::in_several_layouts(c.x(d), [&](const auto& x) { check_each(c, x); });
  });
}

TEST(extremum, of_several_pieces_down_and_across) {
  const auto expected = support::reductions_file<std::int64_t>("wide_places").values;
  const std::vector<std::int64_t> down(expected.begin(), expected.begin() + 4200);
  const std::vector<std::int64_t> across(expected.begin() + 4200, expected.end());
  on_each_device([&](topos::device d) {
    const auto wide =
        tensor_on<2>(d, {6, 4200}, support::reductions_file<std::int8_t>("wide_x").values);
    const tensor<std::int8_t, 2> tall = transpose(wide);
    EXPECT_EQ(values_of(eval(argmax(wide, 0))), down);
    EXPECT_EQ(values_of(eval(argmax(wide, 1))), across);
    EXPECT_EQ(values_of(eval(argmax(tall, 0))), across);
    EXPECT_EQ(values_of(eval(argmax(tall, 1))), down);
    const tensor<float, 2> reals = topos::astype<float>(tall);
    EXPECT_EQ(values_of(eval(argmax(reals, 0))), across);
    EXPECT_EQ(values_of(eval(argmax(reals, 1))), down);
  });
}

TEST(extremum, of_every_size_is_found) {
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      if (n == 0) continue;
      const std::vector<float> in = support::varied(n);
      const tensor<float, 1> x = vector_on(d, in);
      EXPECT_EQ(argmax(x).item(), std::max_element(in.begin(), in.end()) - in.begin()) << n;
      EXPECT_EQ(argmin(x).item(), std::min_element(in.begin(), in.end()) - in.begin()) << n;
    }
  });
}

TEST(extremum, of_what_is_computed_is_found_by_its_lanes) {
  on_each_device([](topos::device d) {
    for (index_t n = 1; n < 300; n += 7) {
      const tensor<float, 1> x = vector_on(d, support::varied(n, static_cast<int>(n)));
      const std::vector<float> y = values_of(eval(exp(x) * sin(x)));
      EXPECT_EQ(argmax(exp(x) * sin(x)).item(), std::max_element(y.begin(), y.end()) - y.begin());
    }
  });
}

template <class T>
class extremum_of_reals : public testing::Test {};
using real_types = support::types<topos::f16, float, double>;
TYPED_TEST_SUITE(extremum_of_reals, real_types);

TYPED_TEST(extremum_of_reals, is_the_first_nan) {
  using T = TypeParam;
  const auto nan = T(std::numeric_limits<float>::quiet_NaN());
  on_each_device([&](topos::device d) {
    for (const index_t n : {3, 40, 5000}) {
      for (const index_t at : {index_t{0}, n / 2, n - 1}) {
        std::vector<T> in(static_cast<std::size_t>(n), T(1.0F));
        in[static_cast<std::size_t>(at)] = nan;
        in.back() = nan;
        const tensor<T, 1> x = vector_on(d, in);
        EXPECT_EQ(argmin(x).item(), at) << n;
        EXPECT_EQ(argmax(x).item(), at) << n;
        const tensor<T, 2> columns = x.template reshape<2>({n, 1}) + topos::zeros<T, 1>({5}, d);
        EXPECT_EQ(values_of(eval(argmax(columns, 0))), std::vector<std::int64_t>(5, at)) << n;
      }
    }
  });
}

TEST(extremum, is_the_first_of_equal_ones) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(argmax(topos::zeros<float, 1>({100000}, d)).item(), 0);
    EXPECT_EQ(argmin(topos::zeros<std::int8_t, 2>({3000, 3}, d)).item(), 0);
    const tensor<std::int64_t, 1> none = argmin(topos::zeros<float, 2>({3000, 3}, d), 0);
    EXPECT_EQ(values_of(none), (std::vector<std::int64_t>{0, 0, 0}));
  });
}

TEST(extremum, keeps_axes_where_asked) {
  const auto x = topos::ones<float, 3>({5, 7, 33});
  EXPECT_EQ(eval(argmax(x, 2, keep_dims)).shape(), (shape<3>{5, 7, 1}));
  EXPECT_EQ(eval(argmax(x, keep_dims)).shape(), (shape<3>{1, 1, 1}));
}

TEST(extremum, shares_a_pass_with_other_results) {
  on_each_device([](topos::device d) {
    const std::vector<float> in = support::varied(10001);
    const tensor<float, 1> x = vector_on(d, in);
    const auto [most, place] = eval(max(x), argmax(x));
    EXPECT_EQ(most.item(), in[static_cast<std::size_t>(place.item())]);
  });
}

TEST(extremum, of_nothing_is_refused) {
  const auto none = topos::zeros<float, 2>({0, 3});
  const std::string message =
      refusal<topos::invalid_argument>([&] { static_cast<void>(argmax(none, 0)); });
  EXPECT_TRUE(contains(message, "argmax") && contains(message, "(0, 3)")) << message;
  EXPECT_THROW(static_cast<void>(argmin(none)), topos::invalid_argument);
  EXPECT_EQ(eval(argmax(none, 1)).shape(), (shape<1>{0})) << "no result is asked for";
}

}  // namespace extremum_test
