// SPDX-License-Identifier: Apache-2.0

/// Layouts: where elements lie, and what each view does to that.

#include <gtest/gtest.h>

#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <topos/core/layout.hpp>
#include <vector>

namespace layout_test {

using topos::index_t;
using topos::shape;
using topos::detail::layout;

// The numbers of a layout's elements in row-major order.
std::vector<index_t> numbers(const layout<3>& l) {
  std::vector<index_t> result;
  for (index_t i = 0; i < l.extents[0]; ++i) {
    for (index_t j = 0; j < l.extents[1]; ++j) {
      for (index_t k = 0; k < l.extents[2]; ++k)
        result.push_back(l.offset + i * l.strides[0] + j * l.strides[1] + k * l.strides[2]);
    }
  }
  return result;
}

const layout<3> cube = layout<3>::dense({2, 3, 2}, 100);

TEST(layout, dense_is_row_major) {
  EXPECT_EQ(cube.strides, (shape<3>{6, 2, 1}));
  EXPECT_EQ(cube.offset, 100);
  EXPECT_TRUE(cube.is_dense());
  EXPECT_TRUE(layout<0>::dense({}).is_dense());
  EXPECT_TRUE(layout<2>::dense({0, 5}).is_dense());
}

TEST(layout, is_dense_whatever_the_strides_of_axes_with_one_element) {
  EXPECT_TRUE((layout<3>{0, {4, 1, 3}, {3, 77, 1}}).is_dense());
  EXPECT_FALSE((layout<3>{0, {4, 1, 3}, {4, 3, 1}}).is_dense());
  EXPECT_FALSE((layout<1>{0, {4}, {-1}}).is_dense());
  EXPECT_FALSE((layout<1>{0, {4}, {0}}).is_dense());
}

TEST(layout, broadcasts_with_strides_of_zero) {
  const layout<3> wide =
      topos::detail::broadcast_layout(layout<2>::dense({3, 1}, 7), shape<3>{4, 3, 5});

  EXPECT_EQ(wide.offset, 7);
  EXPECT_EQ(wide.extents, (shape<3>{4, 3, 5}));
  EXPECT_EQ(wide.strides, (shape<3>{0, 1, 0}));
}

TEST(views, permute_moves_axes) {
  const auto seen = topos::detail::permute_view<3>{{2, 0, 1}}(cube);

  EXPECT_EQ(seen.extents, (shape<3>{2, 2, 3}));
  EXPECT_EQ(numbers(seen),
            (std::vector<index_t>{100, 102, 104, 106, 108, 110, 101, 103, 105, 107, 109, 111}));
}

TEST(views, flip_begins_at_the_end) {
  const auto seen = topos::detail::flip_view<3>{{false, true, false}}(cube);

  EXPECT_EQ(numbers(seen),
            (std::vector<index_t>{104, 105, 102, 103, 100, 101, 110, 111, 108, 109, 106, 107}));
  const auto none = topos::detail::flip_view<1>{{true}}(layout<1>::dense({0}, 3));
  EXPECT_EQ(none.offset, 3) << "no element lies before the first";
}

TEST(views, expand_and_pick_add_and_take_an_axis) {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const auto more = topos::detail::expand_view<4>{axis}(cube);
    EXPECT_EQ(more.extents[axis], 1);
    const auto back = topos::detail::pick_view<3>{axis, 0}(more);
    EXPECT_EQ(numbers(back), numbers(cube));
  }
  const auto plane = topos::detail::pick_view<2>{1, 2}(cube);
  EXPECT_EQ(plane.offset, 104);
  EXPECT_EQ(plane.extents, (shape<2>{2, 2}));
  EXPECT_EQ(plane.strides, (shape<2>{6, 1}));
}

TEST(views, range_takes_every_step) {
  const auto seen = topos::detail::range_view<3>{{1, 2, 0}, {1, -2, 1}, {1, 2, 2}}(cube);

  EXPECT_EQ(numbers(seen), (std::vector<index_t>{110, 111, 106, 107}));
}

TEST(checked_axis, counts_from_either_end) {
  const auto checked = [](index_t axis) {
    return topos::detail::checked_axis("flip", axis, 3, std::source_location::current());
  };
  EXPECT_EQ(checked(0), 0U);
  EXPECT_EQ(checked(2), 2U);
  EXPECT_EQ(checked(-1), 2U);
  EXPECT_EQ(checked(-3), 0U);
  for (const index_t outside : {index_t{3}, index_t{-4}, std::numeric_limits<index_t>::min()}) {
    try {
      static_cast<void>(checked(outside));
      ADD_FAILURE() << outside << " was taken";
    } catch (const topos::out_of_range& refused) {
      EXPECT_EQ(std::string(refused.what()), "flip: axis " + std::to_string(outside) +
                                                 " is out of range for an array of 3 axes");
      EXPECT_TRUE(std::string_view(refused.where().file_name()).ends_with("layout_test.cpp"));
    }
  }
}

}  // namespace layout_test
