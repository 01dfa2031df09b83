// SPDX-License-Identifier: Apache-2.0

/// Attention against PyTorch's, over mixed lengths; each sequence for itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <topos/nn/attention.hpp>
#include <utility>
#include <vector>

#include "../support/devices.hpp"
#include "../support/torch_case.hpp"

namespace attention_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::torch_case;
using support::values_of;
using topos::index_t;
using topos::tensor;
using topos::nn::attention;
using topos::nn::sequences;

const std::vector<std::pair<const char*, index_t>> cases{
    {"attention_3x8", 3}, {"attention_4x9", 4}, {"attention_3x16", 3}, {"attention_2x32", 2}};

TEST(attention, gives_pytorchs_values_for_sequences_of_mixed_lengths) {
  for (const auto& [name, heads] : cases) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    on_each_device([&, h = heads](topos::device d) {
      const tensor<float, 2> y =
          attention(reference.tensor<2>("qkv", d), sequences(reference.lengths(), d), h);
      EXPECT_EQ(y.device(), d);
      support::expect_near(values_of(y), reference.values("y"), 1e-5, 1e-5);
    });
  }
}

TEST(attention, gives_a_sequence_the_same_bits_alone_and_in_a_batch) {
  for (const auto& [name, heads] : cases) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    const std::vector<float> qkv = reference.values("qkv");
    const std::vector<index_t> lengths = reference.lengths();
    on_each_device([&, h = heads](topos::device d) {
      const tensor<float, 2> batched =
          attention(reference.tensor<2>("qkv", d), sequences(lengths, d), h);
      const std::vector<float> all = values_of(batched);
      const index_t hidden = batched.shape()[1];
      index_t first = 0;
      for (const index_t length : lengths) {
        const auto alone =
            support::tensor_on<2>(d, {length, 3 * hidden},
                                  std::vector<float>(qkv.begin() + first * 3 * hidden,
                                                     qkv.begin() + (first + length) * 3 * hidden));
        EXPECT_TRUE(support::same_bits(
            values_of(attention(alone, sequences(std::vector<index_t>{length}, d), h)),
            std::vector<float>(all.begin() + first * hidden,
                               all.begin() + (first + length) * hidden)))
            << "of length " << length;
        first += length;
      }
    });
  }
}

TEST(attention, skips_sequences_without_rows) {
  const torch_case reference("attention_3x8");
  std::vector<index_t> lengths{0};
  for (const index_t length : reference.lengths()) {
    lengths.push_back(length);
    lengths.push_back(0);
  }
  on_each_device([&](topos::device d) {
    const auto y = attention(reference.tensor<2>("qkv", d), sequences(lengths, d), 3);
    support::expect_near(values_of(y), reference.values("y"), 1e-5, 1e-5);
  });
}

TEST(attention, of_an_empty_batch_is_empty) {
  on_each_device([](topos::device d) {
    for (const std::vector<index_t>& lengths : {std::vector<index_t>{}, {0}, {0, 0, 0}}) {
      const auto y = attention(topos::zeros<float, 2>({0, 72}, d), sequences(lengths, d), 3);
      EXPECT_EQ(y.shape(), (topos::shape<2>{0, 24}));
      EXPECT_TRUE(values_of(y).empty());
    }
  });
}

TEST(attention, of_no_columns_is_empty_with_any_number_of_heads) {
  on_each_device([](topos::device d) {
    const sequences batch(std::vector<index_t>{2, 3}, d);
    const auto y = attention(topos::zeros<float, 2>({5, 0}, d), batch, index_t{1} << 62);
    EXPECT_EQ(y.shape(), (topos::shape<2>{5, 0}));
    EXPECT_TRUE(values_of(y).empty());
  });
}

TEST(attention, of_one_row_is_its_value) {
  on_each_device([](topos::device d) {
    const std::vector<float> qkv = support::varied(3 * 34);
    const auto y = attention(support::tensor_on<2>(d, {1, 3 * 34}, qkv),
                             sequences(std::vector<index_t>{1}, d), 2);
    EXPECT_EQ(values_of(y), std::vector<float>(qkv.begin() + 2 * 34, qkv.end()));
  });
}

TEST(attention, stays_finite_for_large_scores) {
  on_each_device([](topos::device d) {
    std::vector<float> qkv = support::varied(17 * 3 * 8);
    for (float& v : qkv) v *= 1e4f;
    const auto y = attention(support::tensor_on<2>(d, {17, 3 * 8}, qkv),
                             sequences(std::vector<index_t>{17}, d), 1);
    for (const float v : values_of(y)) EXPECT_LE(std::abs(v), 2e4f);
  });
}

TEST(attention, of_long_sequences_averages_equal_values) {
  on_each_device([](topos::device d) {
    constexpr index_t rows = 513;
    std::vector<float> qkv = support::varied(rows * 3 * 16);
    for (std::size_t i = 0; i < qkv.size(); ++i) {
      if (i % 48 >= 32) qkv[i] = static_cast<float>(i % 48);
    }
    const auto y = attention(support::tensor_on<2>(d, {rows, 48}, qkv),
                             sequences(std::vector<index_t>{rows}, d), 1);
    const std::vector<float> got = values_of(y);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], static_cast<float>(32 + i % 16), 1e-4);
    }
  });
}

TEST(attention, of_shapes_that_do_not_fit_is_refused) {
  const sequences batch(std::vector<index_t>{2, 3}, topos::cpu());
  const auto refuse = [&](topos::shape<2> extents, index_t heads) {
    return refusal<topos::shape_mismatch>(
        [&] { static_cast<void>(attention(topos::zeros<float, 2>(extents), batch, heads)); });
  };

  EXPECT_TRUE(contains(refuse({6, 72}, 3), "(6, 72)")) << "rows";
  EXPECT_TRUE(contains(refuse({5, 71}, 3), "(5, 71)")) << "not three parts";
  EXPECT_TRUE(contains(refuse({5, 72}, 5), "5 heads")) << "heads do not divide";
  EXPECT_TRUE(contains(refuse({5, 72}, 0), "0 heads"));
  EXPECT_TRUE(contains(refuse({5, 72}, -1), "-1 heads"));
}

TEST(attention, across_devices_is_refused_and_names_both) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const sequences batch(std::vector<index_t>{2}, topos::cpu());

  const std::string message = refusal<topos::device_mismatch>([&] {
    static_cast<void>(attention(topos::zeros<float, 2>({2, 72}, topos::gpu()), batch, 3));
  });

  EXPECT_TRUE(contains(message, "cpu") && contains(message, "cuda:0")) << message;
}

}  // namespace attention_test
