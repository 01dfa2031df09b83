// SPDX-License-Identifier: Apache-2.0

/// A dense layer against PyTorch's.

#include <gtest/gtest.h>

#include <topos/nn/linear.hpp>
#include <topos/nn/load.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/torch_case.hpp"

namespace linear_test {

using support::on_each_device;
using support::torch_case;
using support::values_of;
using topos::nn::linear;

const std::vector<std::string> results{"x", "product", "biased", "product_gelu", "biased_gelu"};

TEST(linear, gives_pytorchs_values) {
  const torch_case reference("linear_130x37x45");
  on_each_device([&](topos::device d) {
    linear layer(37, 45, d);
    topos::nn::load(layer, reference.file(), results);
    const auto x = reference.tensor<2>("x", d);

    support::expect_near(values_of(layer(x)), reference.values("biased"), 1e-5, 1e-5);
    support::expect_near(values_of(layer(x, topos::activation::gelu)),
                         reference.values("biased_gelu"), 1e-5, 1e-5);
  });
}

TEST(linear, keeps_its_weights_once_and_may_be_loaded_again) {
  const torch_case reference("linear_130x24x33");
  on_each_device([&](topos::device d) {
    linear layer(24, 33, d);
    topos::nn::load(layer, reference.file(), results);
    topos::block_until_ready(d);
    const std::size_t once = topos::memory_stats(d).in_use;

    topos::nn::load(layer, reference.file(), results);
    topos::block_until_ready(d);

    EXPECT_EQ(topos::memory_stats(d).in_use, once);
    support::expect_near(values_of(layer(reference.tensor<2>("x", d))), reference.values("biased"),
                         1e-5, 1e-5);
  });
}

TEST(linear, before_it_is_loaded_is_refused) {
  const linear layer(3, 4, topos::cpu());
  EXPECT_THROW(static_cast<void>(layer(topos::zeros<float, 2>({2, 3}))), topos::invalid_argument);
}

TEST(linear, of_other_columns_is_refused) {
  const torch_case reference("linear_9x1x1");
  linear layer(1, 1, topos::cpu());
  topos::nn::load(layer, reference.file(), results);
  EXPECT_THROW(static_cast<void>(layer(topos::zeros<float, 2>({2, 3}))), topos::shape_mismatch);
}

}  // namespace linear_test
