// SPDX-License-Identifier: Apache-2.0

/// Random orders, against JAX.

#include <gtest/gtest.h>

#include <algorithm>
#include <topos/random/permutation.hpp>
#include <topos/tensor/creation.hpp>

#include "jax_numbers.hpp"

namespace permutation_test {

namespace random = topos::random;
using topos::index_t;
using topos::shape;

TEST(permutation, is_that_of_jax) {
  support::on_each_device([](topos::device d) {
    for (const auto l : support::jax_layouts) {
      for (const index_t count : {1, 2, 10, 1625, 1626, 5000}) {
        const auto drawn = random::permutation(support::jax_key(l), count, d);
        EXPECT_EQ(support::values_of(drawn),
                  support::jax_values<std::int32_t>(
                      "permutation",
                      "permutation/" + std::to_string(count) + "/" + support::layout_name(l)))
            << count;
        EXPECT_EQ(drawn.device(), d);
      }
    }
  });
}

TEST(permutation, of_nothing_is_empty) {
  EXPECT_EQ(random::permutation(random::key{0}, 0).size(), 0);
  EXPECT_THROW((void)random::permutation(random::key{0}, -1), topos::invalid_argument);
}

TEST(permutation, is_of_as_many_numbers_as_its_type_has) {
  const random::key k{0};
  std::vector<std::uint8_t> drawn = support::values_of(random::permutation<std::uint8_t>(k, 256));
  std::sort(drawn.begin(), drawn.end());
  ASSERT_EQ(drawn.size(), 256U);
  for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(drawn[i], i);
  EXPECT_EQ(random::permutation<std::int8_t>(k, 128).size(), 128);
  EXPECT_THROW((void)random::permutation<std::uint8_t>(k, 257), topos::invalid_argument);
  EXPECT_THROW((void)random::permutation<std::int8_t>(k, 200), topos::invalid_argument);
}

TEST(permutation, moves_whole_rows) {
  support::on_each_device([](topos::device d) {
    std::vector<std::int32_t> numbers(33);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
    const auto x = support::tensor_on<2, std::int32_t>(d, {11, 3}, numbers);
    for (const auto l : support::jax_layouts) {
      const topos::tensor<std::int32_t, 2> drawn(random::permutation(support::jax_key(l), x));
      EXPECT_EQ(support::values_of(drawn),
                support::jax_values<std::int32_t>("permutation",
                                                  "permutation_rows/" + support::layout_name(l)));
    }
  });
}

TEST(permutation, moves_along_a_named_axis) {
  const auto x = support::tensor_on<2, float>(topos::cpu(), {2, 3}, {0, 1, 2, 10, 11, 12});
  const random::key k{4};
  const std::vector<std::int32_t> order = support::values_of(random::permutation(k, 3));
  const topos::tensor<float, 2> drawn(random::permutation(k, x, 1));
  std::vector<float> expected;
  for (const float row : {0.0f, 10.0f}) {
    for (const std::int32_t i : order) expected.push_back(row + static_cast<float>(i));
  }
  EXPECT_EQ(support::values_of(drawn), expected);
  EXPECT_THROW((void)random::permutation(k, x, 2), topos::out_of_range);
}

// Sorts each row along an axis by words of its own; 50 x 40 takes two rounds.
template <std::size_t Rank>
void expect_independent(shape<Rank> extents, int number) {
  support::on_each_device([&](topos::device d) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(topos::size_of_shape(extents)));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
    const auto x = support::tensor_on<Rank, std::int32_t>(d, extents, numbers);
    for (const auto l : support::jax_layouts) {
      for (index_t axis = 0; axis < static_cast<index_t>(Rank); ++axis) {
        const topos::tensor<std::int32_t, Rank> drawn(
            random::permutation(support::jax_key(l), x, axis, random::independent));
        EXPECT_EQ(drawn.shape(), extents);
        EXPECT_EQ(support::values_of(drawn),
                  support::jax_values<std::int32_t>(
                      "permutation", "permutation_independent/" + std::to_string(number) + "/" +
                                         std::to_string(axis) + "/" + support::layout_name(l)))
            << "axis " << axis;
      }
    }
  });
}

TEST(permutation, of_independent_rows_is_that_of_jax) {
  expect_independent<1>({33}, 0);
  expect_independent<2>({50, 40}, 1);
  expect_independent<3>({3, 7, 5}, 2);
}

TEST(permutation, of_independent_rows_of_nothing_is_empty) {
  const topos::tensor<float, 2> x(topos::zeros<float>({0, 3}, topos::cpu()));
  const topos::tensor<float, 2> none(
      random::permutation(random::key{1}, x, 0, random::independent));
  EXPECT_EQ(none.shape(), (shape<2>{0, 3}));
  EXPECT_THROW((void)random::permutation(random::key{1}, x, 2, random::independent),
               topos::out_of_range);
}

}  // namespace permutation_test
