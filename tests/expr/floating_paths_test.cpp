// SPDX-License-Identifier: Apache-2.0

/// What is exactly rounded has the same bits on every path, with lanes and without.

#include <gtest/gtest.h>

#include "paths.hpp"

namespace floating_paths_test {

using support::expect_same_on_all_paths;

template <class T>
class floating_paths : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(floating_paths, types);

TYPED_TEST(floating_paths, of_arithmetic_agree) {
  using T = TypeParam;
  expect_same_on_all_paths<T>("add", [](auto x, auto y) { return x + y; });
  expect_same_on_all_paths<T>("subtract", [](auto x, auto y) { return x - y; });
  expect_same_on_all_paths<T>("multiply", [](auto x, auto y) { return x * y; });
  expect_same_on_all_paths<T>("divide", [](auto x, auto y) { return x / y; });
  expect_same_on_all_paths<T>("negative", [](auto x, auto y) { return -x + -y; });
  expect_same_on_all_paths<T>("sums of products", [](auto x, auto y) { return x * y + x * x - y; });
  expect_same_on_all_paths<T>("fma", [](auto x, auto y) { return fma(x, y, x); });
  expect_same_on_all_paths<T>("reciprocal",
                              [](auto x, auto y) { return reciprocal(x) + rsqrt(y); });
}

TYPED_TEST(floating_paths, of_roots_signs_and_rounding_agree) {
  using T = TypeParam;
  expect_same_on_all_paths<T>("sqrt", [](auto x, auto y) { return sqrt(x) - sqrt(y); });
  expect_same_on_all_paths<T>("abs", [](auto x, auto y) { return abs(x) - abs(y); });
  expect_same_on_all_paths<T>("floor", [](auto x, auto y) { return floor(x) * ceil(y); });
  expect_same_on_all_paths<T>("rint", [](auto x, auto y) { return rint(x) * trunc(y); });
  expect_same_on_all_paths<T>("minimum", [](auto x, auto y) { return minimum(x, y); });
  expect_same_on_all_paths<T>("maximum", [](auto x, auto y) { return maximum(x, y); });
  expect_same_on_all_paths<T>("clip", [](auto x, auto y) { return clip(x, -1, y); });
  expect_same_on_all_paths<T>("sign", [](auto x, auto y) { return sign(x) + sign(y); });
  expect_same_on_all_paths<T>("copysign", [](auto x, auto y) { return copysign(x, y); });
  expect_same_on_all_paths<T>("fmax", [](auto x, auto y) { return fmax(x, y); });
  expect_same_on_all_paths<T>("fmin", [](auto x, auto y) { return fmin(x, y); });
  expect_same_on_all_paths<T>("fdim", [](auto x, auto y) { return fdim(x, y); });
  expect_same_on_all_paths<T>("fmod", [](auto x, auto y) { return fmod(x, y); });
  expect_same_on_all_paths<T>("remainder", [](auto x, auto y) { return x % y; });
  expect_same_on_all_paths<T>("floor_divide", [](auto x, auto y) { return floor_divide(x, y); });
  expect_same_on_all_paths<T>("pow", [](auto x, auto y) { return pow(x, 5) + pow(y, 0.5); });
}

TYPED_TEST(floating_paths, of_comparisons_and_choices_agree) {
  using T = TypeParam;
  expect_same_on_all_paths<T>("less", [](auto x, auto y) { return x < y; });
  expect_same_on_all_paths<T>("equal", [](auto x, auto y) { return (x == y) | (x != x); });
  expect_same_on_all_paths<T>("logic", [](auto x, auto y) { return (x >= y) ^ !(y > 0); });
  expect_same_on_all_paths<T>("isnan", [](auto x, auto y) { return isnan(x) || isnan(y); });
  expect_same_on_all_paths<T>("where", [](auto x, auto y) { return where(x < y, x, y * 2); });
}

}  // namespace floating_paths_test
