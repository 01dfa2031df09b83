// SPDX-License-Identifier: Apache-2.0

/// Running totals against NumPy's values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/tensor/scan.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reduction_case.hpp"

namespace scan_test {

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
using topos::tensor;

// Part `number` of `parts` of a file.
template <class T>
std::vector<T> part_of(const std::string& file, std::size_t number, std::size_t parts) {
  const std::vector<T> all = reductions_file<T>(file).values;
  const auto size = static_cast<std::ptrdiff_t>(all.size() / parts);
  const auto from = all.begin() + size * static_cast<std::ptrdiff_t>(number);
  return {from, from + size};
}

template <class T>
const char* kind() {
  if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? "signed" : "unsigned";
  else
    return "real";
}

// Sums of eighths are exact in float, and nearly so in sixteen bits.
template <class T, class X>
void check_close(const X& got, const std::vector<float>& expected) {
  const auto values = values_of(got);
  ASSERT_EQ(values.size(), expected.size());
  const double loose = std::is_same_v<T, topos::f16> ? 1e-3 : 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(values[i]), expected[i], loose * (1 + std::abs(expected[i])))
        << i;
  }
}

template <class T>
class scan_of : public testing::Test {};
using types = support::types<std::int8_t, std::int32_t, std::uint16_t, std::uint64_t, topos::f16,
                             float, double>;
TYPED_TEST_SUITE(scan_of, types);

TYPED_TEST(scan_of, gives_numpys_values) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const tensor<T, 3> x = reduction_case<T>().x(d);
    for (int axis = 0; axis < 3; ++axis) {
      const auto number = static_cast<std::size_t>(axis);
      check_close<T>(cumsum(x, axis - 3),
                     part_of<float>(std::string(kind<T>()).append("_cumsum"), number, 3));
      if (axis == 2) continue;
      check_close<T>(cumprod(topos::sign(x) * 2, axis),
                     part_of<float>(std::string(kind<T>()).append("_cumprod"), number, 2));
    }
  });
}

// Lanes are of some neighbours, and what is written down of some more.
TYPED_TEST(scan_of, rows_of_any_length_are_whole) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {2, 7, 9, 16, 17, 31, 63, 64, 100, 511, 512, 1025, 4096, 4100}) {
      constexpr index_t rows = 3;
      std::vector<T> in(static_cast<std::size_t>(rows * n));
      std::vector<float> expected(in.size());
      for (index_t i = 0; i < rows * n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        in[at] = static_cast<T>(i % 3 == 0 ? 1 : 0);
        expected[at] = static_cast<float>(in[at]) + (i % n == 0 ? 0.0f : expected[at - 1]);
      }
      const tensor<T, 2> x = tensor_on<2>(d, {rows, n}, in);
      check_close<T>(cumsum(x, 1), expected);
      check_close<T>(cumsum(x * T(1), 1), expected);
      const tensor<T, 2> columns = transpose(x);
      check_close<T>(cumsum(transpose(columns), 1), expected);
    }
  });
}

TEST(scan, does_not_depend_on_the_layout) {
  on_each_device([](topos::device d) {
    support::in_several_layouts(reduction_case<float>().x(d), [](const auto& x) {
      for (int axis = 0; axis < 3; ++axis) {
        check_close<float>(cumsum(x, axis),
                           part_of<float>("real_cumsum", static_cast<std::size_t>(axis), 3));
      }
    });
  });
}

TEST(scan, without_an_axis_takes_all_elements) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
    const tensor<std::int64_t, 1> sums = cumsum(x);
    EXPECT_EQ(values_of(sums), (std::vector<std::int64_t>{1, 3, 6, 10, 15, 21}));
    EXPECT_EQ(values_of(cumprod(transpose(x))), (std::vector<std::int64_t>{1, 4, 8, 40, 120, 720}));
  });
}

TEST(scan, of_several_chunks_gives_numpys_values) {
  const auto expected = reductions_file<float>("long_cumsum").values;
  on_each_device([&](topos::device d) {
    const std::vector<float> in = reductions_file<float>("long_x").values;
    const tensor<float, 1> x = vector_on(d, in);
    const std::vector<float> got = values_of(cumsum(x));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected[i], 2e-7 * std::abs(expected[i])) << i;
    }
    // One of many rows is scanned as it is alone.
    const tensor<float, 2> rows = x + topos::zeros<float, 2>({70, 1}, d);
    const std::vector<float> all = values_of(cumsum(rows, 1));
    EXPECT_TRUE(same_bits(std::vector<float>(all.end() - 20001, all.end()), got));
  });
}

// The last of many equal rows has the bits of the row alone.
void expect_alone_as_among(topos::device d, const std::vector<double>& row, index_t count) {
  const tensor<double, 1> x = vector_on(d, row);
  const tensor<double, 2> rows = x + topos::zeros<double, 2>({count, 1}, d);
  const auto length = static_cast<std::ptrdiff_t>(row.size());
  const auto last = [&](const std::vector<double>& all) {
    return std::vector<double>(all.end() - length, all.end());
  };
  EXPECT_TRUE(same_bits(last(values_of(cumsum(rows, 1))), values_of(cumsum(x)))) << row.size();
  EXPECT_TRUE(same_bits(last(values_of(cumprod(rows, 1))), values_of(cumprod(x)))) << row.size();
}

TEST(scan, of_a_short_row_does_not_depend_on_the_others) {
  on_each_device([](topos::device d) {
    const double tiny = std::ldexp(1.0, -53);
    expect_alone_as_among(d, {1, 0, tiny, tiny, 0, 0, 0, 0, 0}, 40);
  });
}

TEST(scan, of_a_row_of_any_length_does_not_depend_on_the_others) {
  on_each_device([](topos::device d) {
    for (const std::size_t columns : {40U, 300U, 9001U}) {
      std::vector<double> row(columns);
      for (std::size_t c = 0; c < columns; ++c) row[c] = 1.0 / static_cast<double>(c + 1);
      expect_alone_as_among(d, row, 70);
    }
  });
}

// As many rows as a GPU's warps take whole.
TEST(scan, of_a_row_does_not_depend_on_very_many_others) {
  on_each_device([](topos::device d) {
    std::vector<double> row(700);
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = 1.0 + 1.0 / static_cast<double>(c + 3);
    expect_alone_as_among(d, row, 1030);
  });
}

TEST(scan, of_every_size_is_whole) {
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const std::vector<std::int32_t> in = support::varied<std::int32_t>(n);
      std::vector<std::int64_t> expected(in.begin(), in.end());
      std::partial_sum(expected.begin(), expected.end(), expected.begin());
      EXPECT_EQ(values_of(cumsum(vector_on(d, in), 0)), expected) << n;
      const tensor<std::int32_t, 2> columns =
          vector_on(d, in).reshape<2>({n, 1}) + topos::zeros<std::int32_t, 1>({20}, d);
      const std::vector<std::int64_t> down = values_of(cumsum(columns, 0));
      for (index_t i = 0; i < n; ++i) {
        ASSERT_EQ(down[static_cast<std::size_t>(20 * i + 7)],
                  expected[static_cast<std::size_t>(i)]);
      }
    }
  });
}

// As long as several groups of chunks, which a GPU's teams tell each other of.
TEST(scan, of_long_rows_is_whole) {
  constexpr index_t n = 2'200'003;
  std::vector<std::int32_t> in(n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i * 7919 % 1009);
  std::vector<std::int64_t> expected(in.begin(), in.end());
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  on_each_device([&](topos::device d) {
    const tensor<std::int32_t, 1> x = vector_on(d, in);
    EXPECT_EQ(values_of(cumsum(x)), expected);
    const std::vector<std::int64_t> rows =
        values_of(cumsum(x.reshape<2>({1, n}) + topos::zeros<std::int32_t, 2>({3, 1}, d), 1));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), rows.begin() + 2 * n));
  });
}

TEST(scan, of_long_rows_has_the_same_bits_each_time) {
  on_each_device([](topos::device d) {
    const tensor<double, 1> x = 1.0 / (topos::arange(1.0, 1'300'001.0, 1.0, d) + 0.5);
    const std::vector<double> once = values_of(cumsum(x));
    for (int time = 0; time < 3; ++time) ASSERT_TRUE(same_bits(values_of(cumsum(x)), once));
  });
}

TEST(scan, has_the_same_bits_on_one_thread_and_on_all) {
  const tensor<float, 2> x = tensor_on<2>(topos::cpu(), {700, 900}, support::varied(700 * 900));
  const auto all_of = [&] {
    std::vector<float> all = values_of(cumsum(exp(x)));
    for (int axis = 0; axis < 2; ++axis) {
      const std::vector<float> some = values_of(cumsum(exp(x), axis));
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  };
  const std::vector<float> on_all = all_of();
  const topos::in_place_scope scope;
  EXPECT_TRUE(same_bits(all_of(), on_all));
}

TEST(scan, is_not_a_number_after_nan) {
  on_each_device([](topos::device d) {
    std::vector<float> in(9000, 1.0F);
    in[5000] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> got = values_of(cumsum(vector_on(d, in)));
    EXPECT_EQ(got[4999], 5000);
    EXPECT_TRUE(std::isnan(got[5000]) && std::isnan(got[8999]));
  });
}

// As one by one: extrema do not depend on an order.
template <class T>
void expect_extrema(topos::device d, const std::vector<T>& values, index_t rows) {
  const auto columns = static_cast<std::size_t>(values.size()) / static_cast<std::size_t>(rows);
  std::vector<T> low = values;
  std::vector<T> high = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % columns == 0) continue;
    low[i] = low[i - 1] < values[i] ? low[i - 1] : values[i];
    high[i] = high[i - 1] > values[i] ? high[i - 1] : values[i];
  }
  const auto x = tensor_on<2>(d, {rows, static_cast<index_t>(columns)}, values);
  EXPECT_EQ(values_of(cummin(x, 1)), low) << rows;
  EXPECT_EQ(values_of(cummax(x, 1)), high) << rows;
  const tensor<T, 2> turned(transpose(x));
  EXPECT_EQ(values_of(topos::eval(transpose(cummax(turned, 0)))), high) << rows;
}

TEST(scan, of_extrema_is_as_one_by_one) {
  on_each_device([](topos::device d) {
    for (const index_t rows : {1, 3, 40}) {
      expect_extrema(d, support::varied<float>(rows * 9'001), rows);
      expect_extrema(d, support::varied<double>(rows * 33), rows);
      std::vector<std::int8_t> small(static_cast<std::size_t>(rows) * 500);
      for (std::size_t i = 0; i < small.size(); ++i)
        small[i] = static_cast<std::int8_t>(i * 37 % 251);
      expect_extrema(d, small, rows);
    }
    EXPECT_EQ(values_of(cummax(topos::array({false, true, false}, d))),
              (std::vector<bool>{false, true, true}));
    const auto halves = topos::array<topos::f16>({1, -2, 3}, d);
    static_assert(std::is_same_v<decltype(cummin(halves))::value_type, topos::f16>);
    EXPECT_EQ(values_of(topos::eval(topos::astype<float>(cummin(halves)))),
              (std::vector<float>{1, -2, -2}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> after = values_of(cummax(vector_on<float>(d, {1, nan, 5})));
    EXPECT_EQ(after[0], 1);
    EXPECT_TRUE(std::isnan(after[1]) && std::isnan(after[2]));
    EXPECT_EQ(cummax(topos::zeros<float>({0, 3}, d), 0).size(), 0);
  });
}

TEST(scan, refuses_axes_that_are_not_there) {
  const auto x = topos::zeros<float, 1>({2});
  EXPECT_TRUE(
      contains(refusal<topos::out_of_range>([&] { static_cast<void>(cumsum(x, 1)); }), "cumsum"));
}

// No running total overflows, but those of every other element do.
TEST(scan, overflows_where_a_running_total_does_alone) {
  on_each_device([](topos::device d) {
    std::vector<float> products(5000);
    std::vector<float> sums(5000);
    for (std::size_t i = 0; i < products.size(); ++i) {
      products[i] = i % 2 == 0 ? 2.0f : 0.5f;
      sums[i] = i % 2 == 0 ? 3e38f : -3e38f;
    }
    const std::vector<float> product = values_of(cumprod(vector_on<float>(d, products)));
    const std::vector<float> sum = values_of(cumsum(vector_on<float>(d, sums)));
    for (std::size_t i = 0; i < products.size(); ++i) {
      ASSERT_EQ(product[i], i % 2 == 0 ? 2.0f : 1.0f) << i;
      ASSERT_EQ(sum[i], i % 2 == 0 ? 3e38f : 0.0f) << i;
    }
  });
}

// Eight neighbours' would be 0 in double, too.
TEST(scan, of_products_is_what_running_products_are) {
  on_each_device([](topos::device d) {
    std::vector<float> in(64, 1.0f);
    std::fill_n(in.begin(), 16, 0x1p127f);
    std::fill_n(in.begin() + 16, 8, 0x1p-149f);
    const std::vector<float> got = values_of(cumprod(vector_on<float>(d, in)));
    for (std::size_t i = 1; i < 23; ++i) ASSERT_EQ(got[i], in[0] * 2 * in[0]) << i;
    ASSERT_FALSE(std::isnan(got.back()));
  });
}

// Of what follows the 0 alone they do.
TEST(scan, of_products_stays_0_whatever_follows) {
  on_each_device([](topos::device d) {
    for (const topos::index_t n : {100, 1024, 4096, 9000}) {
      std::vector<double> in(static_cast<std::size_t>(n));
      std::iota(in.begin(), in.end(), 0.0);
      EXPECT_EQ(values_of(cumprod(vector_on(d, in))), std::vector<double>(in.size(), 0.0)) << n;
      in[0] = -1;
      in[static_cast<std::size_t>(n) - 2] = 0;
      in[static_cast<std::size_t>(n) - 1] = std::numeric_limits<double>::infinity();
      const std::vector<double> got = values_of(cumprod(vector_on(d, in)));
      EXPECT_EQ(got[3], -6) << n;
      EXPECT_TRUE(std::isnan(got.back())) << n;
    }
  });
}

TEST(scan, of_products_of_large_and_small_numbers_is_as_exact_as_one_by_one) {
  on_each_device([](topos::device d) {
    std::vector<double> in(20000);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 2 == 0 ? 0x1p700 : 0x1p-699;
    for (std::size_t i = 0; i < in.size(); i += 200) in[i + 1] = 0x1p-799;  // 2 to the 100 down
    const std::vector<double> got = values_of(cumprod(vector_on(d, in)));
    double product = 1;
    for (std::size_t i = 0; i < in.size(); ++i) {
      product *= in[i];
      ASSERT_EQ(got[i], product) << i;
    }
  });
}

}  // namespace scan_test
