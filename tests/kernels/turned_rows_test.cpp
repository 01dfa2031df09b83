// SPDX-License-Identifier: Apache-2.0

/// Short rows turned into columns: each element where it belongs, and none beside them read.

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <topos/kernels/detail/turned_rows.hpp>
#include <vector>

namespace turned_rows_test {

using topos::index_t;
using topos::detail::copy_rows;
using topos::detail::row_steps;
using topos::detail::turn_rows;

/// Rows in memory of just their size, where a sanitizer sees what is read beside them.
template <class T>
void turns(index_t rows, index_t columns, row_steps steps) {
  std::vector<T> from(
      static_cast<std::size_t>((rows - 1) * steps.stride + (columns - 1) * steps.step + 1));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i % 251);
  const index_t pitch = rows + 1;
  const T unset = static_cast<T>(255);
  std::vector<T> to(static_cast<std::size_t>(pitch * columns), unset);
  turn_rows(to.data(), pitch, from.data(), steps, rows, columns);
  for (index_t c = 0; c < columns; ++c) {
    for (index_t r = 0; r < rows; ++r) {
      ASSERT_EQ(to[static_cast<std::size_t>(c * pitch + r)],
                from[static_cast<std::size_t>(r * steps.stride + c * steps.step)])
          << rows << " x " << columns << ", row " << r << ", column " << c;
    }
    ASSERT_EQ(to[static_cast<std::size_t>(c * pitch + rows)], unset);
  }
}

template <class T>
struct turned_rows : testing::Test {};
using sizes = testing::Types<float, double, std::uint8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::complex<double>>;
TYPED_TEST_SUITE(turned_rows, sizes);

TYPED_TEST(turned_rows, side_by_side) {
  for (index_t columns = 1; columns < 20; ++columns) {
    for (const index_t rows : {1, 2, 15, 16, 17, 31, 33, 64, 79})
      turns<TypeParam>(rows, columns, {columns, 1});
  }
}

TYPED_TEST(turned_rows, apart) {
  for (index_t columns = 1; columns < 20; ++columns) {
    for (const index_t rows : {1, 16, 35}) {
      turns<TypeParam>(rows, columns, {columns + 1, 1});
      turns<TypeParam>(rows, columns, {40, 1});
      turns<TypeParam>(rows, columns, {40, 2});
    }
  }
}

// Windows that move on by less than their length, and one row again and again.
TYPED_TEST(turned_rows, one_over_another) {
  for (index_t columns = 1; columns < 20; ++columns) {
    turns<TypeParam>(40, columns, {1, 1});
    turns<TypeParam>(40, columns, {0, 1});
  }
}

// Each element some times, wherever the next one is.
TYPED_TEST(turned_rows, of_one_element_each) {
  for (index_t columns = 1; columns < 20; ++columns) {
    for (const index_t rows : {1, 15, 16, 17, 33, 64, 150}) {
      for (const index_t stride : {1, 2, 3, -1}) {
        std::vector<TypeParam> from(static_cast<std::size_t>((rows - 1) * std::abs(stride) + 1));
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<TypeParam>(i % 251);
        const TypeParam* const first = stride < 0 ? &from.back() : from.data();
        std::vector<TypeParam> to(static_cast<std::size_t>(rows * columns));
        copy_rows(to.data(), {columns, 1}, first, {stride, 0}, rows, columns);
        for (index_t r = 0; r < rows; ++r) {
          for (index_t c = 0; c < columns; ++c) {
            ASSERT_EQ(to[static_cast<std::size_t>(r * columns + c)], first[r * stride])
                << rows << " x " << columns << ", row " << r << ", column " << c;
          }
        }
      }
    }
  }
}

// Columns beside each other become rows again.
TYPED_TEST(turned_rows, back) {
  for (index_t columns = 1; columns < 20; ++columns) {
    for (const index_t rows : {1, 15, 16, 17, 33, 64}) {
      const index_t pitch = rows + 3;
      std::vector<TypeParam> from(static_cast<std::size_t>((columns - 1) * pitch + rows));
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<TypeParam>(i % 251);
      std::vector<TypeParam> to(static_cast<std::size_t>(rows * columns));
      copy_rows(to.data(), {columns, 1}, from.data(), {1, pitch}, rows, columns);
      for (index_t r = 0; r < rows; ++r) {
        for (index_t c = 0; c < columns; ++c) {
          ASSERT_EQ(to[static_cast<std::size_t>(r * columns + c)],
                    from[static_cast<std::size_t>(c * pitch + r)])
              << rows << " x " << columns << ", row " << r << ", column " << c;
        }
      }
    }
  }
}

}  // namespace turned_rows_test
