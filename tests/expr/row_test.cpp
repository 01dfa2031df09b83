// SPDX-License-Identifier: Apache-2.0

/// Rows: however many elements are asked for at once, they are the same.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/operation_row.hpp>
#include <topos/expr/operations.hpp>
#include <topos/expr/settled_row.hpp>
#include <vector>

namespace row_test {

using namespace topos::detail;
using topos::index_t;

alignas(64) constexpr float first[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                       11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
alignas(64) constexpr float second[] = {20, 19, 18, 17, 16, 15, 14, 13, 12, 11,
                                        10, 9,  8,  7,  6,  5,  4,  3,  2,  1};

auto sum_of_product(index_t base) {
  const memory_row<float> a{{first}, base};
  const memory_row<float> b{{second}, base};
  return make_row(add_op{}, make_row(multiply_op{}, a, b), constant_row<float>{0.5f});
}

TEST(row, packs_are_its_elements) {
  const auto row = sum_of_product(4);
  ASSERT_TRUE(row.is_dense());
  const auto dense = row.dense();

  ASSERT_TRUE(dense.packs<4>(8));
  const auto four = dense.packed<4>(8);

  for (index_t i = 0; i < 4; ++i) EXPECT_EQ(four.value[i], row[8 + i]);
}

TEST(row, packs_only_where_all_its_memory_is_aligned) {
  EXPECT_TRUE(sum_of_product(0).dense().packs<4>(4));
  EXPECT_FALSE(sum_of_product(0).dense().packs<4>(3));
  EXPECT_FALSE(sum_of_product(1).dense().packs<4>(4));
  EXPECT_TRUE(sum_of_product(1).dense().packs<4>(3));
}

TEST(row, is_dense_where_every_part_is) {
  const strided_row<memory_elements<float>> apart{{first}, 0, 2};
  const strided_row<memory_elements<float>> together{{first}, 0, 1};
  const constant_row<float> constant{2.0f};

  EXPECT_TRUE(make_row(add_op{}, together, constant).is_dense());
  EXPECT_FALSE(make_row(add_op{}, together, apart).is_dense());
}

// A device takes powers as they are, which are calls; a loop of the host's only simple ones.
TEST(row, is_contiguous_whatever_its_operations) {
  const strided_row<memory_elements<float>> apart{{first}, 0, 2};
  const strided_row<memory_elements<float>> together{{first}, 4, 1};
  const auto general = make_row(power_op<float>::of(2.2f), together);

  EXPECT_FALSE(general.is_dense());
  ASSERT_TRUE(general.is_contiguous());
  EXPECT_TRUE(make_row(power_op<float>::of(2.0f), together).is_dense());
  EXPECT_FALSE(make_row(power_op<float>::of(2.2f), apart).is_contiguous());
  const auto four = general.contiguous().packed<4>(8);
  for (index_t i = 0; i < 4; ++i) EXPECT_EQ(four.value[i], general[8 + i]);
}

TEST(row, repeats_or_skips_elements_by_its_step) {
  const strided_row<memory_elements<float>> repeated{{first}, 3, 0};
  const strided_row<memory_elements<float>> backwards{{first}, 19, -1};

  EXPECT_EQ(repeated[7], 4);
  EXPECT_EQ(backwards[0], 20);
  EXPECT_EQ(backwards[19], 1);
}

TEST(row, counts_lanes_only_where_its_parts_agree) {
  using floats = constant_row<float>;
  using doubles = constant_row<double>;
  using bytes = constant_row<std::int8_t>;

  static_assert(decltype(make_row(add_op{}, floats{}, floats{}))::width == floats::width);
  static_assert(decltype(make_row(less_op{}, doubles{}, doubles{}))::width == doubles::width);
  static_assert(bytes::width == 0);
  static_assert(decltype(make_row(add_op{}, bytes{}, bytes{}))::width == 0);
  SUCCEED();
}

// What is one number in a row is computed once, where its row is levelled, too.
TEST(row, that_is_levelled_has_the_same_elements_and_settles) {
  using leaf = strided_row<memory_elements<float>>;
  if constexpr (leaf::width > 1) {  // nothing is levelled without lanes
    for (const index_t step : {0, 1, 2, -1}) {
      const leaf summand{{first}, step < 0 ? 19 : 1, step};
      const auto row = make_row(exp_op{}, make_row(add_op{}, summand, leaf{{second}, 3, 0}));
      EXPECT_EQ(is_level(row), step == 0 || step == 1);
      alignas(flat_block::alignment) std::byte memory[64 * bytes_levelled_of<decltype(row)>()];
      flat_block block{0, 1, 6, 1, memory, false};
      const auto level = levelled(row, 2, block);
      for (index_t j = 2; j < 8; ++j) EXPECT_EQ(level[j], row[j]) << step;
      EXPECT_EQ(level.is_same(), step == 0);
      EXPECT_EQ(settled(level).is_same(), step == 0);
    }
  }
}

}  // namespace row_test
