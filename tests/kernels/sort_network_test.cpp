// SPDX-License-Identifier: Apache-2.0

/// Rows sorted side by side, against the standard library's stable sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <topos/kernels/detail/sort_network.hpp>
#include <vector>

namespace sort_network_test {

namespace host_rows = topos::detail::host_rows;
using topos::index_t;

// Every row of zeros and ones is sorted, hence every row (Knuth 5.3.4, theorem Z).
TEST(sort_network, sorts_all_zeros_and_ones) {
  constexpr index_t lanes = host_rows::network_rows<std::uint8_t>;
  for (index_t n = 1; n <= 13; ++n) {
    const index_t count = index_t{1} << n;
    for (index_t first = 0; first < count; first += lanes) {
      std::uint8_t all[13 * lanes];
      for (index_t i = 0; i < n; ++i) {
        for (index_t w = 0; w < lanes; ++w)
          all[i * lanes + w] = static_cast<std::uint8_t>((first + w) >> i & 1);
      }
      host_rows::sort_columns(all, n);
      for (index_t i = 0; i + 1 < n; ++i) {
        for (index_t w = 0; w < lanes; ++w)
          ASSERT_LE(all[i * lanes + w], all[(i + 1) * lanes + w]) << n << ' ' << first + w;
      }
    }
  }
}

template <class Key>
class side_by_side : public testing::Test {};
using keys = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(side_by_side, keys);

TYPED_TEST(side_by_side, sorts_rows_of_any_length_and_number) {
  using key = TypeParam;
  std::mt19937_64 random(1);
  for (const index_t columns : {1, 2, 3, 31, 64, 100, 255, 1023, 1024}) {
    for (const index_t rows : {1, 7, 65}) {
      std::vector<key> in(static_cast<std::size_t>(rows * columns));
      for (key& k : in) k = static_cast<key>(random() >> (columns % 2 == 0 ? 60 : 0));
      in[0] = static_cast<key>(~key(0));
      std::vector<key> sorted = in;
      std::vector<std::int32_t> order(in.size());
      for (index_t r = 0; r < rows; ++r) {
        const auto row = sorted.begin() + r * columns;
        const auto numbers = order.begin() + r * columns;
        std::iota(numbers, numbers + columns, 0);
        std::stable_sort(numbers, numbers + columns,
                         [&](std::int32_t a, std::int32_t b) { return row[a] < row[b]; });
        std::stable_sort(row, row + columns);
      }
      std::vector<key> all = in;
      host_rows::sort_side_by_side<false>(all.data(), static_cast<std::int32_t*>(nullptr), rows,
                                          columns);
      ASSERT_EQ(all, sorted) << rows << ' ' << columns;
      if constexpr (sizeof(key) < 8) {
        all = in;
        std::vector<std::int32_t> numbers(in.size());
        host_rows::sort_side_by_side<true>(all.data(), numbers.data(), rows, columns);
        ASSERT_EQ(all, sorted) << rows << ' ' << columns;
        ASSERT_EQ(numbers, order) << rows << ' ' << columns;
      }
    }
  }
}

}  // namespace sort_network_test
