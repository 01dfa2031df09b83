// SPDX-License-Identifier: Apache-2.0

/// Layer normalisation against PyTorch's, of tensors and of expressions.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <topos/nn/load.hpp>
#include <topos/nn/normalization.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/torch_case.hpp"

namespace normalization_test {

using support::contains;
using support::on_each_device;
using support::torch_case;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;
using topos::nn::layer_norm;

layer_norm loaded(const torch_case& reference, topos::device d) {
  layer_norm norm(reference.file().at("weight").shape[0], 1e-12f, d);
  topos::nn::load(norm, reference.file(), {"x", "y"});
  return norm;
}

TEST(layer_norm, gives_pytorchs_values) {
  for (const char* name : {"layer_norm_1", "layer_norm_24", "layer_norm_33"}) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    on_each_device([&](topos::device d) {
      const auto y = loaded(reference, d)(reference.tensor<2>("x", d));
      // The row of little variance magnifies what its mean is off by.
      support::expect_near(values_of(y), reference.values("y"), 2e-3, 1e-5);
    });
  }
}

TEST(layer_norm, gives_pytorchs_values_closely_where_the_variance_is_not_small) {
  for (const char* name : {"layer_norm_24", "layer_norm_33"}) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    on_each_device([&](topos::device d) {
      const auto columns = static_cast<std::ptrdiff_t>(reference.file().at("weight").shape[0]);
      std::vector<float> got = values_of(loaded(reference, d)(reference.tensor<2>("x", d)));
      std::vector<float> expected = reference.values("y");
      for (std::vector<float>* v : {&got, &expected}) {
        v->erase(v->begin() + columns, v->begin() + 2 * columns);
      }
      support::expect_near(got, expected, 5e-6, 1e-5);
    });
  }
}

// Of lengths that devices compute in different ways, and from where nothing is aligned.
TEST(layer_norm, of_long_rows) {
  for (const index_t n : {1023, 1027, 4099, 12001}) {
    constexpr index_t rows = 3;
    const auto numbers = [](index_t count, index_t from) {
      std::vector<float> made(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<float>((static_cast<index_t>(i) * 37 + from) % 101) / 25.0f - 1.5f;
      return made;
    };
    const std::vector<float> in = numbers(rows * n + 1, 3);
    const std::vector<float> weight = numbers(n, 17);
    const std::vector<float> bias = numbers(n, 50);
    std::vector<float> expected(static_cast<std::size_t>(rows * n));
    for (index_t r = 0; r < rows; ++r) {
      const float* const x = in.data() + 1 + r * n;
      const double mean = std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
      double variance = 0;
      for (index_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean);
      variance /= static_cast<double>(n);
      for (index_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        expected[static_cast<std::size_t>(r * n + i)] =
            static_cast<float>((x[i] - mean) / std::sqrt(variance + 1e-5) * weight[k] + bias[k]);
      }
    }
    on_each_device([&](topos::device d) {
      layer_norm norm(n, 1e-5f, d);
      norm.parameters([&](const char* name, auto& p) {
        p.set(support::vector_on(d, name == std::string("weight") ? weight : bias));
      });
      const auto x = topos::reshape(
          topos::slice(support::vector_on(d, in), topos::range{1, rows * n + 1}), {rows, n});
      support::expect_near(values_of(norm(x)), expected, 2e-5, 1e-5);
    });
  }
}

TEST(layer_norm, gives_a_row_the_same_bits_alone_and_in_a_batch) {
  const torch_case reference("layer_norm_33");
  on_each_device([&](topos::device d) {
    const layer_norm norm = loaded(reference, d);
    const auto x = reference.tensor<2>("x", d);
    const std::vector<float> all = values_of(norm(x));
    for (index_t r = 0; r < 9; ++r) {
      const std::vector<float> alone = values_of(norm(x.row(r).reshape<2>({1, 33})));
      EXPECT_TRUE(support::same_bits(
          alone, std::vector<float>(all.begin() + r * 33, all.begin() + (r + 1) * 33)))
          << r;
    }
  });
}

TEST(layer_norm, fuses_with_the_expression_before_it) {
  const torch_case reference("layer_norm_24");
  on_each_device([&](topos::device d) {
    const layer_norm norm = loaded(reference, d);
    const auto x = reference.tensor<2>("x", d);
    const auto residual = support::tensor_on<2>(d, {9, 24}, support::varied(9 * 24));
    const auto position = support::vector_on(d, support::varied(24, 2));

    const tensor<float, 2> fused = norm(x + residual + position);
    const tensor<float, 2> apart = norm(eval(x + residual + position));

    EXPECT_TRUE(support::same_bits(values_of(fused), values_of(apart)));
  });
}

TEST(layer_norm, of_no_rows_is_empty) {
  on_each_device([](topos::device d) {
    const torch_case reference("layer_norm_24");
    const auto y = loaded(reference, d)(topos::zeros<float, 2>({0, 24}, d));
    EXPECT_EQ(y.shape(), (topos::shape<2>{0, 24}));
    EXPECT_TRUE(values_of(y).empty());
  });
}

TEST(layer_norm, of_constant_rows_is_the_bias) {
  on_each_device([](topos::device d) {
    const torch_case reference("layer_norm_24");
    const auto y = loaded(reference, d)(topos::full<float, 2>({2, 24}, 0.5f, d));
    std::vector<float> expected = reference.values("bias");
    const std::vector<float> bias = expected;
    expected.insert(expected.end(), bias.begin(), bias.end());
    support::expect_near(values_of(y), expected, 1e-6);
  });
}

TEST(layer_norm, of_many_rows_is_whole) {
  on_each_device([](topos::device d) {
    const torch_case reference("layer_norm_24");
    const layer_norm norm = loaded(reference, d);
    const std::vector<float> x = support::varied(24);
    const std::vector<float> one = values_of(norm(support::tensor_on<2>(d, {1, 24}, x)));
    const std::vector<float> all =
        values_of(norm(topos::zeros<float, 2>({2000, 24}, d) + support::vector_on(d, x)));
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], one[i % 24]) << i;
  });
}

TEST(layer_norm, of_other_columns_is_refused) {
  const torch_case reference("layer_norm_24");
  const layer_norm norm = loaded(reference, topos::cpu());

  const std::string message = support::refusal<topos::shape_mismatch>([&] {
    static_cast<void>(norm(topos::zeros<float, 2>({2, 25})));
  });

  EXPECT_TRUE(contains(message, "(2, 25)") && contains(message, "(24,)")) << message;
}

TEST(layer_norm, before_it_is_loaded_is_refused) {
  const layer_norm norm(3, 1e-12f, topos::cpu());
  EXPECT_THROW(static_cast<void>(norm(topos::zeros<float, 2>({2, 3}))), topos::invalid_argument);
}

TEST(layer_norm, across_devices_is_refused_and_names_both) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const layer_norm norm = loaded(torch_case("layer_norm_24"), topos::gpu());

  const std::string message = support::refusal<topos::device_mismatch>([&] {
    static_cast<void>(norm(topos::zeros<float, 2>({2, 24})));
  });

  EXPECT_TRUE(contains(message, "cpu") && contains(message, "cuda:0")) << message;
}

}  // namespace normalization_test
