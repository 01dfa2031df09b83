// SPDX-License-Identifier: Apache-2.0

/// Many rows of few columns combined: as whole numbers, of which every order has the same result.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

namespace narrow_rows_test {

using topos::eval;
using topos::index_t;
using topos::tensor;
using topos::detail::host_rows::rows_abreast;

constexpr index_t numbers[] = {15, 16, 17, 50, 64, 65, 255, 1000, 4097};

// Numbers from 0 to 6.
std::vector<int> numbers_of(index_t rows, index_t columns) {
  std::vector<int> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * i % 7);
  return values;
}

template <class T, class X>
void check(const X& x, const std::vector<int>& values, index_t rows, index_t columns) {
  const auto sums = eval(sum(x, 0));
  const auto most = eval(max(x, 0));
  const auto sevens = eval(any(x == T(6), 0));
  for (index_t c = 0; c < columns; ++c) {
    int total = 0;
    int largest = 0;
    for (index_t r = 0; r < rows; ++r) {
      const int value = values[static_cast<std::size_t>(r * columns + c)];
      total += value;
      largest = std::max(largest, value);
    }
    const auto at = static_cast<std::size_t>(c);
    ASSERT_EQ(static_cast<int>(sums.host()[at]), total) << rows << " x " << columns << ", " << c;
    ASSERT_EQ(static_cast<int>(most.host()[at]), largest) << rows << " x " << columns << ", " << c;
    ASSERT_EQ(sevens.host()[at], largest == 6) << rows << " x " << columns << ", " << c;
  }
}

template <class T>
struct narrow_rows : testing::Test {};
using types = testing::Types<float, std::uint8_t>;
TYPED_TEST_SUITE(narrow_rows, types);

TYPED_TEST(narrow_rows, have_the_results_of_their_columns) {
  using T = TypeParam;
  for (const index_t columns : {1, 2, 3, 8, 11, 23, 24, 40, 111}) {
    for (const index_t rows : numbers) {
      const std::vector<int> values = numbers_of(rows, columns);
      const std::vector<T> elements(values.begin(), values.end());
      const tensor<T, 2> x = topos::from_host<T, 2>(elements, {rows, columns}, topos::cpu());
      check<T>(x, values, rows, columns);         // they lie in memory,
      check<T>(x + T(0), values, rows, columns);  // are computed,
      check<T>(topos::flip(topos::flip(x, 1) + T(0), 1), values, rows, columns);  // or lie apart
    }
  }
}

TEST(narrow_rows_abreast, are_a_power_of_two_and_few) {
  EXPECT_EQ(rows_abreast(2, 100000), 256);
  EXPECT_EQ(rows_abreast(23, 100000), 16);
  EXPECT_EQ(rows_abreast(111, 100000), 4);
  EXPECT_EQ(rows_abreast(10, 50), 4) << "eight wide rows at least";
  EXPECT_EQ(rows_abreast(10, 15), 1);
}

}  // namespace narrow_rows_test
