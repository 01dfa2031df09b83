// SPDX-License-Identifier: Apache-2.0

/// Random bits and uniform reals, against JAX.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <topos/random/uniform.hpp>
#include <topos/tensor/tensor.hpp>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace uniform_test {

namespace random = topos::random;
using topos::index_t;
using topos::shape;

template <class T>
class bits : public testing::Test {};
using word_types = support::types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(bits, word_types);

TYPED_TEST(bits, are_those_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>("bits", "bits", 0, [](auto k, shape<1> s, topos::device d) {
    return random::bits<T>(k, s, d);
  });
}

TYPED_TEST(bits, of_a_large_array_are_those_of_jax) {
  using T = TypeParam;
  support::on_each_real_device([](topos::device d) {
    for (const auto l : support::jax_layouts) {
      const topos::tensor<T, 1> drawn(random::bits<T>(support::jax_key(l), {1'000'003}, d));
      std::uint64_t sum = 0;
      std::uint64_t weighted = 0;
      std::uint64_t i = 0;
      for (const T word : support::values_of(drawn)) {
        sum += word;
        weighted += word * i++;
      }
      const std::string type(topos::dtype_name_v<T>);
      const auto jax = support::jax_values<std::uint64_t>(
          "bits", "bits_sums/" + type + "/" + support::layout_name(l));
      EXPECT_EQ((std::vector<std::uint64_t>{sum, weighted}), jax) << support::layout_name(l);
    }
  });
}

template <class T>
class uniform : public testing::Test {};
using real_types = support::types<topos::f16, topos::bf16, float, double>;
TYPED_TEST_SUITE(uniform, real_types);

TYPED_TEST(uniform, is_that_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>("uniform", "uniform", 0, [](auto k, shape<1> s, topos::device d) {
    return random::uniform<T>(k, s, d);
  });
}

TYPED_TEST(uniform, between_bounds_is_that_of_jax) {
  using T = TypeParam;
  support::expect_jax<T>("uniform", "uniform_between", 0, [](auto k, shape<1> s, topos::device d) {
    return random::uniform<T>(k, s,
                              {static_cast<random::detail::computed<T>>(-3.1),
                               static_cast<random::detail::computed<T>>(7.3)},
                              d);
  });
}

// As JAX's, whose largest of a bound and NaN is NaN.
TYPED_TEST(uniform, between_bounds_that_are_no_numbers_is_none) {
  using T = TypeParam;
  using C = random::detail::computed<T>;
  constexpr C nan = std::numeric_limits<C>::quiet_NaN();
  constexpr C infinity = std::numeric_limits<C>::infinity();
  const random::key k{3};
  for (const random::bounds<T> within :
       {random::bounds<T>{0, nan}, {nan, 1}, {nan, nan}, {-infinity, 0}, {-infinity, infinity}}) {
    const auto drawn = random::uniform<T>(k, {37}, within);
    for (const T x : support::values_of(topos::eval(drawn))) EXPECT_TRUE(std::isnan(C(x)));
    // Every other one, which are not drawn in lanes.
    for (const T x : support::values_of(topos::eval(slice(drawn, topos::range{{}, {}, 2})))) {
      EXPECT_TRUE(std::isnan(C(x)));
    }
  }
}

TEST(uniform_numbers, fill_any_shape_in_row_major_order) {
  support::on_each_device([](topos::device d) {
    const random::key k{0};
    const topos::tensor<float, 2> rows(random::uniform(k, {2, 3}, d));
    const topos::tensor<float, 0> scalar(random::uniform(k, shape<0>{}, d));
    const topos::tensor<float, 8> deep(random::uniform(k, {1, 2, 1, 3, 1, 1, 1, 1}, d));
    const topos::tensor<float, 3> empty(random::uniform(k, {2, 0, 3}, d));

    const std::vector<float> expected{0.57450044f, 0.09968603f, 0.7419659f,
                                      0.8941783f,  0.59656656f, 0.45325184f};
    EXPECT_EQ(support::values_of(rows), expected);
    EXPECT_EQ(support::values_of(deep), expected);
    EXPECT_EQ(support::values_of(scalar), std::vector<float>{0.41845703f});
    EXPECT_EQ(empty.size(), 0);
  });
}

TEST(uniform_numbers, fuse_with_what_is_computed_of_them) {
  support::on_each_device([](topos::device d) {
    for (const auto l : support::jax_layouts) {
      const random::key k{1, l};
      for (const index_t size : {0, 1, 15, 16, 17, 31, 33, 64, 4095, 4097, 40001}) {
        const topos::tensor<float, 1> drawn(random::uniform(k, {size}, d));
        const topos::tensor<float, 1> apart(drawn * 2.0f - 1.0f);
        const topos::tensor<float, 1> fused(random::uniform(k, {size}, d) * 2.0f - 1.0f);
        EXPECT_EQ(support::values_of(fused), support::values_of(apart)) << size;
      }
    }
  });
}

TEST(uniform_numbers, refuse_a_negative_extent) {
  EXPECT_THROW((void)random::uniform(random::key{0}, {2, -1}), topos::shape_mismatch);
  EXPECT_THROW((void)random::bits(random::key{0}, {-1}), topos::shape_mismatch);
}

}  // namespace uniform_test
