// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <topos/core/half.hpp>
#include <topos/expr/lanes.hpp>

#include "../support/types.hpp"

namespace lanes_apart_test {

namespace lane = topos::lane;
using topos::index_t;

template <class T>
class lanes_apart : public testing::Test {};
using types = support::types<double, std::int64_t, std::int32_t, topos::f16, std::uint8_t, bool,
                             std::int8_t, float>;
TYPED_TEST_SUITE(lanes_apart, types);

// From memory that ends with the last one, to memory of which nothing else is written.
TYPED_TEST(lanes_apart, are_copied_as_far_as_they_come_whole) {
  using T = TypeParam;
  for (const index_t step : {-2, -1, 0, 1, 2, 3, 4, 5, 100}) {
    for (const index_t count : {1, 7, 8, 15, 16, 17, 33, 63, 64, 100}) {
      const index_t furthest = std::abs(step) * (count - 1);
      const auto from = std::make_unique<T[]>(static_cast<std::size_t>(furthest + 1));
      const auto value = [](index_t i) { return static_cast<T>(i * 7 % 10 < 5 ? i % 100 : 0); };
      for (index_t i = 0; i <= furthest; ++i) from[static_cast<std::size_t>(i)] = value(i);
      const auto out = std::make_unique<T[]>(static_cast<std::size_t>(count + 1));
      for (index_t i = 0; i <= count; ++i) out[static_cast<std::size_t>(i)] = static_cast<T>(1);

      const index_t first = step < 0 ? furthest : 0;
      const index_t done = lane::copy_whole(out.get(), from.get() + first, step, count);
      ASSERT_LE(done, count);
      ASSERT_TRUE(done == 0 || (-1 <= step && step <= 4));
      for (index_t i = 0; i <= count; ++i) {
        const T expected = i < done ? value(first + i * step) : static_cast<T>(1);
        ASSERT_EQ(out[static_cast<std::size_t>(i)], expected) << step << ' ' << count << ' ' << i;
      }
    }
  }
}

// The same of columns that become rows.
TYPED_TEST(lanes_apart, of_columns_are_put_beside_each_other) {
  using T = TypeParam;
  const auto value = [](index_t i) { return static_cast<T>(i * 7 % 10 < 5 ? i % 100 : 0); };
  for (const index_t columns : {1, 2, 3, 4, 5}) {
    for (const index_t rows : {1, 7, 8, 15, 16, 17, 33, 63, 64, 65, 150}) {
      const index_t step = rows + 3;
      const index_t size = (columns - 1) * step + rows;
      const auto from = std::make_unique<T[]>(static_cast<std::size_t>(size));
      for (index_t i = 0; i < size; ++i) from[static_cast<std::size_t>(i)] = value(i);
      const index_t all = rows * columns;
      const auto out = std::make_unique<T[]>(static_cast<std::size_t>(all + 1));
      for (index_t i = 0; i <= all; ++i) out[static_cast<std::size_t>(i)] = static_cast<T>(1);

      const index_t done = lane::interleave(out.get(), from.get(), step, columns, rows);
      ASSERT_LE(done, rows);
      ASSERT_TRUE(done == 0 || (2 <= columns && columns <= 4));
      for (index_t i = 0; i <= all; ++i) {
        const T expected =
            i < done * columns ? value(i % columns * step + i / columns) : static_cast<T>(1);
        ASSERT_EQ(out[static_cast<std::size_t>(i)], expected) << columns << ' ' << rows << ' ' << i;
      }
    }
  }
}

}  // namespace lanes_apart_test
