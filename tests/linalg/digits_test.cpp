// SPDX-License-Identifier: Apache-2.0

/// Products of precision::high: against sums in double, and in the cases that its digits make hard.
/// Where the CPU has no matrix unit they are float32's, of which the same is true.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <topos/async/in_place_scope.hpp>
#include <topos/linalg/prepared_matrix.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace digits_test {

using support::tensor_on;
using support::values_of;
using topos::index_t;
using topos::precision;
using topos::prepared_matrix;
using topos::tensor;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Numbers between -1 and 1, the same at every run.
std::vector<float> numbers(index_t count, std::uint32_t seed) {
  std::vector<float> made;
  made.reserve(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    made.push_back(static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f);
  }
  return made;
}

tensor<float, 2> matrix(index_t rows, index_t columns, const std::vector<float>& values) {
  return tensor_on<2>(topos::cpu(), {rows, columns}, values);
}

bool has_matrix_unit() {
  return topos::matmul_provider(topos::device_kind::cpu, precision::high) == "AMX";
}

struct sizes {
  index_t m;
  index_t n;
  index_t k;
};

// How far a product is from sums in double.
struct distance {
  double largest = 0;  // relative to max|x| sum|w| + max|w| sum|x| of its rows
  double squares = 0;  // of all, absolute
};

distance from_double(const sizes& of, const std::vector<float>& x, const std::vector<float>& w,
                     precision p) {
  const auto [m, n, k] = of;
  const std::vector<float> y =
      values_of(prepared_matrix(matrix(n, k, w), p).multiply(matrix(m, k, x)));
  distance found;
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      double x_sum = 0;
      double w_sum = 0;
      double x_largest = 0;
      double w_largest = 0;
      for (index_t q = 0; q < k; ++q) {
        const double a = x[i * k + q];
        const double b = w[j * k + q];
        sum += a * b;
        x_sum += std::abs(a);
        w_sum += std::abs(b);
        x_largest = std::max(x_largest, std::abs(a));
        w_largest = std::max(w_largest, std::abs(b));
      }
      const double error = std::abs(y[i * n + j] - sum);
      found.largest = std::max(found.largest, error / (x_largest * w_sum + w_largest * x_sum));
      found.squares += error * error;
    }
  }
  return found;
}

TEST(digits, follow_sums_in_double) {
  // Tiles that are whole and that are not, one step of terms, several, and more than are summed at
  // once.
  for (const sizes& of : {sizes{1, 1, 1}, sizes{40, 30, 4}, sizes{16, 16, 64}, sizes{17, 15, 65},
                          sizes{33, 48, 130}, sizes{5, 100, 513}, sizes{70, 20, 1600}}) {
    SCOPED_TRACE(testing::Message() << of.m << " x " << of.n << " x " << of.k);
    const std::vector<float> x = numbers(of.m * of.k, 1);
    const std::vector<float> w = numbers(of.n * of.k, 2);
    EXPECT_LT(from_double(of, x, w, precision::high).largest, 0x1p-22);
  }
}

TEST(digits, follow_sums_in_double_where_few_numbers_are_large) {
  const sizes of{40, 30, 200};
  std::vector<float> x = numbers(of.m * of.k, 1);
  for (std::size_t i = 7; i < x.size(); i += 50) x[i] *= 1000;
  EXPECT_LT(from_double(of, x, numbers(of.n * of.k, 2), precision::high).largest, 0x1p-22);
}

TEST(digits, of_some_hundred_terms_are_as_exact_as_float32) {
  for (const index_t k : {384, 1600}) {
    for (const bool one_sign : {false, true}) {
      SCOPED_TRACE(testing::Message() << k << (one_sign ? ", of one sign" : ""));
      const sizes of{70, 64, k};
      std::vector<float> x = numbers(of.m * k, 1);
      std::vector<float> w = numbers(of.n * k, 2);
      if (one_sign) {
        for (float& value : x) value = std::abs(value);
        for (float& value : w) value = std::abs(value);
      }
      const double high = from_double(of, x, w, precision::high).squares;
      const double highest = from_double(of, x, w, precision::highest).squares;
      EXPECT_LT(std::sqrt(high / highest), 1.1);
    }
  }
}

TEST(digits, of_a_row_depend_on_that_row_alone) {
  if (!has_matrix_unit()) GTEST_SKIP() << "this CPU has no AMX";
  // Few rows, of which threads share the columns; some; and digits that fill several caches.
  for (const sizes& of : {sizes{1, 100, 600}, sizes{70, 50, 600}, sizes{500, 20, 1600}}) {
    const auto [m, n, k] = of;
    SCOPED_TRACE(m);
    const std::vector<float> x = numbers(m * k, 3);
    const prepared_matrix w(matrix(n, k, numbers(n * k, 4)), precision::high);
    const tensor<float, 1> bias = tensor_on<1>(topos::cpu(), {n}, numbers(n, 5));
    const auto product = [&, k = k](index_t rows, const std::vector<float>& of_x) {
      return values_of(w.multiply(matrix(rows, k, of_x), bias, topos::activation::gelu));
    };
    const std::vector<float> together = product(m, x);
    const topos::in_place_scope one_thread;
    for (index_t i = 0; i < m; i += 13) {
      const std::vector<float> row(x.begin() + i * k, x.begin() + (i + 1) * k);
      const auto begin = together.begin() + i * n;
      EXPECT_EQ(product(1, row), std::vector<float>(begin, begin + n)) << i;
    }
  }
}

TEST(digits, of_what_is_not_finite_make_nan_of_that_row_or_column) {
  if (!has_matrix_unit()) GTEST_SKIP() << "this CPU has no AMX";
  for (const float bad : {nan, infinity, -infinity}) {
    std::vector<float> x(3 * 4, 1.0f);
    x[5] = bad;
    const prepared_matrix ones(matrix(2, 4, std::vector<float>(8, 1.0f)), precision::high);
    const std::vector<float> rows = values_of(ones.multiply(matrix(3, 4, x)));
    EXPECT_FLOAT_EQ(rows[0], 4);
    EXPECT_TRUE(std::isnan(rows[2])) << bad;
    EXPECT_TRUE(std::isnan(rows[3])) << bad;
    EXPECT_FLOAT_EQ(rows[4], 4);

    const prepared_matrix w(matrix(3, 4, x), precision::high);
    const std::vector<float> columns =
        values_of(w.multiply(matrix(1, 4, std::vector<float>(4, 1.0f))));
    EXPECT_FLOAT_EQ(columns[0], 4);
    EXPECT_TRUE(std::isnan(columns[1])) << bad;
    EXPECT_FLOAT_EQ(columns[2], 4);
  }
}

TEST(digits, of_rows_of_1e_minus_30_to_3e38_neither_overflow_nor_vanish) {
  const index_t k = 100;
  // Without a matrix unit k float32s are added, and all may be rounded the same way.
  const double most = has_matrix_unit() ? 1e-6 : k * 0x1p-24;
  const auto check = [&](float of_x, float of_w) {
    SCOPED_TRACE(testing::Message() << of_x << " " << of_w);
    const prepared_matrix w(matrix(1, k, std::vector<float>(k, of_w)), precision::high);
    const std::vector<float> y = values_of(w.multiply(matrix(1, k, std::vector<float>(k, of_x))));
    EXPECT_NEAR(y[0] / (100.0 * of_w * of_x), 1, most);
  };
  for (const float size : {1e-30f, 1e-10f, 1.0f, 1e10f, 1e30f}) check(size, 1 / size);
  check(3e38f, 1e-10f);
  check(1e-10f, 3e38f);
  check(1e-15f, 1e-15f);
}

TEST(digits, of_zeros_leave_the_bias) {
  const prepared_matrix w(topos::zeros<float, 2>({3, 70}), precision::high);
  const tensor<float, 1> bias = tensor_on<1>(topos::cpu(), {3}, std::vector<float>{1, -2, 3});
  EXPECT_EQ(values_of(w.multiply(topos::zeros<float, 2>({2, 70}), bias)),
            (std::vector<float>{1, -2, 3, 1, -2, 3}));
}

TEST(matmul_provider, of_high_precision_is_the_matrix_unit_or_that_of_the_highest) {
  const auto name = topos::matmul_provider(topos::device_kind::cpu, precision::high);
  if (name != "AMX") {
    EXPECT_EQ(name, topos::matmul_provider(topos::device_kind::cpu));
  }
}

}  // namespace digits_test
