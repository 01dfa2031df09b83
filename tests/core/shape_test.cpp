// SPDX-License-Identifier: Apache-2.0

/// Sizes of shapes are exact or refused; shapes print as NumPy's.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <topos/core/shape.hpp>
#include <vector>

namespace shape_test {

using topos::index_t;
using topos::size_of_shape;

using extents = std::vector<index_t>;

constexpr index_t largest = std::numeric_limits<index_t>::max();

TEST(size_of_shape, multiplies_the_extents) {
  EXPECT_EQ(size_of_shape(extents{}), 1);
  EXPECT_EQ(size_of_shape(extents{7}), 7);
  EXPECT_EQ(size_of_shape(extents{2, 3, 4}), 24);
  EXPECT_EQ(size_of_shape(topos::shape<2>{5, 6}), 30);
  EXPECT_EQ(size_of_shape(extents{largest}), largest);
  EXPECT_EQ(size_of_shape(extents{largest, 1, 1}), largest);
}

TEST(size_of_shape, is_zero_with_an_empty_axis_anywhere) {
  EXPECT_EQ(size_of_shape(extents{0}), 0);
  EXPECT_EQ(size_of_shape(extents{0, 3}), 0);
  EXPECT_EQ(size_of_shape(extents{3, 0}), 0);
  EXPECT_EQ(size_of_shape(extents{0, largest}), 0);
  EXPECT_EQ(size_of_shape(extents{largest, 1, 0}), 0);
}

TEST(size_of_shape, refuses_what_does_not_fit) {
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{largest, 2})), topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{2, largest})), topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{index_t{1} << 32, index_t{1} << 32})),
               topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{largest, largest, 1, 1})),
               topos::shape_mismatch);
}

// As NumPy and PyTorch do.
TEST(size_of_shape, refuses_what_does_not_fit_beside_an_empty_axis) {
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{0, largest, largest})),
               topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{largest, 0, 2})), topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{2, largest, 0})), topos::shape_mismatch);
}

TEST(size_of_shape, refuses_a_negative_extent) {
  for (const extents& bad : {extents{-1}, extents{2, -3}, extents{-1, -1}, extents{-1, 0}}) {
    EXPECT_THROW(static_cast<void>(size_of_shape(bad)), topos::shape_mismatch);
  }
}

TEST(size_of_shape, refuses_a_negative_extent_behind_an_empty_axis) {
  EXPECT_THROW(static_cast<void>(size_of_shape(extents{0, -1})), topos::shape_mismatch);
}

TEST(size_of_shape, names_the_callers_line_and_the_extent) {
  try {
    static_cast<void>(size_of_shape(extents{2, -3}));
    FAIL() << "nothing was thrown";
  } catch (const topos::shape_mismatch& error) {
    EXPECT_NE(std::string(error.what()).find("-3"), std::string::npos);
    EXPECT_NE(std::string(error.where().file_name()).find("shape_test"), std::string::npos);
  }
}

TEST(shape, prints_as_numpys) {
  EXPECT_EQ(topos::to_string(extents{}), "()");
  EXPECT_EQ(topos::to_string(extents{5}), "(5,)");
  EXPECT_EQ(topos::to_string(topos::shape<2>{2, 3}), "(2, 3)");
  EXPECT_EQ(topos::to_string(extents{0, 1, 1234567}), "(0, 1, 1234567)");
}

}  // namespace shape_test
