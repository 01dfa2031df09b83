// SPDX-License-Identifier: Apache-2.0

/// A parameter knows its shape before it has values, and may be taken out of its module.

#include <gtest/gtest.h>

#include <topos/nn/parameter.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace parameter_test {

using topos::nn::parameter;

TEST(parameter, has_shape_and_device_from_the_start) {
  support::on_each_device([](topos::device d) {
    const parameter<2> p({2, 3}, d);
    EXPECT_EQ(p.shape(), (topos::shape<2>{2, 3}));
    EXPECT_EQ(p.device(), d);
  });
}

TEST(parameter, has_no_values_before_they_are_loaded) {
  const parameter<2> p({2, 3}, topos::cpu());

  const std::string message =
      support::refusal<topos::invalid_argument>([&] { static_cast<void>(p.value()); });

  EXPECT_TRUE(support::contains(message, "(2, 3)")) << message;
}

TEST(parameter, gives_its_values_until_they_are_taken) {
  parameter<1> p({2}, topos::cpu());
  p.set(support::vector_on<float>(topos::cpu(), {1, 2}));
  EXPECT_EQ(support::values_of(p.value()), (std::vector<float>{1, 2}));

  const topos::tensor<float, 1> taken = p.take();

  EXPECT_EQ(support::values_of(taken), (std::vector<float>{1, 2}));
  EXPECT_EQ(taken.memory().use_count(), 1) << "the parameter keeps nothing";
  EXPECT_THROW(static_cast<void>(p.value()), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(p.take()), topos::invalid_argument);
}

TEST(parameter, takes_values_of_its_shape_and_device_alone) {
  topos::nn::parameter<1> p({2}, topos::cpu());
  const std::string shape = support::refusal<topos::shape_mismatch>(
      [&] { p.set(support::vector_on<float>(topos::cpu(), {1})); });
  EXPECT_TRUE(support::contains(shape, "(2,)") && support::contains(shape, "(1,)")) << shape;
  if (topos::num_gpus() == 0) return;
  EXPECT_THROW(p.set(support::vector_on<float>(topos::gpu(0), {1, 2})), topos::device_mismatch);
}

}  // namespace parameter_test
