// SPDX-License-Identifier: Apache-2.0

/// topos' own products, whatever library the build found: PyTorch's values, and the same bits for
/// a row alone and in a batch.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <source_location>
#include <topos/linalg/builtin.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/torch_case.hpp"

namespace builtin_test {

using support::on_each_device;
using support::torch_case;
using support::values_of;
using topos::activation;
using topos::index_t;
using topos::tensor;
using topos::detail::builtin_provider;

// act(x w^T + bias) through the queue of x's device.
tensor<float, 2> product(const tensor<float, 2>& x, const tensor<float, 2>& w,
                         const tensor<float, 1>* bias, activation act = activation::none) {
  const index_t n = w.shape()[0];
  const index_t k = w.shape()[1];
  const tensor<float, 2> y({x.shape()[0], n}, x.device());
  const topos::detail::product p{
      x.data(), y.data(), bias == nullptr ? nullptr : bias->data(), x.shape()[0], n, k, act};
  std::vector<topos::buffer> reads{x.memory(), w.memory()};
  if (bias != nullptr) reads.push_back(bias->memory());
  topos::detail::queue_of(x.device(), std::source_location::current())
      .submit(
          std::move(reads), {y.memory()}, topos::detail::always_queued, [=](const auto& stream) {
            builtin_provider::run(stream, builtin_provider::prepare(stream, w.memory(), n, k), p);
            stream.synchronize();  // before the prepared weights end
          });
  return y;
}

TEST(builtin_provider, gives_pytorchs_products) {
  for (const char* name :
       {"linear_130x37x45", "linear_130x24x33", "linear_9x1x1", "linear_9x65x129"}) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    on_each_device([&](topos::device d) {
      const auto x = reference.tensor<2>("x", d);
      const auto w = reference.tensor<2>("weight", d);
      const auto bias = reference.tensor<1>("bias", d);
      const auto check = [&](const char* result, const tensor<float, 1>* b, activation act) {
        SCOPED_TRACE(result);
        support::expect_near(values_of(product(x, w, b, act)), reference.values(result), 3e-5,
                             1e-5);
      };
      check("product", nullptr, activation::none);
      check("biased", &bias, activation::none);
      check("product_gelu", nullptr, activation::gelu);
      check("biased_gelu", &bias, activation::gelu);
    });
  }
}

TEST(builtin_provider, gives_a_row_the_same_bits_alone_and_in_any_batch) {
  const torch_case reference("linear_130x37x45");
  on_each_device([&](topos::device d) {
    const auto w = reference.tensor<2>("weight", d);
    const auto bias = reference.tensor<1>("bias", d);
    const std::vector<float> x = reference.values("x");
    const std::vector<float> all =
        values_of(product(reference.tensor<2>("x", d), w, &bias, activation::gelu));
    for (const index_t m : {1, 2, 7, 8, 9, 64, 65}) {
      for (const index_t first : {index_t{0}, index_t{5}, 130 - m}) {
        const auto part = support::tensor_on<2>(
            d, {m, 37}, std::vector<float>(x.begin() + first * 37, x.begin() + (first + m) * 37));
        EXPECT_TRUE(support::same_bits(
            values_of(product(part, w, &bias, activation::gelu)),
            std::vector<float>(all.begin() + first * 45, all.begin() + (first + m) * 45)))
            << m << " rows from " << first;
      }
    }
  });
}

TEST(builtin_provider, takes_empty_operands) {
  on_each_device([](topos::device d) {
    const auto bias = topos::full<float, 1>({17}, 3, d);
    const auto none =
        product(topos::zeros<float, 2>({0, 5}, d), topos::zeros<float, 2>({17, 5}, d), &bias);
    const auto no_inputs =
        product(topos::zeros<float, 2>({2, 0}, d), topos::zeros<float, 2>({17, 0}, d), &bias);

    EXPECT_TRUE(values_of(none).empty());
    EXPECT_EQ(values_of(no_inputs), std::vector<float>(34, 3));
  });
}

}  // namespace builtin_test
