// SPDX-License-Identifier: Apache-2.0

/// Values in the order of their keys.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <source_location>
#include <topos/tensor/detail/sort_by.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace sort_by_test {

// As many as are sorted by one team, and by several.
TEST(sort_by, moves_values_and_keeps_those_of_equal_words_in_their_order) {
  for (const std::size_t count : {std::size_t{6}, std::size_t{200'000}}) {
    std::vector<std::uint32_t> words(count);
    for (std::size_t i = 0; i < count; ++i)
      words[i] = static_cast<std::uint32_t>(i % 50'000) * 2654435761U;
    std::vector<std::int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<std::int64_t> values = order;
    std::ranges::stable_sort(order, {},
                             [&](std::int64_t i) { return words[static_cast<std::size_t>(i)]; });
    support::on_each_device([&](topos::device d) {
      const auto moved = support::vector_on(d, values);
      const auto keys = support::vector_on(d, words);
      topos::detail::sort_by(keys, &moved, "sort", std::source_location::current());
      EXPECT_EQ(support::values_of(moved), order);
    });
  }
}

}  // namespace sort_by_test
