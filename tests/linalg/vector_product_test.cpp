// SPDX-License-Identifier: Apache-2.0

/// Products with vectors, which are reductions: of all types, long rows, views and expressions.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/linalg/matmul.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace vector_product_test {

using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::matmul;

// Small numbers whose products and sums every type holds exactly.
template <class T>
std::vector<T> few(index_t count, index_t start) {
  std::vector<T> values;
  for (index_t i = start; i < start + count; ++i) values.push_back(T(i * i % 7 % 2));
  return values;
}

template <class T>
class vector_product : public testing::Test {};
using types =
    support::types<double, topos::f16, Kokkos::complex<float>, std::int8_t, std::uint64_t>;
TYPED_TEST_SUITE(vector_product, types);

TYPED_TEST(vector_product, is_the_sum_of_products) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const auto& [m, k] : {std::pair<index_t, index_t>{1, 1},
                               {5, 3},
                               {3, 0},
                               {0, 3},
                               {2, 127},
                               {130, 60},
                               {300, 100}}) {
      SCOPED_TRACE(m * 10000 + k);
      const std::vector<T> matrix = few<T>(m * k, 0);
      const std::vector<T> right = few<T>(k, 5);
      const std::vector<T> left = few<T>(m, 2);
      std::vector<T> by_right(static_cast<std::size_t>(m), T(0));
      std::vector<T> by_left(static_cast<std::size_t>(k), T(0));
      for (index_t i = 0; i < m; ++i) {
        for (index_t q = 0; q < k; ++q) {
          const auto at = [](const auto& values, index_t n) {
            return T(values[static_cast<std::size_t>(n)]);
          };
          const T element = at(matrix, i * k + q);
          const auto row = static_cast<std::size_t>(i);
          const auto column = static_cast<std::size_t>(q);
          by_right[row] = T(element * at(right, q) + by_right[row]);
          by_left[column] = T(at(left, i) * element + by_left[column]);
        }
      }
      const auto a = tensor_on<2>(d, {m, k}, matrix);
      const auto v = vector_on(d, right);
      const auto u = vector_on(d, left);

      EXPECT_EQ(values_of(matmul(a, v)), by_right);
      EXPECT_EQ(values_of(matmul(v, topos::transpose(a))), by_right);
      EXPECT_EQ(values_of(matmul(u, a)), by_left);
      EXPECT_EQ(values_of(matmul(topos::transpose(a), u)), by_left);
    }
  });
}

TEST(matmul, of_a_stack_and_a_vector_gives_each_row_its_bits_alone) {
  on_each_device([](topos::device d) {
    const auto waves = topos::sin(topos::arange<float>(0, 3 * 70 * 210, 1, d));
    const auto stack = topos::eval(topos::reshape(waves, topos::shape<3>{3, 70, 210}));
    const auto v = topos::eval(topos::cos(topos::arange<float>(0, 210, 1, d)));
    const std::vector<float> all = values_of(matmul(stack, v));

    for (const index_t row : {0, 69, 70, 209}) {
      const float alone = matmul(stack.row(row / 70).row(row % 70), v).item();
      EXPECT_EQ(alone, all[static_cast<std::size_t>(row)]) << row;
    }
  });
}

TEST(matmul, with_a_column_of_a_matrix_gives_each_row_its_bits_alone) {
  on_each_device([](topos::device d) {
    const auto a = topos::eval(topos::reshape(topos::sin(topos::arange<float>(0, 40 * 50, 1, d)),
                                              topos::shape<2>{40, 50}));
    const auto wide = topos::eval(topos::reshape(topos::cos(topos::arange<float>(0, 50 * 90, 1, d)),
                                                 topos::shape<2>{50, 90}));
    const auto v = topos::slice(wide, topos::range{}, 7);
    const std::vector<float> all = values_of(matmul(a, v));

    for (const index_t row : {0, 13, 39}) {
      EXPECT_EQ(matmul(a.row(row), v).item(), all[static_cast<std::size_t>(row)]) << row;
    }
  });
}

TEST(matmul, of_truths_and_a_vector_says_whether_both_are_true_somewhere) {
  on_each_device([](topos::device d) {
    const auto a =
        topos::eval(tensor_on<2>(d, {2, 3}, std::vector<float>{1, 0, 0, 0, 1, 1}) > 0.5f);
    const auto v = topos::eval(vector_on(d, std::vector<float>{1, 0, 0}) > 0.5f);

    EXPECT_EQ(values_of(matmul(a, v)), (std::vector<bool>{true, false}));
    EXPECT_EQ(values_of(matmul(v, topos::transpose(a))), (std::vector<bool>{true, false}));
  });
}

struct counted {
  int* calls;
  KOKKOS_FUNCTION float operator()(float x) const {
    ++*calls;
    return x;
  }
};

TEST(matmul, computes_the_elements_of_a_vector_once) {
  const topos::device d = topos::cpu();
  const auto a = topos::ones<float, 2>({50, 40}, d);
  const auto v = topos::ones<float, 1>({40}, d);
  const auto u = topos::ones<float, 1>({50}, d);
  int right = 0;
  int left = 0;

  EXPECT_EQ(values_of(matmul(a, topos::map(counted{&right}, v))), std::vector<float>(50, 40));
  EXPECT_EQ(values_of(matmul(topos::map(counted{&left}, u), a)), std::vector<float>(40, 50));

  // Lanes after the last element count too.
  EXPECT_LE(right, 40 + 64);
  EXPECT_LE(left, 50 + 64);
}

}  // namespace vector_product_test
