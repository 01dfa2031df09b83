// SPDX-License-Identifier: Apache-2.0

/// Integers have the same bits on every path, with lanes and without.

#include <gtest/gtest.h>

#include <cstdint>

#include "../support/types.hpp"
#include "paths.hpp"

namespace integer_paths_test {

using support::expect_same_on_all_paths;

template <class T>
class integer_paths : public testing::Test {};
using types = support::types<std::int8_t, std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(integer_paths, types);

TYPED_TEST(integer_paths, agree) {
  using T = TypeParam;
  expect_same_on_all_paths<T>("sums", [](auto x, auto y) { return x * 7 + y - x * y; });
  expect_same_on_all_paths<T>("abs", [](auto x, auto y) { return abs(-x) + square(y); });
  expect_same_on_all_paths<T>("bits", [](auto x, auto y) { return (x & y) | (~x ^ y); });
  expect_same_on_all_paths<T>("shifts", [](auto x, auto y) { return (x << (y & 7)) >> 2; });
  expect_same_on_all_paths<T>("extrema",
                              [](auto x, auto y) { return maximum(x, y) - minimum(x, y); });
  expect_same_on_all_paths<T>("quotients",
                              [](auto x, auto y) { return floor_divide(x, y) + x % y; });
  expect_same_on_all_paths<T>("quotients by a number",
                              [](auto x, auto y) { return floor_divide(x, 7) + y % 3; });
  expect_same_on_all_paths<T>("where", [](auto x, auto y) { return where(x > y, x, y); });
  expect_same_on_all_paths<T>("comparisons", [](auto x, auto y) { return (x != y) & (x <= y); });
  expect_same_on_all_paths<T>("in float", [](auto x, auto y) { return x * 0.5f + y / x; });
}

}  // namespace integer_paths_test
