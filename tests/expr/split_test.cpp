// SPDX-License-Identifier: Apache-2.0

/// Expressions cut along an axis, as numpy.split does.

#include <gtest/gtest.h>

#include <string>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/split.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace split_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::tensor_on;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::shape;
using topos::split;

TEST(split, makes_equal_parts) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 4}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
    const auto rows = split(x, 2);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(values_of(eval(rows[1])), (std::vector<float>{4, 5, 6, 7}));
    const auto columns = split(x * 2, 2, -1);
    ASSERT_EQ(columns.size(), 2U);
    EXPECT_EQ(shape<2>(columns[1].shape()), (shape<2>{2, 2}));
    EXPECT_EQ(values_of(eval(columns[1])), (std::vector<float>{4, 6, 12, 14}));
  });
}

TEST(split, cuts_before_indices) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on<int>(d, {0, 1, 2, 3, 4, 5});
    const auto parts = split(x, std::vector<index_t>{2, 2, -1, 10});
    ASSERT_EQ(parts.size(), 5U);
    EXPECT_EQ(values_of(eval(parts[0])), (std::vector<int>{0, 1}));
    EXPECT_EQ(values_of(eval(parts[1])), (std::vector<int>{}));
    EXPECT_EQ(values_of(eval(parts[2])), (std::vector<int>{2, 3, 4}));
    EXPECT_EQ(values_of(eval(parts[3])), (std::vector<int>{5}));
    EXPECT_EQ(values_of(eval(parts[4])), (std::vector<int>{}));
  });
}

TEST(split, refuses_unequal_parts) {
  const auto x = topos::zeros<float, 2>({2, 3});
  const std::string message =
      refusal<topos::invalid_argument>([&] { static_cast<void>(split(x, 2, 1)); });
  EXPECT_TRUE(contains(message, "(2, 3)") && contains(message, "2 equal")) << message;
  EXPECT_THROW(static_cast<void>(split(x, 0)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(split(x, 1, 2)), topos::out_of_range);
}

TEST(split, takes_a_number_in_braces_for_an_index) {
  const auto x = support::vector_on<int>(topos::cpu(), {0, 1, 2, 3, 4, 5});
  const auto parts = split(x, {4});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(values_of(eval(parts[1])), (std::vector<int>{4, 5}));
}

}  // namespace split_test
