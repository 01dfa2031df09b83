// SPDX-License-Identifier: Apache-2.0

/// Complex numbers: arithmetic and functions against NumPy's and Python's values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace complex_arithmetic_test {

using support::expect_same;
using support::named;
using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::eval;

template <class T>
class complex_arithmetic : public testing::Test {};
using types = support::types<Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(complex_arithmetic, types);

// Near each other in the plane: within units in the last place of the larger part.
template <class T>
void expect_near(const std::string& what, const std::vector<T>& got, const std::vector<T>& expected,
                 double units) {
  ASSERT_EQ(got.size(), expected.size());
  using real = typename T::value_type;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto size = std::max(std::abs(expected[i].real()), std::abs(expected[i].imag()));
    const real unit = size * std::numeric_limits<real>::epsilon();
    EXPECT_LE(std::abs(got[i].real() - expected[i].real()), units * unit)
        << what << " at " << i << ": " << support::shown(got[i]) << ", expected "
        << support::shown(expected[i]);
    EXPECT_LE(std::abs(got[i].imag() - expected[i].imag()), units * unit)
        << what << " at " << i << ": " << support::shown(got[i]) << ", expected "
        << support::shown(expected[i]);
  }
}

TYPED_TEST(complex_arithmetic, gives_numpys_values) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("binary"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, rows[0]);
    const auto b = vector_on(d, rows[1]);
    expect_same<T>("add", values_of(eval(a + b)), rows[2]);
    expect_same<T>("subtract", values_of(eval(a - b)), rows[3]);
    expect_near<T>("multiply", values_of(eval(a * b)), rows[4], 4);
    expect_near<T>("divide", values_of(eval(a / b)), rows[5], 8);
    ASSERT_EQ(rows.size(), 6U);
  });
}

TYPED_TEST(complex_arithmetic, functions_give_pythons_values) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("unary"));
  on_each_device([&](topos::device d) {
    const auto z = vector_on(d, rows[0]);
    std::size_t row = 1;
    const auto check = [&](const char* name, const auto& e, double units = 16) {
      expect_near<T>(name, values_of(eval(e)), rows.at(row++), units);
    };
    check("negative", -z, 0);
    check("square", square(z), 4);
    check("reciprocal", reciprocal(z), 8);
    check("conj", conj(z), 0);
    check("exp", exp(z));
    check("log", log(z));
    check("log10", log10(z));
    check("sqrt", sqrt(z));
    check("sin", sin(z));
    check("cos", cos(z));
    check("tan", tan(z));
    check("sinh", sinh(z));
    check("cosh", cosh(z));
    check("tanh", tanh(z));
    check("asin", asin(z), 24);
    check("acos", acos(z), 24);
    check("atan", atan(z));
    check("asinh", asinh(z));
    check("acosh", acosh(z));
    check("atanh", atanh(z));
    check("pow", pow(z, 2.5), 64);
    check("sigmoid", sigmoid(z));
    EXPECT_EQ(row, rows.size());
  });
}

TYPED_TEST(complex_arithmetic, exponentials_are_exact_where_they_cancel) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("exponentials"));
  on_each_device([&](topos::device d) {
    const auto z = vector_on(d, rows[0]);
    expect_near<T>("exp2", values_of(eval(exp2(z))), rows.at(1), 64);  // exp's, of a rounded power
    expect_near<T>("expm1", values_of(eval(expm1(z))), rows.at(2), 4);
    expect_near<T>("log2", values_of(eval(log2(z))), rows.at(3), 4);
    expect_near<T>("log1p", values_of(eval(log1p(z))), rows.at(4), 4);
  });
}

// Finite numbers within units in the last place of the larger part; of others their kinds alone,
// since C leaves signs of infinities and NaN open.
template <class T>
void expect_numpys(const std::string& what, const std::vector<T>& z, const std::vector<T>& got,
                   const std::vector<T>& expected, double units) {
  ASSERT_EQ(got.size(), expected.size());
  using real = typename T::value_type;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T e = expected[i];
    const T g = got[i];
    bool fits = std::isinf(e.real()) == std::isinf(g.real()) &&
                std::isinf(e.imag()) == std::isinf(g.imag()) &&
                std::isnan(e.real()) == std::isnan(g.real()) &&
                std::isnan(e.imag()) == std::isnan(g.imag());
    if (std::isfinite(e.real()) && std::isfinite(e.imag())) {
      const real size = std::max(std::abs(e.real()), std::abs(e.imag()));
      const real most = static_cast<real>(units) * size * std::numeric_limits<real>::epsilon() +
                        std::numeric_limits<real>::denorm_min();
      fits = std::abs(g.real() - e.real()) <= most && std::abs(g.imag() - e.imag()) <= most;
    }
    EXPECT_TRUE(fits) << what << support::shown(z[i]) << ": " << support::shown(g) << ", expected "
                      << support::shown(e);
  }
}

TYPED_TEST(complex_arithmetic, functions_are_numpys_in_the_whole_plane) {
  using T = TypeParam;
  const auto rows = rows_of<T>(named<T>("plane"));
  // On the CPU alone: a GPU's are Kokkos'.
  const auto z = vector_on(topos::cpu(), rows[0]);
  std::size_t row = 1;
  const auto check = [&](const char* name, const auto& e, double units = 4) {
    expect_numpys<T>(name, rows[0], values_of(eval(e)), rows.at(row++), units);
  };
  check("exp", exp(z));
  check("log", log(z));
  check("log10", log10(z));
  check("sqrt", sqrt(z));
  check("sin", sin(z));
  check("cos", cos(z));
  check("tan", tan(z));
  check("sinh", sinh(z));
  check("cosh", cosh(z));
  check("tanh", tanh(z));
  check("asin", asin(z));
  check("acos", acos(z));
  check("atan", atan(z));
  check("asinh", asinh(z));
  check("acosh", acosh(z));
  check("atanh", atanh(z));
  check("reciprocal", reciprocal(z));
  check("divide", z / flip(z));
  check("pow 0", pow(z, 0));
  check("pow 3", pow(z, 3));
  check("pow -1", pow(z, -1));
  check("pow 0.5", pow(z, 0.5));
  check("pow", pow(z, T(1.5, -0.5)), 64);
  EXPECT_EQ(row, rows.size());
}

TYPED_TEST(complex_arithmetic, small_whole_powers_are_products) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const auto z = vector_on<T>(d, {T(1, 1), T(0, 2), T(3, -4)});
    const auto powers = vector_on<T>(d, {T(2, 0), T(3, 0), T(-1, 0)});
    EXPECT_EQ(values_of(eval(pow(z, 2))), (std::vector<T>{T(0, 2), T(-4, 0), T(-7, -24)}));
    EXPECT_EQ(values_of(eval(pow(z, 0))), (std::vector<T>{T(1, 0), T(1, 0), T(1, 0)}));
    EXPECT_EQ(values_of(eval(pow(z, powers)))[0], T(0, 2));
    EXPECT_EQ(values_of(eval(pow(z, powers)))[1], T(0, -8));
    EXPECT_EQ(values_of(eval(pow(vector_on<T>(d, {T(0, 0)}), 0))), (std::vector<T>{T(1, 0)}));
  });
}

TYPED_TEST(complex_arithmetic, kinds_are_those_of_their_parts) {
  using T = TypeParam;
  using real_type = typename T::value_type;
  constexpr real_type inf = std::numeric_limits<real_type>::infinity();
  const auto nan = std::numeric_limits<real_type>::quiet_NaN();
  on_each_device([&](topos::device d) {
    const auto z = vector_on<T>(d, {T(1, 2), T(-inf, 0), T(0, inf), T(nan, 1), T(nan, inf)});
    // By NumPy 2.4.
    EXPECT_EQ(values_of(eval(isfinite(z))), (std::vector<bool>{true, false, false, false, false}));
    EXPECT_EQ(values_of(eval(isinf(z))), (std::vector<bool>{false, true, true, false, true}));
    EXPECT_EQ(values_of(eval(isnan(z))), (std::vector<bool>{false, false, false, true, true}));
  });
}

TYPED_TEST(complex_arithmetic, parts_and_sizes_are_real) {
  using T = TypeParam;
  using real_type = typename T::value_type;
  const auto rows = rows_of<T>(named<T>("unary"));
  const auto expected = rows_of<real_type>(named<T>("real"));
  on_each_device([&](topos::device d) {
    const auto z = vector_on(d, rows[0]);
    support::expect_close<real_type>("abs", expected[1], values_of(eval(abs(z))), expected[0], 2);
    expect_same<real_type>("real", values_of(eval(real(z))), expected[1]);
    expect_same<real_type>("imag", values_of(eval(imag(z))), expected[2]);
  });
}

TYPED_TEST(complex_arithmetic, meets_real_numbers_as_complex) {
  using T = TypeParam;
  using real_type = typename T::value_type;
  on_each_device([](topos::device d) {
    const auto z = vector_on<T>(d, {T(1, 2), T(-3, 0.5)});
    const auto x = vector_on<real_type>(d, {2, -1});
    const auto n = vector_on<int>(d, {3, 4});
    EXPECT_EQ(values_of(eval(z * x)), (std::vector<T>{T(2, 4), T(3, -0.5)}));
    EXPECT_EQ(values_of(eval(n - z)), (std::vector<T>{T(2, -2), T(7, -0.5)}));
    EXPECT_EQ(values_of(eval(x + T(0, 1))), (std::vector<T>{T(2, 1), T(-1, 1)}));
    EXPECT_EQ(values_of(eval(where(x > 0, z, x))), (std::vector<T>{T(1, 2), T(-1, 0)}));
    EXPECT_EQ(values_of(eval(z == T(1, 2))), (std::vector<bool>{true, false}));
    EXPECT_EQ(values_of(eval(z != T(1, 2))), (std::vector<bool>{false, true}));
  });
}

// Of as many numbers as lanes hold, and of all others, at the edges of the plane too.
TYPED_TEST(complex_arithmetic, real_functions_of_rows_are_those_of_each) {
  using real_type = typename TypeParam::value_type;
  using complex_type = Kokkos::complex<real_type>;
  on_each_device([](topos::device d) {
    for (const std::size_t size : {1, 15, 16, 33}) {
      const std::vector<real_type> edges{3,  real_type(-0.5), 0,        real_type(-0.0),
                                         -2, real_type(1e30), -INFINITY};
      std::vector<complex_type> in;
      for (std::size_t i = 0; i < size; ++i)
        in.emplace_back(edges[i % edges.size()], edges[i / edges.size() % edges.size()]);
      const auto z = vector_on<complex_type>(d, in);
      const auto lengths = values_of(eval(abs(z)));
      const auto angles = values_of(eval(angle(z)));
      const auto sums = values_of(eval(real(z) - imag(z)));
      for (std::size_t i = 0; i < size; ++i) {
        const std::complex<real_type> x(in[i].real(), in[i].imag());
        EXPECT_TRUE(lengths[i] == std::abs(x) ||
                    std::abs(lengths[i] - std::abs(x)) < 1e-6 * std::abs(x))
            << x;
        EXPECT_NEAR(angles[i], std::arg(x), 1e-6) << x;
        EXPECT_EQ(std::signbit(angles[i]), std::signbit(std::arg(x))) << x;
        const real_type difference = x.real() - x.imag();
        EXPECT_TRUE(sums[i] == difference || (std::isnan(sums[i]) && std::isnan(difference))) << x;
      }
    }
    const auto x = vector_on<real_type>(d, {2, -1});
    const auto angles = values_of(eval(angle(x)));
    EXPECT_EQ(angles[0], 0);
    EXPECT_NEAR(angles[1], 3.14159265, 1e-6);
  });
}

TYPED_TEST(complex_arithmetic, numbers_are_made_of_their_parts) {
  using T = TypeParam;
  using real_type = typename T::value_type;
  using c64 = Kokkos::complex<float>;
  on_each_device([](topos::device d) {
    const auto x = vector_on<real_type>(d, {1, 2, 3});
    EXPECT_EQ(values_of(eval(complex(x, -x))), (std::vector<T>{T(1, -1), T(2, -2), T(3, -3)}));
    EXPECT_EQ(values_of(eval(complex(x, 0))), (std::vector<T>{T(1), T(2), T(3)}));
    EXPECT_EQ(values_of(eval(complex(0, x)))[2], T(0, 3));
    const auto half =
        eval(complex(topos::astype<topos::f16>(x), vector_on<std::int8_t>(d, {1, 2, 3})));
    EXPECT_EQ(values_of(half), (std::vector<c64>{c64(1, 1), c64(2, 2), c64(3, 3)}));
  });
}

TYPED_TEST(complex_arithmetic, real_numbers_have_an_imaginary_part_of_zero) {
  using real_type = typename TypeParam::value_type;
  on_each_device([](topos::device d) {
    const auto x = vector_on<real_type>(d, {2, -1});
    EXPECT_EQ(values_of(eval(imag(x))), (std::vector<real_type>{0, 0}));
    EXPECT_EQ(values_of(eval(real(x))), (std::vector<real_type>{2, -1}));
    EXPECT_EQ(values_of(eval(conj(x))), (std::vector<real_type>{2, -1}));
  });
}

}  // namespace complex_arithmetic_test
