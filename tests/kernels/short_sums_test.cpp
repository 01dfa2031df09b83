// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/generators.hpp>
#include <topos/expr/memory_elements.hpp>
#include <topos/expr/operation_row.hpp>
#include <topos/kernels/detail/integer_rows.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/reduction.hpp>
#include <type_traits>

#include "../support/types.hpp"

namespace short_sums_test {

using topos::index_t;

template <class T>
struct short_sums : testing::Test {};
using types = support::types<std::int8_t, std::int16_t, std::uint16_t, bool, std::uint8_t>;
TYPED_TEST_SUITE(short_sums, types);

// Words that are twice as wide hold 256 bytes each, or 65,536 elements of two: the sums of many
// more of the ends of a type's range, and of a few more and fewer than those, are exact. Reductions
// give rows in shorter pieces: so this is of what combines a row, of both forms that conversions
// have.
TYPED_TEST(short_sums, of_the_ends_of_a_range_do_not_overflow) {
  using T = TypeParam;
  using sum = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  using elements = topos::detail::memory_elements<T>;
  using widened = topos::detail::dense_row<topos::detail::widened_elements<elements, sum>>;
  constexpr index_t words = 128 / (2 * sizeof(T));
  constexpr index_t block = words << 8 * sizeof(T);
  constexpr index_t most = block + words + 3;
  const topos::detail::add_op add;
  for (const T value : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
    const auto x = topos::full<T>(topos::shape<1>{most}, value, topos::cpu());
    const T* const values = x.block_until_ready().data();
    const auto converted = topos::detail::make_row(topos::detail::convert_op<sum>{},
                                                   topos::detail::memory_row<T>{{values}});
    for (const index_t n : {words - 1, words, words + 1, block - 1, block, most}) {
      const auto expected = static_cast<sum>(n * static_cast<std::int64_t>(value));
      EXPECT_EQ(topos::detail::host_rows::reduce_integers(add, converted, 0, n), expected) << n;
      EXPECT_EQ(topos::detail::host_rows::reduce_integers(add, widened{{{values}}}, 0, n), expected)
          << n;
      EXPECT_EQ(topos::detail::host_rows::reduce_rest(add, converted, 0, n), expected) << n;
    }
  }
}

// Numbers of both signs, from memory, one row after the other and computed.
TYPED_TEST(short_sums, are_those_of_a_loop) {
  using T = TypeParam;
  constexpr index_t rows = 5;
  for (const index_t columns : {1, 15, 33, 64, 127, 128, 1000, 20000}) {
    const auto x = topos::empty<T>(topos::shape<2>{rows, columns}, topos::cpu());
    auto* const to = x.data();
    std::uint32_t state = 1;
    for (index_t i = 0; i < rows * columns; ++i) {
      state = state * 1664525U + 1013904223U;
      to[i] = static_cast<T>(state >> 13U);
    }
    const auto sums = topos::eval(topos::sum(x, 1));
    const auto of_larger = topos::eval(topos::sum(x > T(1), 1));
    const auto of_products = topos::eval(topos::sum(x * x, 1));
    std::int64_t all = 0;
    for (index_t r = 0; r < rows; ++r) {
      std::int64_t expected = 0, larger = 0, products = 0;
      for (index_t c = 0; c < columns; ++c) {
        const T value = to[r * columns + c];
        expected += value;
        larger += value > T(1);
        products += static_cast<T>(std::int64_t{value} * value);
      }
      EXPECT_EQ(static_cast<std::int64_t>(sums.item(r)), expected) << columns;
      EXPECT_EQ(static_cast<std::int64_t>(of_larger.item(r)), larger) << columns;
      EXPECT_EQ(static_cast<std::int64_t>(of_products.item(r)), products) << columns;
      all += expected;
    }
    EXPECT_EQ(static_cast<std::int64_t>(topos::sum(x).item()), all) << columns;
  }
}

// Truths that lanes of other types make are counted there, or written down with short rows.
template <class T>
void count_larger(index_t rows, index_t columns) {
  const index_t n = rows * columns;
  const auto x = topos::eval(topos::astype<T>(topos::arange<std::int32_t>(n) % 7));
  const auto in_rows = x.reshape({rows, columns});
  const auto counts = topos::eval(topos::sum(in_rows > T(3), 1));
  const auto apart = topos::eval(topos::sum(topos::slice(in_rows, {}, {{}, {}, 2}) > T(3), 1));
  std::int64_t all = 0;
  for (index_t r = 0; r < rows; ++r) {
    std::int64_t expected = 0, of_even = 0;
    for (index_t c = 0; c < columns; ++c) {
      const bool is_larger = (r * columns + c) % 7 > 3;
      expected += is_larger;
      of_even += is_larger && c % 2 == 0;
    }
    EXPECT_EQ(counts.item(r), expected) << rows << ' ' << columns;
    EXPECT_EQ(apart.item(r), of_even) << rows << ' ' << columns;
    all += expected;
  }
  EXPECT_EQ(topos::sum(x > T(3)).item(), all) << n;
  EXPECT_EQ(topos::mean(x > T(3)).item(), static_cast<float>(all) / static_cast<float>(n)) << n;
}

template <class T>
struct short_sums_of_truths : testing::Test {};
using lane_types = support::types<std::int16_t, std::int32_t, std::int64_t, double, float>;
TYPED_TEST_SUITE(short_sums_of_truths, lane_types);

TYPED_TEST(short_sums_of_truths, are_how_many_there_are) {
  for (const index_t columns : {1, 7, 16, 17, 33, 63, 64, 111, 112, 130, 1000, 10007})
    count_larger<TypeParam>(3, columns);
}

}  // namespace short_sums_test
