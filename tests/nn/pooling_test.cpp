// SPDX-License-Identifier: Apache-2.0

/// Mean pooling against PyTorch's; each sequence for itself.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <topos/nn/pooling.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/torch_case.hpp"

namespace pooling_test {

using support::on_each_device;
using support::torch_case;
using support::values_of;
using topos::index_t;
using topos::tensor;
using topos::nn::mean_pool;
using topos::nn::pooled;
using topos::nn::sequences;

TEST(mean_pool, gives_pytorchs_values) {
  for (const char* name : {"pooling_24", "pooling_33"}) {
    SCOPED_TRACE(name);
    const torch_case reference(name);
    on_each_device([&](topos::device d) {
      const auto x = reference.tensor<2>("x", d);
      const sequences batch(reference.lengths(), d);
      support::expect_near(values_of(mean_pool(x, batch)), reference.values("mean"), 1e-6);
      support::expect_near(values_of(mean_pool(x, batch, pooled::normalized)),
                           reference.values("normalized"), 1e-6);
    });
  }
}

TEST(mean_pool, gives_a_sequence_the_same_bits_alone_and_in_a_batch) {
  const torch_case reference("pooling_33");
  const std::vector<float> x = reference.values("x");
  const std::vector<index_t> lengths = reference.lengths();
  on_each_device([&](topos::device d) {
    const std::vector<float> all = values_of(
        mean_pool(reference.tensor<2>("x", d), sequences(lengths, d), pooled::normalized));
    index_t first = 0;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const auto alone = support::tensor_on<2>(
          d, {lengths[s], 33},
          std::vector<float>(x.begin() + first * 33, x.begin() + (first + lengths[s]) * 33));
      const auto row = all.begin() + static_cast<std::ptrdiff_t>(s) * 33;
      EXPECT_TRUE(support::same_bits(
          values_of(
              mean_pool(alone, sequences(std::vector<index_t>{lengths[s]}, d), pooled::normalized)),
          std::vector<float>(row, row + 33)))
          << lengths[s];
      first += lengths[s];
    }
  });
}

TEST(mean_pool, of_sequences_without_rows_is_zero) {
  on_each_device([](topos::device d) {
    const sequences batch(std::vector<index_t>{0, 2, 0}, d);
    const auto x = topos::full<float, 2>({2, 4}, 3, d);

    EXPECT_EQ(values_of(mean_pool(x, batch)),
              (std::vector<float>{0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0}));
    EXPECT_EQ(values_of(mean_pool(x, batch, pooled::normalized)),
              (std::vector<float>{0, 0, 0, 0, .5f, .5f, .5f, .5f, 0, 0, 0, 0}));
  });
}

TEST(mean_pool, of_an_empty_batch_is_empty) {
  on_each_device([](topos::device d) {
    const auto y =
        mean_pool(topos::zeros<float, 2>({0, 24}, d), sequences(std::vector<index_t>{}, d));
    EXPECT_EQ(y.shape(), (topos::shape<2>{0, 24}));
    EXPECT_TRUE(values_of(y).empty());
  });
}

TEST(mean_pool, of_large_batches_is_whole) {
  on_each_device([](topos::device d) {
    const sequences batch(std::vector<index_t>(1000, 3), d);
    const auto y = mean_pool(topos::full<float, 2>({3000, 33}, 2, d), batch);
    EXPECT_EQ(values_of(y), std::vector<float>(33'000, 2));
  });
}

TEST(mean_pool, of_another_number_of_rows_is_refused) {
  const sequences batch(std::vector<index_t>{2, 3}, topos::cpu());

  const std::string message = support::refusal<topos::shape_mismatch>([&] {
    static_cast<void>(mean_pool(topos::zeros<float, 2>({6, 24}), batch));
  });

  EXPECT_TRUE(support::contains(message, "(6, 24)") && support::contains(message, "5")) << message;
}

TEST(mean_pool, across_devices_is_refused) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const sequences batch(std::vector<index_t>{2}, topos::cpu());
  EXPECT_THROW(static_cast<void>(mean_pool(topos::zeros<float, 2>({2, 24}, topos::gpu()), batch)),
               topos::device_mismatch);
}

}  // namespace pooling_test
