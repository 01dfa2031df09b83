// SPDX-License-Identifier: Apache-2.0

/// Gamma reals, against JAX.

#include <gtest/gtest.h>

#include <topos/random/gamma.hpp>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace gamma_test {

namespace random = topos::random;
using topos::shape;

template <class T>
class gamma : public testing::Test {};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(gamma, real_types);

// double has other logarithms than the C library's in places, by a unit in the last place, which
// grows where a normal number times c is near -1.
TYPED_TEST(gamma, is_that_of_jax) {
  using T = TypeParam;
  for (const auto& [alpha, name] :
       {std::pair{0.3, "gamma_0.3"}, {1.0, "gamma_1.0"}, {4.5, "gamma_4.5"}}) {
    support::expect_jax<T>(
        "gamma", name, std::is_same_v<T, double> ? 8 : 2,
        [a = alpha](auto k, shape<1> s, topos::device d) { return random::gamma<T>(k, a, s, d); });
  }
}

TYPED_TEST(gamma, takes_a_shape_parameter_for_each_element) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    const random::key k{3};
    const auto alpha = support::tensor_on<2, T>(d, {1, 3}, {T(0.3), T(1), T(4.5)});
    const topos::tensor<T, 2> drawn(random::gamma(k, alpha, {4, 3}));
    const std::vector<T> got = support::values_of(drawn);
    int column = 0;
    for (const double one : {0.3, 1.0, 4.5}) {
      const topos::tensor<T, 2> alike(random::gamma<T>(k, one, {4, 3}, d));
      const std::vector<T> expected = support::values_of(alike);
      for (std::size_t i = column++; i < got.size(); i += 3) EXPECT_EQ(got[i], expected[i]);
    }
    const topos::tensor<T, 2> own(random::gamma(k, alpha));
    EXPECT_EQ(own.shape(), (shape<2>{1, 3}));
  });
}

TEST(gamma_numbers, refuse_what_does_not_fit_their_shape) {
  const topos::tensor<float, 1> alpha = support::vector_on<float>(topos::cpu(), {1, 2, 3});
  const auto text = support::refusal<topos::shape_mismatch>(
      [&] { (void)random::gamma(random::key{0}, alpha, shape<1>{1}); });
  EXPECT_TRUE(support::contains(text, "gamma: alpha (3,)")) << text;
}

}  // namespace gamma_test
