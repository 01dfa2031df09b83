// SPDX-License-Identifier: Apache-2.0

/// Numbers taken apart, and put together again.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <topos/expr/math.hpp>
#include <topos/tensor/eval.hpp>
#include <type_traits>
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

// Numbers of all bits, and what lies between kinds of them.
template <class T>
std::vector<T> all_kinds() {
  using limits = std::numeric_limits<T>;
  std::vector<T> x = {0, limits::denorm_min(), limits::min(), limits::max(), limits::infinity()};
  x.push_back(std::nextafter(limits::min(), T(0)));
  x.push_back(1);
  x.push_back(std::nextafter(T(1), T(0)));
  std::mt19937_64 random(0);
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  while (x.size() < 2000) x.push_back(std::abs(std::bit_cast<T>(static_cast<bits>(random()))));
  const std::size_t count = x.size();
  for (std::size_t i = 0; i < count; ++i) x.push_back(-x[i]);
  return x;
}

TYPED_TEST(parts, of_all_kinds_of_numbers_are_the_standard_librarys) {
  using T = TypeParam;
  const std::vector<T> x = all_kinds<T>();
  std::vector<T> other;
  std::vector<T> significand, next, fraction;
  std::vector<std::int32_t> exponent;
  for (std::size_t i = 0; i < x.size(); ++i) {
    other.push_back(i % 3 == 0 ? x[i] : x[(i * 7919) % x.size()]);
    int power = 0;
    significand.push_back(std::frexp(x[i], &power));
    exponent.push_back(std::isfinite(x[i]) ? power : 0);
    next.push_back(std::nextafter(x[i], other[i]));
    T whole = 0;
    fraction.push_back(std::modf(x[i], &whole));
  }
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, x);
    const auto parts = frexp(a);
    expect_same("significand", values_of(eval(parts.first)), significand);
    EXPECT_EQ(values_of(eval(parts.second)), exponent);
    expect_same("nextafter", values_of(eval(nextafter(a, vector_on(d, other)))), next);
    expect_same("fraction", values_of(eval(modf(a).first)), fraction);
  });
}

TYPED_TEST(parts, ldexp_rounds_once) {
  using T = TypeParam;
  using whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr int most = 2 * std::numeric_limits<T>::max_exponent + 60;
  const std::vector<T> x = all_kinds<T>();
  std::vector<whole> powers;
  std::vector<T> expected, of_one_power;
  std::mt19937_64 random(1);
  for (const T value : x) {
    const int power = static_cast<int>(random() % (2 * most)) - most;
    powers.push_back(power);
    expected.push_back(std::ldexp(value, power));
    of_one_power.push_back(std::ldexp(value, -30));
  }
  powers[0] = std::numeric_limits<whole>::max();
  powers[1] = std::numeric_limits<whole>::min();
  expected[1] = 0;
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, x);
    expect_same("of powers", values_of(eval(ldexp(a, vector_on(d, powers)))), expected);
    expect_same("of one power", values_of(eval(ldexp(a, -30))), of_one_power);
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
