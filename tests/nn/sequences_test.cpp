// SPDX-License-Identifier: Apache-2.0

/// Sequences laid end to end know where each begins.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <topos/nn/sequences.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace sequences_test {

using support::on_each_device;
using topos::index_t;
using topos::nn::sequences;

TEST(sequences, know_where_each_begins) {
  on_each_device([](topos::device d) {
    const sequences batch(std::vector<index_t>{3, 0, 5, 1}, d);

    EXPECT_EQ(batch.count(), 4);
    EXPECT_EQ(batch.rows(), 9);
    EXPECT_EQ(batch.longest(), 5);
    EXPECT_EQ(batch.offsets().device(), d);
    EXPECT_EQ(support::values_of(batch.offsets()), (std::vector<std::int32_t>{0, 3, 3, 8, 9}));
  });
}

TEST(sequences, may_be_none) {
  on_each_device([](topos::device d) {
    const sequences batch(std::vector<index_t>{}, d);

    EXPECT_EQ(batch.count(), 0);
    EXPECT_EQ(batch.rows(), 0);
    EXPECT_EQ(batch.longest(), 0);
    EXPECT_EQ(support::values_of(batch.offsets()), std::vector<std::int32_t>{0});
  });
}

TEST(sequences, of_lengths_that_cannot_be_are_refused) {
  constexpr index_t most = std::numeric_limits<std::int32_t>::max();
  for (const std::vector<index_t>& lengths : {std::vector<index_t>{2, -1},
                                              {most, 1},
                                              {most + 1},
                                              {std::numeric_limits<index_t>::max()}}) {
    EXPECT_THROW(static_cast<void>(sequences(lengths, topos::cpu())), topos::invalid_argument);
  }
  EXPECT_EQ(sequences(std::vector<index_t>{most}, topos::cpu()).rows(), most);
}

}  // namespace sequences_test
