// SPDX-License-Identifier: Apache-2.0

/// Random integers and truths, against JAX.

#include <gtest/gtest.h>

#include <limits>
#include <topos/random/integers.hpp>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace integers_test {

namespace random = topos::random;
using topos::index_t;
using topos::shape;

template <class T>
class randint : public testing::Test {};
using integer_types = support::types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                     std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(randint, integer_types);

template <class T>
std::string bounds_name(topos::detail::integer_bound<T> min, topos::detail::integer_bound<T> max) {
  return "randint_" + std::to_string(min) + "_" + std::to_string(max);
}

template <class T>
void expect_between(topos::detail::integer_bound<T> min, topos::detail::integer_bound<T> max) {
  support::expect_jax<T>(
      "randint", bounds_name<T>(min, max), 0,
      [&](auto k, shape<1> s, topos::device d) { return random::randint<T>(k, s, min, max, d); });
}

TYPED_TEST(randint, is_that_of_jax) {
  using T = TypeParam;
  expect_between<T>(0, 10);
  if constexpr (std::is_signed_v<T>) expect_between<T>(-5, 100);
}

TYPED_TEST(randint, over_the_whole_type_is_that_of_jax) {
  using T = TypeParam;
  using limits = std::numeric_limits<T>;
  using bound = topos::detail::integer_bound<T>;
  const bound beyond = sizeof(T) < 8 ? 1 : 0;
  expect_between<T>(limits::min(), static_cast<bound>(limits::max()) + beyond);
}

TYPED_TEST(randint, without_room_is_its_lower_bound) {
  using T = TypeParam;
  expect_between<T>(7, 3);
}

TYPED_TEST(randint, moves_bounds_into_its_type) {
  using T = TypeParam;
  if constexpr (sizeof(T) < 8) {
    using limits = std::numeric_limits<T>;
    const random::key k{1};
    const topos::tensor<T, 1> far(random::randint<T>(k, {100}, -(index_t{1} << 40), 1LL << 40));
    const topos::tensor<T, 1> whole(
        random::randint<T>(k, {100}, limits::min(), index_t{limits::max()} + 1));
    const topos::tensor<T, 1> above(random::randint<T>(k, {3}, 1LL << 40, 1LL << 41));
    EXPECT_EQ(support::values_of(far), support::values_of(whole));
    EXPECT_EQ(support::values_of(above), std::vector<T>(3, limits::max()));
  }
}

// Divisors at the ends of their type, and next to powers of two.
TEST(remainder, is_that_of_a_division) {
  constexpr std::uint32_t edges[] = {
      1U,          2U,          3U,          7U,          65535U,      65536U,     65537U,
      0x7fffffffU, 0x80000000U, 0x80000001U, 0xaaaaaaabU, 0xfffffffeU, 0xffffffffU};
  for (const std::uint32_t divisor : edges) {
    const random::detail::remainder<std::uint32_t> by(divisor);
    std::uint32_t x = 0;
    for (int i = 0; i < 20000; ++i) {
      ASSERT_EQ(by(x), x % divisor) << x << " by " << divisor;
      x = x * 1664525U + 1013904223U;
    }
    for (const std::uint32_t near : edges) {
      for (const std::uint32_t multiple : {divisor * near, divisor * near - 1, near, near - 1}) {
        ASSERT_EQ(by(multiple), multiple % divisor) << multiple << " by " << divisor;
      }
    }
  }
  EXPECT_EQ(random::detail::remainder<std::uint32_t>(0)(0xfffffff0U), 0xfffffff0U);
}

TEST(random_integers, are_the_same_in_lanes) {
  for (const auto l : support::jax_layouts) {
    for (const index_t size : {1, 16, 17, 33, 64, 129, 150}) {
      const random::detail::integer_elements<std::int32_t> elements(random::key(5, l), size, 3,
                                                                    1000);
      constexpr index_t width = topos::lane::width<std::int32_t>;
      const auto expect_lanes = [&](const auto& lanes, index_t from) {
        std::int32_t values[width];
        topos::lane::store(values, lanes);
        for (index_t i = 0; i < width && from + i < size; ++i)
          EXPECT_EQ(values[i], elements(from + i)) << from << " + " << i << " of " << size;
      };
      for (index_t o = 0; o < size; ++o) {
        expect_lanes(elements.lanes(o, topos::lane::all{}), o);
      }
      if (elements.partner() == 0) continue;
      const auto pairs = elements.paired();
      constexpr int batches = topos::lane::pair_batches;
      ASSERT_GE(pairs.end(), size - elements.partner());
      for (index_t o = 0; o + batches * width <= size - elements.partner(); ++o) {
        const auto both = pairs(o);
        for (int b = 0; b < batches; ++b) {
          expect_lanes(both.at[b], o + b * width);
          expect_lanes(both.at[batches + b], o + b * width + elements.partner());
        }
      }
    }
  }
}

template <class T>
class bernoulli : public testing::Test {};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(bernoulli, real_types);

TYPED_TEST(bernoulli, is_that_of_jax) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    for (const auto l : support::jax_layouts) {
      const std::string type(topos::dtype_name_v<T>);
      const auto drawn = support::drawn_sizes(l, d, [](auto k, shape<1> s, topos::device on) {
        return random::bernoulli<T>(k, 0.3, s, on);
      });
      EXPECT_EQ(drawn, support::jax_values<bool>(
                           "bernoulli", "bernoulli/" + type + "/" + support::layout_name(l)));
    }
  });
}

TYPED_TEST(bernoulli, takes_a_probability_for_each_element) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    const random::key k{8};
    const auto p = support::vector_on<T>(d, {T(0), T(0.3), T(0.3), T(1), T(0.3)});
    const topos::tensor<bool, 1> drawn(random::bernoulli(k, p));
    const topos::tensor<bool, 1> alike(random::bernoulli<T>(k, 0.3, {5}, d));
    const std::vector<bool> expected = support::values_of(alike);
    EXPECT_EQ(support::values_of(drawn),
              (std::vector<bool>{false, expected[1], expected[2], true, expected[4]}));
  });
}

}  // namespace integers_test
