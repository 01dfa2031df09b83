// SPDX-License-Identifier: Apache-2.0

/// Normal reals, against JAX.

#include <gtest/gtest.h>

#include <limits>
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

TYPED_TEST(normal, between_bounds_is_that_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>(
      "truncated", "truncated_normal", this->ulps, [](auto k, shape<1> s, topos::device d) {
        return random::truncated_normal<T>(k,
                                           {static_cast<random::detail::computed<T>>(-1.5),
                                            static_cast<random::detail::computed<T>>(0.7)},
                                           s, d);
      });
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
