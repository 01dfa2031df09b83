// SPDX-License-Identifier: Apache-2.0

/// Comparisons, logic and the kinds of numbers against NumPy's, for floating-point numbers.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/math.hpp>
#include <vector>

#include "../support/types.hpp"
#include "comparison.hpp"

namespace comparison_test {

using support::named;
using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::eval;

template <class T>
class floating_comparison : public testing::Test {};
using types = support::types<topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(floating_comparison, types);

TYPED_TEST(floating_comparison, is_numpys) { support::expect_numpys_comparisons<TypeParam>(); }

template <class T>
class kinds_of_numbers : public testing::Test {};
TYPED_TEST_SUITE(kinds_of_numbers, types);

TYPED_TEST(kinds_of_numbers, are_numpys) {
  using T = TypeParam;
  const auto operands = rows_of<T>(named<T>("binary"));
  const auto expected = rows_of<bool>(named<T>("comparison"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, operands[0]);
    EXPECT_EQ(values_of(eval(isnan(a))), expected.at(9));
    EXPECT_EQ(values_of(eval(isinf(a))), expected.at(10));
    EXPECT_EQ(values_of(eval(isfinite(a))), expected.at(11));
    EXPECT_EQ(values_of(eval(signbit(a))), expected.at(12));
  });
}

TEST(comparison, of_complex_numbers_tells_equal_from_different) {
  using T = Kokkos::complex<float>;
  const auto operands = rows_of<T>(named<T>("binary"));
  const auto expected = rows_of<bool>(named<T>("comparison"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, operands[0]);
    const auto b = vector_on(d, operands[1]);
    EXPECT_EQ(values_of(eval(a == b)), expected.at(0));
    EXPECT_EQ(values_of(eval(a != b)), expected.at(1));
    EXPECT_EQ(values_of(eval(a == a)), std::vector<bool>(operands[0].size(), true));
  });
}

TEST(comparison, of_whole_numbers_knows_no_infinite_ones) {
  on_each_device([](topos::device d) {
    const auto n = vector_on<std::int64_t>(d, {0, -5, std::int64_t{1} << 62});
    EXPECT_EQ(values_of(eval(isnan(n))), std::vector<bool>(3, false));
    EXPECT_EQ(values_of(eval(isfinite(n))), std::vector<bool>(3, true));
  });
}

}  // namespace comparison_test
