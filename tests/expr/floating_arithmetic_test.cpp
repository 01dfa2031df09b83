// SPDX-License-Identifier: Apache-2.0

/// What is exactly rounded has NumPy's bits, for every real type and at its edges.

#include <gtest/gtest.h>

#include <limits>
#include <topos/expr/math.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace floating_arithmetic_test {

using support::expect_same;
using support::named;
using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::eval;

template <class T>
class floating_arithmetic : public testing::Test {};
using types = support::types<topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(floating_arithmetic, types);

TYPED_TEST(floating_arithmetic, gives_numpys_bits) {
  using T = TypeParam;
  const std::vector<std::vector<T>> rows = rows_of<T>(named<T>("binary"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, rows[0]);
    const auto b = vector_on(d, rows[1]);
    std::size_t row = 2;
    const auto check = [&](const char* name, const auto& e, bool with_sign_of_zero = true) {
      expect_same<T>(name, values_of(eval(e)), rows.at(row++), with_sign_of_zero);
    };
    check("add", a + b);
    check("subtract", a - b);
    check("multiply", a * b);
    check("divide", a / b);
    check("floor_divide", floor_divide(a, b));
    check("remainder", a % b);
    check("minimum", minimum(a, b), false);
    check("maximum", maximum(a, b), false);
    check("negative", -a);
    check("abs", abs(a));
    check("square", square(a));
    check("sign", sign(a), false);
    check("reciprocal", reciprocal(a));
    check("floor", floor(a));
    check("ceil", ceil(a));
    check("trunc", trunc(a));
    check("rint", rint(a));
    EXPECT_EQ(row, rows.size());
  });
}

TYPED_TEST(floating_arithmetic, next_number_is_numpys) {
  using T = TypeParam;
  const auto ab = rows_of<T>(named<T>("binary_functions"));
  const auto expected = rows_of<T>(named<T>("nextafter"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, ab[0]);
    const auto b = vector_on(d, ab[1]);
    expect_same<T>("nextafter", values_of(eval(nextafter(a, b))), expected[0]);
  });
}

TYPED_TEST(floating_arithmetic, next_number_passes_zero_and_the_largest) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const T infinity(std::numeric_limits<float>::infinity());
    const auto x = vector_on<T>(d, {T(0.0f), T(-0.0f), T(0.0f), infinity,
                                    T(-std::numeric_limits<float>::infinity()), T(0.0f)});
    const auto to = vector_on<T>(d, {T(-1.0f), T(1.0f), T(-0.0f), T(0.0f), T(0.0f), T(0.0f)});
    const std::vector<T> got = values_of(eval(nextafter(x, to)));
    const std::vector<T> back = values_of(eval(nextafter(vector_on(d, got), x)));

    EXPECT_LT(static_cast<double>(got[0]), 0);
    EXPECT_EQ(static_cast<double>(got[1]), -static_cast<double>(got[0]));
    EXPECT_EQ(static_cast<double>(got[2]), 0);
    EXPECT_EQ(static_cast<double>(got[3]), -static_cast<double>(got[4]));
    for (std::size_t i = 0; i != back.size(); ++i)
      EXPECT_EQ(static_cast<double>(back[i]), static_cast<double>(values_of(x)[i])) << i;
  });
}

template <class T>
class fused_arithmetic : public testing::Test {};
using wide_types = support::types<float, double>;
TYPED_TEST_SUITE(fused_arithmetic, wide_types);

TYPED_TEST(fused_arithmetic, is_rounded_once) {
  using T = TypeParam;
  const auto ab = rows_of<T>(named<T>("binary_functions"));
  const auto rows = rows_of<T>(named<T>("fma"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, ab[0]);
    const auto b = vector_on(d, ab[1]);
    const auto c = vector_on(d, rows[0]);
    expect_same<T>("fma", values_of(eval(fma(a, b, c))), rows[1]);
  });
}

TYPED_TEST(fused_arithmetic, expressions_are_not_contracted) {
  // Each operation rounds by itself, whatever the compiler would fuse: the same bits on all paths.
  using T = TypeParam;
  const std::vector<T> u = support::varied<T>(33, 1);
  const std::vector<T> v = support::varied<T>(33, 2);
  std::vector<T> expected(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    const volatile T product = u[i] * v[i];
    expected[i] = product + u[i];
  }
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, u);
    const auto b = vector_on(d, v);
    expect_same<T>("a * b + a", values_of(eval(a * b + a)), expected);
  });
}

}  // namespace floating_arithmetic_test
