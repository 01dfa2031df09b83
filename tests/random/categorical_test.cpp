// SPDX-License-Identifier: Apache-2.0

/// Random choices by their logarithmic probabilities, against JAX.

#include <gtest/gtest.h>

#include <cmath>
#include <topos/random/categorical.hpp>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace categorical_test {

namespace random = topos::random;
using topos::shape;

template <class T>
class categorical : public testing::Test {
 public:
  static std::vector<std::int64_t> jax(const std::string& name, random::layout l) {
    const std::string type(topos::dtype_name_v<T>);
    const auto drawn = support::jax_values<std::int32_t>(
        "categorical", name + "/" + type + "/" + support::layout_name(l));
    return {drawn.begin(), drawn.end()};
  }
};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(categorical, real_types);

TYPED_TEST(categorical, draws_a_shape_as_jax) {
  using T = TypeParam;
  support::on_each_device([&](topos::device d) {
    std::vector<T> linspace;
    for (int i = 0; i < 5; ++i) linspace.push_back(static_cast<T>(-2 + 0.75 * i));
    const auto logits = support::vector_on<T>(d, linspace);
    for (const auto l : support::jax_layouts) {
      const auto drawn = support::drawn_sizes(l, d, [&](auto k, shape<1> s, topos::device) {
        return topos::eval(random::categorical(k, logits, s));
      });
      EXPECT_EQ(drawn, this->jax("categorical", l));
    }
  });
}

TYPED_TEST(categorical, draws_along_either_axis_as_jax) {
  using T = TypeParam;
  support::on_each_device([&](topos::device d) {
    std::vector<T> sines;
    for (int i = 0; i < 28; ++i) sines.push_back(static_cast<T>(std::sin(static_cast<double>(i))));
    const auto logits = support::tensor_on<2, T>(d, {7, 4}, sines);
    for (const auto l : support::jax_layouts) {
      const auto rows = topos::eval(random::categorical(support::jax_key(l), logits));
      const auto columns = topos::eval(random::categorical(support::jax_key(l), logits, 0));
      EXPECT_EQ(support::values_of(rows), this->jax("categorical_rows", l));
      EXPECT_EQ(support::values_of(columns), this->jax("categorical_columns", l));
    }
  });
}

TEST(categorical_numbers, refuse_logits_that_do_not_fit_their_shape) {
  const auto logits = support::tensor_on<2, float>(topos::cpu(), {3, 2}, {1, 2, 3, 4, 5, 6});
  const random::key k{0};
  EXPECT_THROW((void)random::categorical(k, logits, shape<1>{1}), topos::shape_mismatch);
  EXPECT_THROW((void)random::categorical(k, logits, {2, 1}), topos::shape_mismatch);
  EXPECT_THROW((void)random::categorical(k, logits, {2, 2}), topos::shape_mismatch);
}

TEST(categorical_numbers, take_a_shape_of_one_extent_in_braces) {
  const auto logits = support::vector_on<float>(topos::cpu(), {1, 2});
  const random::key k{0};
  EXPECT_EQ(support::values_of(topos::eval(random::categorical(k, logits, {5}))),
            support::values_of(topos::eval(random::categorical(k, logits, shape<1>{5}))));
}

TEST(categorical_numbers, refuse_an_axis_that_is_not_there) {
  const auto logits = support::vector_on<float>(topos::cpu(), {1, 2});
  EXPECT_THROW((void)random::categorical(random::key{0}, logits, 1), topos::out_of_range);
}

}  // namespace categorical_test
