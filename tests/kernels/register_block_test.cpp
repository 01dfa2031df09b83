// SPDX-License-Identifier: Apache-2.0

/// Register blocks of products: every size, whole and cut off, in every way in which a lies.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <topos/kernels/register_block.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace register_block_test {

using support::varied;
using topos::index_t;
namespace host_tile = topos::detail::host_tile;

// A product and a sum, rounded once where the machine has an instruction for it.
template <class T>
T multiplied_and_added(T x, T y, T total) {
  if constexpr (host_tile::has_simd<T> && topos::lane::has_fma)
    return std::fma(x, y, total);
  else
    return topos::detail::multiply_add(x, y, total);
}

// Element (i, j): a chain of multiply-adds from 0, added to what was there.
template <class T>
T expected(const std::vector<T>& a, index_t a_row, index_t step, const std::vector<T>& b,
           index_t b_row, index_t k, index_t i, index_t j, T before) {
  T total{};
  for (index_t p = 0; p < k; ++p) {
    const T x = a[static_cast<std::size_t>(i * a_row + p * step)];
    const T y = b[static_cast<std::size_t>(p * b_row + j)];
    total = multiplied_and_added(x, y, total);
  }
  return static_cast<T>(before + total);
}

template <int Rows, int Step, class T>
void check_block(int batches, index_t k, index_t last, bool add) {
  const index_t columns = (batches - 1) * host_tile::block_width<T> + last;
  const index_t b_row = batches * host_tile::block_width<T> + 1;
  const index_t a_row = Step == 1 ? k + 2 : 1;
  const index_t c_row = columns + 3;
  const auto a = varied<T>(Rows * a_row + k * Step);
  const auto b = varied<T>(k * b_row, 2);
  const auto before = varied<T>(Rows * c_row, 3);
  std::vector<T> c = before;
  host_tile::block_of<Rows, Step>(
      batches, host_tile::block_arguments<T>{c.data(), c_row, a.data(), a_row, b.data(), b_row, k,
                                             last, add});
  for (index_t i = 0; i < Rows; ++i) {
    for (index_t j = 0; j < c_row; ++j) {
      const auto at = static_cast<std::size_t>(i * c_row + j);
      if (j < columns) {
        const T start = add ? before[at] : T{};
        ASSERT_EQ(c[at], expected(a, a_row, Step, b, b_row, k, i, j, start)) << i << ", " << j;
      } else {
        ASSERT_EQ(c[at], before[at]) << "beyond the columns: " << i << ", " << j;
      }
    }
  }
}

template <int Rows, class T>
void check_rows() {
  SCOPED_TRACE(Rows);
  constexpr index_t width = host_tile::block_width<T>;
  for (int batches = 1; batches <= host_tile::most_batches<T>; ++batches) {
    for (const index_t k : {1, 2, 17}) {
      for (const index_t last : {index_t{1}, width / 2 + 1, width}) {
        for (const bool add : {false, true}) {
          check_block<Rows, 1, T>(batches, k, std::min(last, width), add);
          check_block<Rows, Rows, T>(batches, k, std::min(last, width), add);
        }
      }
    }
  }
}

template <class T>
void check_type() {
  check_rows<1, T>();
  check_rows<2, T>();
  check_rows<host_tile::most_rows<T>, T>();
}

TEST(register_block, adds_chains_of_multiply_adds) {
  check_type<float>();
  check_type<double>();
}

TEST(register_block, wraps_integers_around) {
  check_type<std::int8_t>();
  check_type<std::int32_t>();
}

TEST(register_block, takes_all_batches_and_leaves_none_alone_after_three) {
  constexpr int most = host_tile::most_batches<float>;
  for (index_t left = 1; left < 40; ++left) {
    index_t taken = 0;
    while (taken < left) {
      const int batches = host_tile::next_batches<float>(left - taken);
      EXPECT_LE(batches, most);
      EXPECT_TRUE(batches > 1 || left == 1 || most < 3) << left;
      taken += batches;
    }
    EXPECT_EQ(taken, left);
  }
}

TEST(register_block, takes_all_rows) {
  for (index_t left = 1; left < 40; ++left) {
    index_t taken = 0;
    while (taken < left) {
      const int rows = host_tile::next_rows<float>(left - taken);
      EXPECT_GE(rows, std::min<index_t>(left - taken, host_tile::most_rows<float>) / 2);
      taken += rows;
    }
    EXPECT_EQ(taken, left);
  }
}

}  // namespace register_block_test
