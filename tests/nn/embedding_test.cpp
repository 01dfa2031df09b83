// SPDX-License-Identifier: Apache-2.0

/// An embedding looks vectors up, and one of them without a copy.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/nn/embedding.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace embedding_test {

using support::on_each_device;
using support::values_of;
using topos::tensor;
using topos::nn::embedding;

// The tests' embedding: its weights come from a tensor.
embedding of(const tensor<float, 2>& weights) {
  embedding made(weights.shape()[0], weights.shape()[1], weights.device());
  made.parameters([&](const char* name, auto& p) {
    EXPECT_STREQ(name, "weight");
    p.set(weights);
  });
  return made;
}

TEST(embedding, gives_the_vectors_of_the_indices) {
  on_each_device([](topos::device d) {
    const embedding e = of(support::tensor_on<2>(d, {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}));
    const auto indices = support::vector_on<std::int32_t>(d, {2, 0, 2});

    const tensor<float, 2> y = e(indices) * 10;

    EXPECT_EQ(values_of(y), (std::vector<float>{50, 60, 10, 20, 50, 60}));
  });
}

TEST(embedding, gives_one_row_without_a_copy) {
  on_each_device([](topos::device d) {
    const auto weights = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const embedding e = of(weights);

    EXPECT_EQ(values_of(e.row(1)), (std::vector<float>{4, 5, 6}));
    EXPECT_EQ(e.row(1).memory(), weights.memory());
    EXPECT_THROW(static_cast<void>(e.row(2)), topos::out_of_range);
  });
}

TEST(embedding, before_it_is_loaded_is_refused) {
  const embedding e(3, 2, topos::cpu());
  EXPECT_THROW(static_cast<void>(e.row(0)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(e(support::vector_on<std::int32_t>(topos::cpu(), {0}))),
               topos::invalid_argument);
}

}  // namespace embedding_test
