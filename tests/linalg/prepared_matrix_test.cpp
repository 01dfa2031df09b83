// SPDX-License-Identifier: Apache-2.0

/// Products with prepared weights against PyTorch's, by the provider of each device.

#include <gtest/gtest.h>

#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <topos/linalg/prepared_matrix.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/devices.hpp"
#include "../support/torch_case.hpp"

namespace prepared_matrix_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::tensor_on;
using support::torch_case;
using support::values_of;
using topos::activation;
using topos::index_t;
using topos::prepared_matrix;
using topos::tensor;

static_assert(!std::is_convertible_v<tensor<float, 2>, prepared_matrix>);

constexpr topos::precision precisions[] = {topos::precision::highest, topos::precision::high,
                                           topos::precision::reproducible};

// The first rows of a matrix.
std::vector<float> head(std::vector<float> values, index_t rows, index_t columns) {
  values.resize(static_cast<std::size_t>(rows * columns));
  return values;
}

TEST(prepared_matrix, gives_pytorchs_products_at_every_number_of_rows) {
  for (const char* name : {"linear_130x37x45", "linear_130x24x33"}) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    const index_t k = reference.file().at("weight").shape[1];
    const index_t n = reference.file().at("weight").shape[0];
    on_each_device([&](topos::device d) {
      for (const topos::precision p : precisions) {
        const prepared_matrix w(reference.tensor<2>("weight", d), p);
        EXPECT_EQ(w.outputs(), n);
        EXPECT_EQ(w.inputs(), k);
        EXPECT_EQ(w.device(), d);
        EXPECT_EQ(w.precision(), p);
        const std::optional<tensor<float, 1>> bias = reference.tensor<1>("bias", d);
        for (const index_t m : {0, 1, 2, 7, 8, 9, 64, 65, 130}) {
          SCOPED_TRACE(m);
          const auto x = tensor_on<2>(d, {m, k}, head(reference.values("x"), m, k));
          const auto check = [&](const char* result, const auto& b, activation act) {
            SCOPED_TRACE(result);
            const tensor<float, 2> y = w.multiply(x, b, act);
            EXPECT_EQ(y.shape(), (topos::shape<2>{m, n}));
            support::expect_near(values_of(y), head(reference.values(result), m, n), 1e-5, 1e-5);
          };
          check("product", std::nullopt, activation::none);
          check("biased", bias, activation::none);
          check("product_gelu", std::nullopt, activation::gelu);
          check("biased_gelu", bias, activation::gelu);
        }
      }
    });
  }
}

TEST(prepared_matrix, gives_pytorchs_products_at_odd_sizes) {
  for (const char* name : {"linear_9x1x1", "linear_9x65x129"}) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    on_each_device([&](topos::device d) {
      for (const topos::precision p : precisions) {
        const prepared_matrix w(reference.tensor<2>("weight", d), p);
        const auto y = w.multiply(reference.tensor<2>("x", d), reference.tensor<1>("bias", d));
        support::expect_near(values_of(y), reference.values("biased"), 2e-5, 1e-5);
      }
    });
  }
}

TEST(prepared_matrix, that_is_reproducible_gives_a_row_the_same_bits_in_any_batch) {
  const torch_case reference("linear_130x37x45");
  on_each_device([&](topos::device d) {
    const prepared_matrix w(reference.tensor<2>("weight", d), topos::precision::reproducible);
    const std::optional<tensor<float, 1>> bias = reference.tensor<1>("bias", d);
    const std::vector<float> all =
        values_of(w.multiply(reference.tensor<2>("x", d), bias, activation::gelu));
    for (const index_t m : {1, 2, 7, 8, 9, 64, 65}) {
      const auto x = tensor_on<2>(d, {m, 37}, head(reference.values("x"), m, 37));
      EXPECT_TRUE(
          support::same_bits(values_of(w.multiply(x, bias, activation::gelu)), head(all, m, 45)))
          << m << " rows";
    }
  });
  EXPECT_EQ(topos::matmul_provider(topos::device_kind::cpu, topos::precision::reproducible),
            "built-in");
}

TEST(prepared_matrix, without_inputs_gives_the_bias) {
  on_each_device([](topos::device d) {
    const prepared_matrix w(topos::zeros<float, 2>({17, 0}, d));
    const auto x = topos::zeros<float, 2>({2, 0}, d);
    // The result's memory is likely to be this.
    { static_cast<void>(values_of(topos::full<float, 2>({2, 17}, 99, d))); }

    EXPECT_EQ(values_of(w.multiply(x)), std::vector<float>(34, 0));
    EXPECT_EQ(values_of(w.multiply(x, topos::full<float, 1>({17}, 3, d))),
              std::vector<float>(34, 3));
  });
}

TEST(prepared_matrix, without_outputs_gives_nothing) {
  on_each_device([](topos::device d) {
    const prepared_matrix w(topos::zeros<float, 2>({0, 5}, d));
    const auto y = w.multiply(topos::ones<float, 2>({3, 5}, d), std::nullopt, activation::gelu);
    EXPECT_EQ(y.shape(), (topos::shape<2>{3, 0}));
    EXPECT_TRUE(values_of(y).empty());
  });
}

TEST(prepared_matrix, without_weights_gives_nothing) {
  const prepared_matrix none;
  EXPECT_EQ(none.multiply(topos::zeros<float, 2>({3, 0})).shape(), (topos::shape<2>{3, 0}));
  topos::block_until_ready(topos::cpu());
}

TEST(prepared_matrix, of_a_part_of_a_tensor_is_that_part) {
  on_each_device([](topos::device d) {
    const auto both = tensor_on<3>(d, {2, 2, 2}, std::vector<float>{9, 9, 9, 9, 1, 2, 3, 4});
    const auto biases = tensor_on<2>(d, {2, 2}, std::vector<float>{9, 9, 10, 20});
    const auto inputs = tensor_on<3>(d, {2, 1, 2}, std::vector<float>{9, 9, 1, 1});

    const prepared_matrix w(both.row(1));

    EXPECT_EQ(values_of(w.multiply(inputs.row(1), biases.row(1))), (std::vector<float>{13, 27}));
  });
}

TEST(prepared_matrix, copies_share_weights_and_outlive_the_original) {
  on_each_device([](topos::device d) {
    std::optional<prepared_matrix> first(std::in_place,
                                         tensor_on<2>(d, {1, 2}, std::vector<float>{2, 3}));
    const prepared_matrix copy = *first;
    first.reset();

    EXPECT_EQ(values_of(copy.multiply(topos::ones<float, 2>({1, 2}, d))), std::vector<float>{5});
  });
}

TEST(prepared_matrix, depends_on_its_operands_failures) {
  on_each_device([](topos::device d) {
    const auto fail = [&](const topos::buffer& b) {
      topos::detail::queue_of(d, std::source_location::current())
          .submit({}, {b}, topos::detail::always_queued,
                  [](const auto&) { throw std::domain_error("gone"); });
    };
    const tensor<float, 2> failed({3, 3}, d);
    fail(failed.memory());
    const auto good = topos::ones<float, 2>({3, 3}, d);
    const tensor<float, 1> bias({3}, d);
    fail(bias.memory());
    const prepared_matrix w(good);

    EXPECT_THROW(values_of(prepared_matrix(failed).multiply(good)), std::domain_error) << "weights";
    EXPECT_THROW(values_of(w.multiply(failed)), std::domain_error) << "x";
    EXPECT_THROW(values_of(w.multiply(good, bias)), std::domain_error) << "bias";
    EXPECT_EQ(values_of(w.multiply(good)), std::vector<float>(9, 3));
  });
}

TEST(prepared_matrix, shapes_that_do_not_fit_are_all_named) {
  const prepared_matrix w(topos::zeros<float, 2>({4, 3}));
  const auto x = topos::zeros<float, 2>({2, 3});

  const std::string wrong_x = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(w.multiply(topos::zeros<float, 2>({2, 5})));
  });
  const std::string wrong_bias = refusal<topos::shape_mismatch>(
      [&] { static_cast<void>(w.multiply(x, topos::zeros<float, 1>({3}))); });

  EXPECT_TRUE(contains(wrong_x, "(2, 5)") && contains(wrong_x, "(4, 3)")) << wrong_x;
  EXPECT_TRUE(contains(wrong_bias, "(3,)") && contains(wrong_bias, "(4, 3)")) << wrong_bias;
  EXPECT_THROW(static_cast<void>(prepared_matrix().multiply(x)), topos::shape_mismatch);
}

TEST(prepared_matrix, operands_on_two_devices_are_both_named) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const prepared_matrix w(topos::zeros<float, 2>({4, 3}, topos::gpu()));

  const std::string message = refusal<topos::device_mismatch>([&] {
    static_cast<void>(w.multiply(topos::zeros<float, 2>({2, 3})));
  });

  EXPECT_TRUE(contains(message, "cpu") && contains(message, "cuda:0")) << message;
}

TEST(matmul_provider, has_a_name_on_every_kind_of_device) {
  on_each_device([](topos::device d) { EXPECT_FALSE(topos::matmul_provider(d.kind()).empty()); });
}

}  // namespace prepared_matrix_test
