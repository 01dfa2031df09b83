// SPDX-License-Identifier: Apache-2.0

/// Lanes, with SIMD or without: each lane is computed for itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/lanes.hpp>
#include <topos/expr/row.hpp>
#include <vector>

namespace lanes_test {

namespace lane = topos::lane;
using topos::index_t;

static_assert(lane::element<float> && lane::element<double>);
static_assert(lane::element<std::int32_t> && lane::element<std::uint64_t>);
static_assert(!lane::element<std::int8_t> && !lane::element<bool> && !lane::element<topos::f16>);
static_assert(lane::width<std::uint16_t> == 0);
static_assert(std::is_same_v<lane::value_t<lane::batch<float>>, float>);
static_assert(std::is_same_v<lane::value_t<lane::batch<double>>, double>);

template <class T>
class lanes : public testing::Test {};
using lane_types = testing::Types<float, double>;
TYPED_TEST_SUITE(lanes, lane_types);

template <class T>
std::vector<T> ramp() {
  std::vector<T> values(lane::width<T>);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i) + 1;
  return values;
}

TYPED_TEST(lanes, are_loaded_and_stored) {
  using T = TypeParam;
  const std::vector<T> from = ramp<T>();
  std::vector<T> to(from.size(), 0);

  lane::store(to.data(), lane::load(from.data()));

  EXPECT_EQ(to, from);
}

TYPED_TEST(lanes, are_folded_in_halves) {
  using T = TypeParam;
  constexpr index_t width = lane::width<T>;
  const auto n = static_cast<T>(width);

  EXPECT_EQ(lane::fold<width>(ramp<T>().data(), [](T a, T b) { return a + b; }), n * (n + 1) / 2);
  EXPECT_EQ(lane::fold<width>(ramp<T>().data(), [](T a, T b) { return std::max(a, b); }), n);
}

// The first of lanes whose others are all `beside`.
template <class T, class Function>
T first_of(Function function, T first, T beside) {
  std::vector<T> values(lane::width<T>, beside);
  values[0] = first;
  lane::store(values.data(), function(lane::load(values.data())));
  return values[0];
}

// xsimd chooses how to reduce an angle by the largest of a batch.
TYPED_TEST(lanes, of_a_function_do_not_depend_on_their_neighbours) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const auto check = [&](const char* name, auto function) {
    for (int i = -400; i <= 400; ++i) {
      const T x = static_cast<T>(i) * T(0.0937);
      const T alone = first_of(function, x, x);
      for (const T beside : {T(0), T(0.5), T(1.5), T(40), T(190), T(3e4), T(2e6), T(1e30), infinity,
                             std::numeric_limits<T>::quiet_NaN()}) {
        ASSERT_EQ(first_of(function, x, beside), alone) << name << ' ' << x << ' ' << beside;
      }
    }
  };
  check("sin", [](auto x) { return lane::sin(x); });
  check("cos", [](auto x) { return lane::cos(x); });
  check("tan", [](auto x) { return lane::tan(x); });
  check("sinh", [](auto x) { return lane::sinh(x); });
  check("cosh", [](auto x) { return lane::cosh(x); });
  check("tanh", [](auto x) { return lane::tanh(x); });
  check("atan", [](auto x) { return lane::atan(x); });
}

// Where the quarter turn begins, and beyond what is reduced by lanes.
TYPED_TEST(lanes, of_angles_are_sines_and_cosines_anywhere) {
  using T = TypeParam;
  constexpr auto half_pi = 1.57079632679489661923132169163975144L;
  const T eps = std::numeric_limits<T>::epsilon();
  for (const long k : {0L, 1L, 2L, 3L, 100L, 4999L, 41'722L, 600'001L, 20'000'003L, 900'000'001L}) {
    for (const long double part : {0.0L, 0.25L, 0.5L, 0.75L}) {
      const auto x = static_cast<T>((static_cast<long double>(k) + part) * half_pi);
      const auto from = static_cast<long double>(x);
      const auto near = [&](T got, long double expected) {
        return std::abs(static_cast<long double>(got) - expected) <= 2 * eps * std::abs(expected);
      };
      const auto sine = [](auto v) { return lane::sin(v); };
      const auto cosine = [](auto v) { return lane::cos(v); };
      for (const T sign : {T(1), T(-1)}) {
        EXPECT_TRUE(near(first_of(sine, sign * x, x), sign * std::sin(from))) << x;
        EXPECT_TRUE(near(first_of(cosine, sign * x, x), std::cos(from))) << x;
      }
    }
  }
  EXPECT_TRUE(std::signbit(first_of([](auto v) { return lane::sin(v); }, T(-0.0), T(0))));
}

TYPED_TEST(lanes, exponential_is_finite_up_to_the_largest_number) {
  using T = TypeParam;
  const T edge = std::log(std::numeric_limits<T>::max());
  for (const T x : {edge * T(0.98), edge * T(0.9935), edge * T(0.9999)}) {
    std::vector<T> to(lane::width<T>);
    lane::store(to.data(), lane::exp(lane::splat(x)));
    EXPECT_NEAR(to[0] / std::exp(x), 1, 4 * std::numeric_limits<T>::epsilon()) << x;
  }
  std::vector<T> beyond(lane::width<T>);
  lane::store(beyond.data(), lane::exp(lane::splat(edge + 1)));
  EXPECT_EQ(beyond[0], std::numeric_limits<T>::infinity());
}

TYPED_TEST(lanes, exponential_is_whole_down_to_the_smallest_number) {
  using T = TypeParam;
  constexpr T least = std::numeric_limits<T>::min();
  const T edge = std::log(least);
  const auto bits = static_cast<T>(std::numeric_limits<T>::digits);
  for (T x = edge + 1; x > edge - bits; x -= T(0.01)) {
    std::vector<T> from(lane::width<T>, T(1));  // and one that is not
    from.back() = x;
    std::vector<T> to(lane::width<T>);
    lane::store(to.data(), lane::exp(lane::load(from.data())));
    const T unit = std::max(least, std::exp(x)) * std::numeric_limits<T>::epsilon();
    EXPECT_NEAR(to.back(), std::exp(x), 2 * unit) << x;
    if (lane::width < T >> 1) {
      EXPECT_NEAR(to.front(), std::exp(T(1)), 4 * std::numeric_limits<T>::epsilon());
    }
  }
}

TYPED_TEST(lanes, powers_of_two_are_whole_from_the_smallest_number_to_the_largest) {
  using T = TypeParam;
  using limits = std::numeric_limits<T>;
  const auto power = [](T x) {
    std::vector<T> from(lane::width<T>, T(1));  // and one that is not
    from.back() = x;
    std::vector<T> to(lane::width<T>);
    lane::store(to.data(), lane::exp2(lane::load(from.data())));
    return to.back();
  };
  const int least = limits::min_exponent - limits::digits;
  for (int n = least; n < limits::max_exponent; ++n)
    EXPECT_EQ(power(static_cast<T>(n)), std::ldexp(T(1), n)) << n;
  EXPECT_EQ(power(static_cast<T>(least - 2)), 0);
  for (const int edge : {limits::min_exponent, limits::max_exponent}) {
    for (T x = static_cast<T>(edge - 2); x < static_cast<T>(edge); x += T(0.01)) {
      const T unit = std::max(limits::min(), std::exp2(x)) * limits::epsilon();
      EXPECT_NEAR(power(x), std::exp2(x), 2 * unit) << x;
    }
  }
  EXPECT_EQ(power(static_cast<T>(limits::max_exponent)), limits::infinity());
}

TYPED_TEST(lanes, rows_give_whole_and_partial_batches) {
  using T = TypeParam;
  const std::vector<T> memory = ramp<T>();
  const topos::detail::memory_elements<T> elements{memory.data()};
  const topos::detail::memory_row<T> dense{elements};
  const topos::detail::strided_row<topos::detail::memory_elements<T>> repeated{elements, 0, 0};
  const topos::detail::constant_row<T> constant{T(5)};
  std::vector<T> to(lane::width<T>);

  lane::store(to.data(), dense.lanes(0, lane::all{}));
  EXPECT_EQ(to, memory);
  lane::store(to.data(), dense.lanes(lane::width<T> - 1, 1));
  EXPECT_EQ(to[0], memory.back());
  lane::store(to.data(), repeated.lanes(3, lane::all{}));
  EXPECT_EQ(to, std::vector<T>(memory.size(), memory[0]));
  lane::store(to.data(), constant.lanes(3, 1));
  EXPECT_EQ(to[0], 5);
}

template <class T>
class lanes_of_all_types : public testing::Test {};
using all_types =
    testing::Types<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(lanes_of_all_types, all_types);

TYPED_TEST(lanes_of_all_types, partial_stores_leave_the_rest) {
  using T = TypeParam;
  for (index_t count = 0; count <= lane::width<T>; ++count) {
    std::vector<T> to(lane::width<T>, -1);
    lane::store_partial(to.data(), lane::load(ramp<T>().data()), count);
    for (index_t i = 0; i < lane::width<T>; ++i) {
      EXPECT_EQ(to[static_cast<std::size_t>(i)], i < count ? static_cast<T>(i + 1) : T(-1));
    }
  }
}

TYPED_TEST(lanes_of_all_types, partial_loads_are_filled_with_zeros) {
  using T = TypeParam;
  for (index_t count = 0; count <= lane::width<T>; ++count) {
    std::vector<T> to(lane::width<T>, -1);
    lane::store(to.data(), lane::load_partial(ramp<T>().data(), count));
    for (index_t i = 0; i < lane::width<T>; ++i) {
      EXPECT_EQ(to[static_cast<std::size_t>(i)], i < count ? static_cast<T>(i + 1) : T(0));
    }
  }
}

// From memory that ends with the last one.
TYPED_TEST(lanes_of_all_types, are_loaded_from_places_that_lie_apart) {
  using T = TypeParam;
  const index_t width = lane::width<T>;
  for (const index_t step : {-3, -2, -1, 0, 1, 2, 3, 4, 5, 100}) {
    const index_t furthest = std::abs(step) * (width - 1);
    std::vector<T> from(static_cast<std::size_t>(furthest) + 1);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i + 1);
    const index_t first = step < 0 ? furthest : 0;
    std::vector<T> got(static_cast<std::size_t>(width));
    lane::store(got.data(), lane::load_apart(from.data() + first, step));
    for (index_t i = 0; i < width; ++i)
      EXPECT_EQ(got[static_cast<std::size_t>(i)], static_cast<T>(first + i * step + 1)) << step;
  }
}

TYPED_TEST(lanes_of_all_types, are_blended_up_to_a_count) {
  using T = TypeParam;
  const auto a = lane::load(ramp<T>().data());
  const auto none = lane::splat(T(0));
  for (index_t count = 0; count <= lane::width<T>; ++count) {
    std::vector<T> numbers(lane::width<T>);
    lane::store(numbers.data(), lane::blended(count, a, none));
    bool truths[lane::width<T>];
    lane::store(truths, lane::blended(count, a > none, a == none));
    for (index_t i = 0; i < lane::width<T>; ++i) {
      EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i < count ? static_cast<T>(i + 1) : T(0));
      EXPECT_EQ(truths[i], i < count);
    }
  }
}

}  // namespace lanes_test
