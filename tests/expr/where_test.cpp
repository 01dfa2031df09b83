// SPDX-License-Identifier: Apache-2.0

/// Choices between elements, bounds, and a user's own functions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/reduction.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"

namespace where_test {

using support::contains;
using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::clip;
using topos::eval;
using topos::index_t;
using topos::where;

TEST(where, chooses_each_element) {
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 15, 16, 17, 33, 4097}) {
      const std::vector<float> in = support::varied(n);
      const auto x = vector_on(d, in);
      const auto wide = eval(topos::astype<double>(x));
      const auto whole = eval(topos::astype<int>(x * 100));
      const auto stored = eval(x > 0);
      std::vector<float> expected;
      std::vector<double> as_double;
      std::vector<int> as_int;
      for (const float v : in) {
        expected.push_back(v > 0 ? v : -2 * v);
        as_double.push_back(v > 0 ? v : 7);
        as_int.push_back(static_cast<int>(v * 100) > 5 ? 1 : static_cast<int>(v * 100));
      }
      EXPECT_EQ(values_of(eval(where(x > 0, x, -2 * x))), expected) << n;
      EXPECT_EQ(values_of(eval(where(stored, x, -2 * x))), expected) << n << ", bools in memory";
      EXPECT_EQ(values_of(eval(where(x > 0, wide, 7))), as_double) << n << ", another width";
      EXPECT_EQ(values_of(eval(where(whole > 5, 1, whole))), as_int) << n;
    }
  });
}

TEST(where, promotes_and_broadcasts) {
  on_each_device([](topos::device d) {
    const auto condition = tensor_on<2>(d, {2, 1}, std::vector<int>{1, 0});
    const auto row = vector_on<std::int8_t>(d, {1, 2, 3});

    const auto e = where(condition, row, 0.5f);
    static_assert(std::is_same_v<decltype(e)::value_type, float>);
    static_assert(std::is_same_v<decltype(where(condition, 1, 2))::value_type, std::int32_t>);
    static_assert(std::is_same_v<decltype(where(condition, 1, 2.0))::value_type, float>);
    static_assert(std::is_same_v<decltype(where(condition, true, false))::value_type, bool>);

    EXPECT_EQ(e.shape(), (topos::shape<2>{2, 3}));
    EXPECT_EQ(values_of(eval(e)), (std::vector<float>{1, 2, 3, 0.5f, 0.5f, 0.5f}));
    EXPECT_EQ(values_of(eval(where(condition, 1, 2.5))), (std::vector<float>{1, 2.5f}));
  });
}

template <class T>
void expect_choices_between(topos::device d) {
  const std::vector<T> narrow = support::varied<T>(75);
  std::vector<std::int64_t> wide(75);
  std::vector<std::int64_t> expected(75);
  for (std::size_t i = 0; i < 75; ++i) {
    wide[i] = static_cast<std::int64_t>(i % 7);
    expected[i] = wide[i] < 3 ? static_cast<std::int64_t>(narrow[i]) : wide[i];
  }
  const auto x = vector_on(d, wide);
  EXPECT_EQ(values_of(eval(where(x < 3, vector_on(d, narrow), x))), expected);
}

TEST(where, widens_bytes_on_the_way) {
  on_each_device([](topos::device d) {
    expect_choices_between<std::int8_t>(d);
    expect_choices_between<std::uint8_t>(d);
    expect_choices_between<std::int16_t>(d);
  });
}

TEST(where, passes_over_what_it_does_not_choose) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {-1, 4, 0});
    EXPECT_EQ(values_of(eval(where(x > 0, sqrt(x), 0))), (std::vector<float>{0, 2, 0}));
  });
}

TEST(where, of_shapes_that_do_not_broadcast_is_refused) {
  const auto x = topos::zeros<float, 1>({3});
  const auto y = topos::zeros<float, 1>({4});
  const std::string message =
      support::refusal<topos::shape_mismatch>([&] { static_cast<void>(where(x > 0, x, y)); });
  for (const char* part : {"where", "(3,)", "(4,)"})
    EXPECT_TRUE(contains(message, part)) << message;
}

TEST(clip, holds_between_bounds) {
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 17, 4097}) {
      const std::vector<double> in = support::varied<double>(n);
      std::vector<double> expected = in;
      for (double& v : expected) v = std::min(std::max(v, -0.5), 1.25);
      const auto x = vector_on(d, in);
      EXPECT_EQ(values_of(eval(clip(x, -0.5, 1.25))), expected) << n;
      EXPECT_EQ(values_of(eval(clip(x, x * 0 - 0.5, 1.25))), expected) << n;
    }
    const auto n = vector_on<std::uint8_t>(d, {0, 100, 255});
    EXPECT_EQ(values_of(eval(clip(n, 3, 200))), (std::vector<std::uint8_t>{3, 100, 200}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(values_of(eval(clip(vector_on<float>(d, {nan}), 0, 1)))[0]));
  });
}

TEST(clip, promotes_its_bounds) {
  on_each_device([](topos::device d) {
    const auto n = vector_on<int>(d, {0, 1, 2, 3, 4});
    const auto halves = vector_on<topos::f16>(d, {topos::f16(2.5f)});
    const auto low = vector_on<double>(d, {0.25});

    const auto e = clip(n, 0.5, 2.5);
    static_assert(std::is_same_v<decltype(e)::value_type, float>);
    static_assert(std::is_same_v<decltype(clip(n, 0.5, halves))::value_type, topos::f16>);
    static_assert(std::is_same_v<decltype(clip(n, halves, 0.5))::value_type, topos::f16>);
    static_assert(std::is_same_v<decltype(clip(n, low, 4))::value_type, double>);
    static_assert(std::is_same_v<decltype(clip(halves, 0.5, 2.5))::value_type, topos::f16>);
    static_assert(std::is_same_v<decltype(clip(n, 1, 3))::value_type, int>);

    EXPECT_EQ(values_of(eval(e)), (std::vector<float>{0.5f, 1, 2, 2.5f, 2.5f}));
    EXPECT_EQ(values_of(eval(clip(n, low, 3))), (std::vector<double>{0.25, 1, 2, 3, 3}));
  });
}

struct scaled_difference {
  float factor;
  KOKKOS_FUNCTION float operator()(float a, int b) const {
    return factor * (a - static_cast<float>(b));
  }
};

struct is_even {
  KOKKOS_FUNCTION bool operator()(int n) const { return n % 2 == 0; }
};

TEST(map, calls_a_function_of_each_elements_own_type) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 2}, std::vector<float>{1.5f, 2.5f, 3.5f, 4.5f});
    const auto n = vector_on<int>(d, {1, 2});

    EXPECT_EQ(values_of(eval(topos::map(scaled_difference{2}, x, n))),
              (std::vector<float>{1, 1, 5, 5}));
    EXPECT_EQ(values_of(eval(topos::map(is_even{}, n * 3 + 1))), (std::vector<bool>{true, false}));
    EXPECT_EQ(values_of(eval(1 + transpose(topos::map(scaled_difference{1}, x, n)))),
              (std::vector<float>{1.5f, 3.5f, 1.5f, 3.5f}));
  });
}

struct type_size {
  template <class A, class B, class C>
  KOKKOS_FUNCTION int operator()(A /*a*/, B /*b*/, C /*c*/) const {
    return static_cast<int>(100 * sizeof(A) + 10 * sizeof(B) + sizeof(C));
  }
};

TEST(map, passes_scalars_on_in_their_own_type) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {1.5f, 2.5f});
    const auto n = vector_on<int>(d, {1, 2});

    EXPECT_EQ(values_of(eval(topos::map(scaled_difference{2}, x, 1))), (std::vector<float>{1, 3}));
    EXPECT_EQ(values_of(eval(topos::map(scaled_difference{2}, 5.f, n))),
              (std::vector<float>{8, 6}));
    EXPECT_EQ(values_of(eval(topos::map(type_size{}, x, 2.0, topos::f16(3)))),
              (std::vector<int>{482, 482}));
  });
}

struct throws_of_three {
  int operator()(int n) const { return n == 3 ? throw std::domain_error("three") : n; }
};

TEST(map, whose_function_throws_has_failed) {
  const auto x = eval(topos::arange<int>(10'000, topos::cpu()));

  const auto bad = eval(topos::map(throws_of_three{}, x));
  const auto after = eval(bad + 1);
  const auto good = eval(topos::map(throws_of_three{}, x * 5));

  EXPECT_THROW(values_of(bad), std::domain_error);
  EXPECT_THROW(values_of(after), std::domain_error);
  EXPECT_EQ(values_of(good)[9'999], 49'995);
}

float cube(float x) { return x * x * x; }

TEST(map, takes_a_function) {
  const auto x = topos::array<float>({1, 2, 3}, topos::cpu());
  EXPECT_EQ(values_of(eval(topos::map(cube, x))), (std::vector<float>{1, 8, 27}));
}

struct looks_up {
  const std::vector<int>* table;
  int operator()(int i) const { return table->at(static_cast<std::size_t>(i - 1)); }
};

// Numbers past an array's end would have it look into a table beyond its end.
TEST(map, calls_its_function_with_elements_alone) {
  for (int n = 1; n < 70; n += n < 20 ? 1 : 7) {
    const std::vector<int> table(static_cast<std::size_t>(n), 3);
    const looks_up look_up{&table};
    const auto i = eval(topos::arange(1, n + 1, topos::cpu()));
    const auto row = topos::reshape(i, {1, n});

    EXPECT_EQ(values_of(eval(topos::map(look_up, i))), table);
    EXPECT_EQ(values_of(eval(topos::map(look_up, i * 1) + 1)), std::vector<int>(table.size(), 4));
    EXPECT_EQ(sum(topos::map(look_up, i)).item(), 3 * n);
    EXPECT_EQ(max(topos::map(look_up, i)).item(), 3);
    EXPECT_EQ(sum(topos::map(look_up, row), 1).item(), 3 * n);
    EXPECT_EQ(values_of(eval(topos::map(look_up, flip(i, 0)))), table);
  }
}

}  // namespace where_test
