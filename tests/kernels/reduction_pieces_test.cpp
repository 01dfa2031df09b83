// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <topos/kernels/detail/reduction_pieces.hpp>
#include <vector>

namespace reduction_pieces_test {

using topos::index_t;
using topos::detail::reduction_pieces;

// Several shapes of groups, and pieces that divide them evenly and not.
std::vector<reduction_pieces> cut_groups(bool by_rows) {
  std::vector<reduction_pieces> all;
  for (const index_t outer : {1, 3}) {
    for (const index_t inner : {1, by_rows ? 1 : 2}) {
      for (const index_t reduced : {1, 7}) {
        for (const index_t columns : {1, 10}) {
          for (const index_t rows_of_one : {1, 2, 7}) {
            for (const index_t columns_of_one : {1, 4, 16}) {
              all.push_back({by_rows, outer, reduced, inner, columns});
              all.back().cut_into(rows_of_one, columns_of_one);
            }
          }
        }
      }
    }
  }
  return all;
}

TEST(reduction_pieces, by_rows_cover_each_element_once) {
  for (const reduction_pieces& groups : cut_groups(true)) {
    std::vector<int> seen(static_cast<std::size_t>(groups.outer * groups.reduced * groups.columns));
    for (index_t i = 0; i < groups.outer * groups.pieces(); ++i) {
      const auto at = groups.piece_number(i);
      const auto of = groups.piece_of(at.piece);
      for (index_t r = of.r; r < of.past_r; ++r) {
        for (index_t c = of.c; c < of.past_c; ++c)
          ++seen[static_cast<std::size_t>(groups.row_of(at.output, r, 0) * groups.columns + c)];
      }
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  }
}

TEST(reduction_pieces, down_columns_cover_each_element_once) {
  for (const reduction_pieces& groups : cut_groups(false)) {
    std::vector<int> seen(
        static_cast<std::size_t>(groups.outer * groups.reduced * groups.inner * groups.columns));
    for (index_t i = 0; i < groups.count_down(); ++i) {
      const auto at = groups.down_of(i);
      for (index_t r = at.of.r; r < at.of.past_r; ++r) {
        const index_t row = groups.row_of(at.group, r, at.t);
        for (index_t c = at.of.c; c < at.of.past_c; ++c)
          ++seen[static_cast<std::size_t>(row * groups.columns + c)];
      }
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  }
}

// Of rows of so many columns.
index_t piece(index_t outer, index_t columns) {
  return reduction_pieces{true, outer, 1, 1, columns}.device_piece();
}

TEST(reduction_pieces, of_a_device_leave_few_results_and_work_for_all_teams) {
  EXPECT_GE(piece(1, 10'000), 10'000);
  EXPECT_EQ(piece(1, 1'000'000), 8192);
  EXPECT_EQ(piece(1, 100'000'000), 32'768);
  EXPECT_EQ(piece(2, 5'000'000'000), 32'768) << "no more than a team's threads count to";
}

TEST(reduction_pieces, of_a_device_do_not_depend_on_how_many_outputs_share_a_launch) {
  for (const index_t columns : {100, 10'000, 20'000, 100'000, 10'000'000})
    EXPECT_EQ(piece(1, columns), piece(100'000, columns)) << columns;
}

}  // namespace reduction_pieces_test
