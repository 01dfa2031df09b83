// SPDX-License-Identifier: Apache-2.0

/// Lanes of complex numbers: arithmetic has the bits of one number at a time, functions are within
/// some units of the last place of the C library's in a wider type.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/operations.hpp>
#include <topos/kernels/rows.hpp>
#include <type_traits>
#include <vector>

namespace complex_lanes_test {

using topos::index_t;
using topos::detail::memory_row;
namespace detail = topos::detail;
namespace lane = topos::lane;

template <class T>
class complex_lanes : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(complex_lanes, types);

template <class T>
using number = Kokkos::complex<T>;

// Parts from 1e-6 to 1e6 of both signs, and pairs of special values.
template <class T>
std::vector<number<T>> numbers(std::size_t count) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T largest = std::numeric_limits<T>::max();
  constexpr T least = std::numeric_limits<T>::denorm_min();
  const std::vector<T> special{0,       T(-0.0),  1,     -1,
                               T(0.5),  inf,      -inf,  nan,
                               largest, -largest, least, std::numeric_limits<T>::min(),
                               100,     -1000};
  std::vector<number<T>> all;
  for (const T a : special) {
    for (const T b : special) all.emplace_back(a, b);
  }
  std::mt19937 bits(1);
  std::uniform_real_distribution<double> size(-6, 6);
  const auto part = [&] {
    const double value = std::pow(10.0, size(bits));
    return static_cast<T>(bits() % 2 == 0 ? value : -value);
  };
  while (all.size() < count) {
    const T a = part();
    all.emplace_back(a, part());
  }
  return all;
}

template <class T>
void expect_same_bits(const T& got, const T& wanted, std::size_t i) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << "element " << i << ": " << got;
  } else {
    EXPECT_EQ(got, wanted) << "element " << i;
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << "element " << i;
  }
}

// A row of an operation as lanes, in an array of its own size, and element by element.
template <class Row>
void expect_the_same(const Row& row, std::size_t count) {
  using result = typename Row::value_type;
  static_assert(Row::width != 0);
  std::vector<result> by_lanes(count);
  detail::host_rows::assign(by_lanes.data(), 1, row, 0, static_cast<index_t>(count));
  for (std::size_t j = 0; j < count; ++j) {
    const result one = row[static_cast<index_t>(j)];
    if constexpr (detail::is_complex<result>) {
      expect_same_bits(by_lanes[j].real(), one.real(), j);
      expect_same_bits(by_lanes[j].imag(), one.imag(), j);
    } else {
      EXPECT_EQ(by_lanes[j], one) << "element " << j;
    }
  }
}

TYPED_TEST(complex_lanes, of_arithmetic_have_the_bits_of_one_number) {
  const auto x = numbers<TypeParam>(1001);
  std::vector<number<TypeParam>> y(x.rbegin(), x.rend());
  using row = memory_row<number<TypeParam>>;
  const row a{{x.data()}};
  const row b{{y.data()}};
  for (const std::size_t count : {std::size_t{1}, std::size_t{15}, std::size_t{37}, x.size()}) {
    SCOPED_TRACE(count);
    expect_the_same(make_row(detail::add_op{}, a, b), count);
    expect_the_same(make_row(detail::subtract_op{}, a, b), count);
    expect_the_same(make_row(detail::multiply_op{}, a, b), count);
    expect_the_same(make_row(detail::divide_op{}, a, b), count);
    expect_the_same(make_row(detail::negate_op{}, a), count);
    expect_the_same(make_row(detail::conj_op{}, a), count);
    expect_the_same(make_row(detail::square_op{}, a), count);
    expect_the_same(make_row(detail::tan_op{}, a), count);  // which has no lanes of its own
  }
}

TYPED_TEST(complex_lanes, come_from_places_apart_and_from_real_numbers) {
  const auto x = numbers<TypeParam>(600);
  detail::strided_row<detail::memory_elements<number<TypeParam>>> apart{{x.data()}, 1, 3};
  expect_the_same(make_row(detail::add_op{}, apart, apart), 199);
  apart.step = 0;
  expect_the_same(make_row(detail::conj_op{}, apart), 40);
  std::vector<TypeParam> reals(61);
  for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = static_cast<TypeParam>(i) - 30;
  const memory_row<TypeParam> r{{reals.data()}};
  expect_the_same(make_row(detail::convert_op<number<TypeParam>>{}, r), reals.size());
}

// Of the C library in a wider type, rounded; what that does not distinguish is the type's own.
template <class T, class Function>
std::complex<T> wanted(Function function, const number<T>& x) {
  using wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const auto result = function(std::complex<wide>(x.real(), x.imag()));
  return {static_cast<T>(result.real()), static_cast<T>(result.imag())};
}

// How far apart, in units in the last place of a number of this size.
template <class T>
double units(T got, T wanted) {
  if (got == wanted) return std::signbit(got) == std::signbit(wanted) ? 0.0 : 1e9;
  if (std::isnan(got) && std::isnan(wanted)) return 0.0;
  if (!std::isfinite(got) || !std::isfinite(wanted)) return 1e9;
  const T size = std::max(std::abs(wanted), std::numeric_limits<T>::min());
  const T unit = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return static_cast<double>(std::abs(got - wanted) / unit);
}

template <class T, class Op, class Function>
void expect_near(const char* name, Op op, Function function, double most) {
  std::vector<number<T>> x = numbers<T>(20'000);
  // The unit circle, and what rounds to it.
  for (int i = 0; i < 1000; ++i) {
    const double angle = 0.0063 * i;
    x.emplace_back(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
  }
  const memory_row<number<T>> row{{x.data()}};
  std::vector<number<T>> got(x.size());
  detail::host_rows::assign(got.data(), 1, make_row(op, row), 0, static_cast<index_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE(std::string(name) + " of " + std::to_string(x[i].real()) + ", " +
                 std::to_string(x[i].imag()));
    // By single numbers, it is the C library's own.
    const number<T> one = op(x[i]);
    const std::complex<T> exact = wanted(function, x[i]);
    const auto near = [&](T part, T of_one, T of_exact) {
      EXPECT_LE(std::min(units(part, of_one), units(part, of_exact)), most)
          << part << ", not " << of_one << " or " << of_exact;
    };
    near(got[i].real(), one.real(), exact.real());
    near(got[i].imag(), one.imag(), exact.imag());
  }
}

#define TOPOS_EXPECT_NEAR(name, most) \
  expect_near<TypeParam>(             \
      #name, detail::name##_op{}, [](const auto& z) { return std::name(z); }, most)

TYPED_TEST(complex_lanes, of_functions_are_near_the_exact_values) {
  TOPOS_EXPECT_NEAR(exp, 4);
  TOPOS_EXPECT_NEAR(log, 3);
  TOPOS_EXPECT_NEAR(sqrt, 3);
  TOPOS_EXPECT_NEAR(sin, 6);
  TOPOS_EXPECT_NEAR(cos, 6);
  TOPOS_EXPECT_NEAR(sinh, 6);
  TOPOS_EXPECT_NEAR(cosh, 6);
  TOPOS_EXPECT_NEAR(log10, 4);
}

}  // namespace complex_lanes_test
