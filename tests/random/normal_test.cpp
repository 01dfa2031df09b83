// SPDX-License-Identifier: Apache-2.0

/// Normal reals, against JAX.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <topos/random/normal.hpp>
#include <topos/tensor/reduction.hpp>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace normal_test {

namespace random = topos::random;
using topos::shape;

template <class T>
class normal : public testing::Test {
 public:
  // double's logarithm is not the C library's that XLA calls, but within a unit of it.
  static constexpr double ulps = std::is_same_v<T, double> ? 2 : 0;
};
using real_types = support::types<topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(normal, real_types);

TYPED_TEST(normal, is_that_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>("normal", "normal", this->ulps, [](auto k, shape<1> s, topos::device d) {
    return random::normal<T>(k, s, d);
  });
}

template <class T>
void expect_truncated(const std::string& name, double min, double max, double ulps) {
  using C = random::detail::computed<T>;
  const random::bounds<T> within{static_cast<C>(min), static_cast<C>(max)};
  support::expect_jax<T>("truncated", name, ulps, [&](auto k, shape<1> s, topos::device d) {
    return random::truncated_normal<T>(k, within, s, d);
  });
}

TYPED_TEST(normal, between_bounds_is_that_of_jax) {
  expect_truncated<TypeParam>("truncated_normal", -1.5, 0.7, this->ulps);
}

// erf of these bounds is 1, or -1.
TYPED_TEST(normal, far_from_0_is_that_of_jax) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  expect_truncated<TypeParam>("truncated_normal_far", 10, 20, this->ulps);
  expect_truncated<TypeParam>("truncated_normal_below", -infinity, 0, this->ulps);
}

TYPED_TEST(normal, on_either_side_of_0_stays_there) {
  using T = TypeParam;
  constexpr auto infinity = std::numeric_limits<random::detail::computed<T>>::infinity();
  const random::key k{3};
  const topos::tensor<T, 1> above(random::truncated_normal<T>(k, {0, infinity}, {5000}));
  const topos::tensor<T, 1> below(random::truncated_normal<T>(k, {-infinity, 0}, {5000}));
  EXPECT_TRUE(topos::all(above > 0).item());
  EXPECT_TRUE(topos::all(below < 0).item());
}

}  // namespace normal_test
