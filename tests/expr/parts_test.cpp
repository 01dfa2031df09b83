// SPDX-License-Identifier: Apache-2.0

/// Numbers taken apart, and put together again.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <topos/expr/math.hpp>
#include <topos/tensor/eval.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace parts_test {

using support::expect_same;
using support::named;
using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::eval;

template <class T>
class parts : public testing::Test {};
using types = support::types<float, double>;
TYPED_TEST_SUITE(parts, types);

TYPED_TEST(parts, of_numbers_have_numpys_bits) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("parts"));
  const auto powers = rows_of<std::int32_t>(named<T>("exponents"));
  on_each_device([&](topos::device d) {
    const auto x = vector_on(d, rows[0]);
    const auto parts = modf(x);
    const auto [fraction, whole] = eval(parts.first, parts.second);
    expect_same("fraction", values_of(fraction), rows[1]);
    expect_same("whole part", values_of(whole), rows[2]);
    const auto [significand, exponent] = frexp(x);
    expect_same("significand", values_of(eval(significand)), rows[3]);
    EXPECT_EQ(values_of(eval(exponent)), powers[0]);
    expect_same("ldexp", values_of(eval(ldexp(x, vector_on(d, powers[1])))), rows[4]);
  });
}

TYPED_TEST(parts, of_integers_are_whole) {
  on_each_device([](topos::device d) {
    const auto x = vector_on(d, std::vector<std::int32_t>{-3, 0, 12});
    const auto [fraction, whole] = modf(x);
    EXPECT_EQ(values_of(eval(fraction)), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(values_of(eval(whole)), (std::vector<float>{-3, 0, 12}));
    EXPECT_EQ(values_of(eval(ldexp(x, 2))), (std::vector<float>{-12, 0, 48}));
  });
}

TEST(ldexp, powers_of_any_width_are_not_cut_off) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {1, -2, 3});
    const float inf = std::numeric_limits<float>::infinity();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    const auto powers = vector_on<std::int64_t>(d, {most, std::int64_t{1} << 32, least});
    const auto naturals = vector_on<std::uint64_t>(d, {~std::uint64_t{0}, 1ULL << 33, 3});
    const auto small = vector_on<std::int8_t>(d, {-1, 1, 127});

    EXPECT_EQ(values_of(eval(ldexp(x, powers))), (std::vector<float>{inf, -inf, 0}));
    EXPECT_EQ(values_of(eval(ldexp(x, naturals))), (std::vector<float>{inf, -inf, 24}));
    EXPECT_EQ(values_of(eval(ldexp(x, small))), (std::vector<float>{0.5f, -4, inf}));
    EXPECT_EQ(values_of(eval(ldexp(x, std::int64_t{1} << 32))),
              (std::vector<float>{inf, -inf, inf}));
    EXPECT_EQ(values_of(eval(ldexp(x, 4294967297U))), (std::vector<float>{inf, -inf, inf}));
  });
}

}  // namespace parts_test
