// SPDX-License-Identifier: Apache-2.0

/// Running totals down columns, few and many, beside sums and products one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/scan.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace column_scan_test {

using support::on_each_device;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using topos::index_t;
using topos::tensor;

/// What is scanned: elements of `outer` groups of `length` rows of `columns`.
struct extents {
  index_t outer;
  index_t length;
  index_t columns;

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(outer * length * columns);
  }
  [[nodiscard]] topos::shape<3> shape() const { return {outer, length, columns}; }
};

// Small whole numbers, of which all totals are exact.
template <class T>
std::vector<T> numbers(const extents& n, unsigned many) {
  std::vector<T> values(n.size());
  unsigned state = 1;
  for (T& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<T>((state >> 16) % many);
  }
  return values;
}

// Each combined with what is a row before.
template <class To, class T, class Op>
std::vector<To> one_by_one(const std::vector<T>& in, const extents& n, Op op) {
  std::vector<To> out(in.size());
  for (index_t i = 0; i < static_cast<index_t>(in.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_first = i / n.columns % n.length == 0;
    const auto above = is_first ? at : at - static_cast<std::size_t>(n.columns);
    out[at] = is_first ? static_cast<To>(in[at]) : op(out[above], static_cast<To>(in[at]));
  }
  return out;
}

template <class T>
void check_sums(topos::device d, const extents& n) {
  const std::vector<T> in = numbers<T>(n, 3);
  const tensor<T, 3> x = tensor_on<3>(d, n.shape(), in);
  const auto sums = cumsum(x, 1);
  using to = typename std::decay_t<decltype(sums)>::value_type;
  const auto expected = one_by_one<to>(in, n, [](to a, to b) { return static_cast<to>(a + b); });
  const auto where = [&] {
    return testing::Message() << n.outer << " x " << n.length << " x " << n.columns;
  };
  EXPECT_EQ(values_of(sums), expected) << where();
  // Of an expression, of rows that lie further apart, and of columns that lie among others.
  EXPECT_EQ(values_of(cumsum(x * T(1), 1)), expected) << where();
  const tensor<T, 3> turned = permute(x, {1, 0, 2});
  EXPECT_EQ(values_of(cumsum(permute(turned, {1, 0, 2}), 1)), expected) << where();
  const tensor<T, 3> mirrored = flip(x, 2);
  EXPECT_EQ(values_of(cumsum(flip(mirrored, 2), 1)), expected) << where();
}

template <class T>
class column_scan_of : public testing::Test {};
using types = support::types<std::int8_t, std::int32_t, std::uint64_t, topos::f16, topos::bf16,
                             float, double>;
TYPED_TEST_SUITE(column_scan_of, types);

TYPED_TEST(column_scan_of, any_number_of_columns_is_whole) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 2, 3, 7, 8, 9, 15, 17, 31, 33, 40, 65, 515})
      check_sums<TypeParam>(d, {2, 61, columns});
  });
}

TYPED_TEST(column_scan_of, few_rows_are_whole) {
  on_each_device([](topos::device d) {
    for (const index_t rows : {1, 2, 3, 4, 5}) {
      check_sums<TypeParam>(d, {3, rows, 3});
      check_sums<TypeParam>(d, {1, rows, 11});
    }
  });
}

// So long that the CPU makes the totals of chunks first.
TEST(column_scan, of_many_rows_is_whole) {
  on_each_device([](topos::device d) {
    check_sums<float>(d, {1, 90'001, 3});
    check_sums<float>(d, {3, 33'000, 9});
    check_sums<double>(d, {1, 34'567, 8});
    check_sums<std::int32_t>(d, {2, 30'000, 10});
    check_sums<float>(d, {1, 511, 1030});
  });
}

TEST(column_scan, of_extrema_is_as_one_by_one) {
  const extents n{1, 60'000, 5};
  std::vector<float> in = numbers<float>(n, 60'000);
  on_each_device([&](topos::device d) {
    const tensor<float, 3> x = tensor_on<3>(d, n.shape(), in);
    const auto larger = [](float a, float b) { return std::max(a, b); };
    EXPECT_EQ(values_of(cummax(x, 1)), one_by_one<float>(in, n, larger));
    const auto smaller = [](float a, float b) { return std::min(a, b); };
    EXPECT_EQ(values_of(cummin(x, 1)), one_by_one<float>(in, n, smaller));
  });
}

TEST(column_scan, of_products_stays_0_whatever_follows) {
  const extents n{1, 40'000, 7};
  std::vector<double> in(n.size(), 2.0);
  std::fill_n(in.begin(), 7, 0.0);
  on_each_device([&](topos::device d) {
    const tensor<double, 3> x = tensor_on<3>(d, n.shape(), in);
    EXPECT_EQ(values_of(cumprod(x, 1)), std::vector<double>(n.size(), 0.0));
  });
}

// A GPU makes totals of parts of columns as few as these, and of complex numbers without scaling.
TEST(column_scan, of_complex_products_stays_0_whatever_follows) {
  using complex = Kokkos::complex<double>;
  const extents n{1, 40'000, 7};
  std::vector<complex> in(n.size(), complex(2.0));
  std::fill_n(in.begin(), 7, complex(0.0));
  const tensor<complex, 3> x = tensor_on<3>(topos::cpu(), n.shape(), in);
  const std::vector<complex> got = values_of(cumprod(x, 1));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i].real(), 0.0) << i;
}

// Rows of a table in any order, which do not lie evenly though each is in memory.
TEST(column_scan, of_taken_rows_is_whole) {
  const extents n{1, 60, 24};
  const std::vector<float> in = numbers<float>(n, 10);
  const std::vector<std::int32_t> taken{3, 4, 59, 0, 7, 7, 1, 58, 5, 5};
  std::vector<float> out;
  for (const std::int32_t r : taken)
    out.insert(out.end(), in.begin() + 24 * r, in.begin() + 24 * r + 24);
  const auto expected = one_by_one<float>(out, {1, 10, 24}, [](float a, float b) { return a + b; });
  on_each_device([&](topos::device d) {
    const tensor<float, 2> table = tensor_on<2>(d, {60, 24}, in);
    const tensor<std::int32_t, 1> places = tensor_on<1>(d, {10}, taken);
    EXPECT_EQ(values_of(cumsum(take(table, places, 0), 0)), expected);
  });
}

TEST(column_scan, of_halves_is_rounded_once) {
  on_each_device([](topos::device d) {
    std::vector<topos::f16> in(3 * 20, topos::f16(0.0F));
    for (std::size_t i = 0; i < 20; ++i) {
      in[i] = topos::f16(1024.0F);
      in[20 + i] = topos::f16(0.5F);
      in[40 + i] = topos::f16(0x1p-24F);  // with it, 1024.5 is nearer to 1025
    }
    const auto got = values_of(cumsum(tensor_on<3>(d, {1, 3, 20}, in), 1));
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(static_cast<float>(got[40 + i]), 1025.0F) << i;
  });
}

TEST(column_scan, is_not_a_number_after_nan_in_its_column_alone) {
  const extents n{1, 50'000, 6};
  std::vector<float> in(n.size(), 0.5F);
  in[6 * 3 + 4] = std::numeric_limits<float>::quiet_NaN();
  on_each_device([&](topos::device d) {
    const std::vector<float> sums = values_of(cumsum(tensor_on<3>(d, n.shape(), in), 1));
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(std::isnan(sums[i]), i % 6 == 4 && i / 6 >= 3) << i;
  });
}

TEST(column_scan, of_negative_zeros_is_a_negative_zero) {
  on_each_device([](topos::device d) {
    const std::vector<float> in(300, -0.0F);
    EXPECT_TRUE(same_bits(values_of(cumsum(tensor_on<3>(d, {1, 100, 3}, in), 1)), in));
    EXPECT_TRUE(same_bits(values_of(cumsum(tensor_on<3>(d, {3, 1, 100}, in), 2)), in));
    const std::vector<float> many(9000, -0.0F);
    EXPECT_TRUE(same_bits(values_of(cumsum(tensor_on<3>(d, {1, 1, 9000}, many), 2)), many));
  });
}

// What is scanned in the memory of its result.
TEST(column_scan, has_the_same_bits_of_an_expression_as_of_its_values) {
  const extents n{1, 60'000, 5};
  const tensor<float, 3> x = tensor_on<3>(topos::cpu(), n.shape(), numbers<float>(n, 1000));
  const tensor<float, 3> written = exp(x * 0.001F);
  EXPECT_TRUE(same_bits(values_of(cumsum(exp(x * 0.001F), 1)), values_of(cumsum(written, 1))));
}

TEST(column_scan, has_the_same_bits_on_one_thread_and_on_all) {
  const extents n{1, 60'000, 5};
  const tensor<float, 3> x = tensor_on<3>(topos::cpu(), n.shape(), numbers<float>(n, 1000));
  const std::vector<float> on_all = values_of(cumsum(exp(x * 0.001F), 1));
  const topos::in_place_scope scope;
  EXPECT_TRUE(same_bits(values_of(cumsum(exp(x * 0.001F), 1)), on_all));
}

}  // namespace column_scan_test
