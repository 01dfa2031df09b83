// SPDX-License-Identifier: Apache-2.0

/// Exponential and Gumbel reals, against JAX.

#include <gtest/gtest.h>

#include <topos/random/exponential.hpp>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace exponential_test {

namespace random = topos::random;
using topos::shape;

template <class T>
class exponential : public testing::Test {
 public:
  // double's logarithm is not the C library's that XLA calls, but within a unit of it.
  static constexpr double ulps = std::is_same_v<T, double> ? 2 : 0;
};
using real_types = support::types<topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(exponential, real_types);

TYPED_TEST(exponential, is_that_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>(
      "exponential", "exponential", this->ulps,
      [](auto k, shape<1> s, topos::device d) { return random::exponential<T>(k, s, d); });
}

TYPED_TEST(exponential, gumbel_is_that_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>("gumbel", "gumbel", this->ulps, [](auto k, shape<1> s, topos::device d) {
    return random::gumbel<T>(k, s, d);
  });
}

}  // namespace exponential_test
