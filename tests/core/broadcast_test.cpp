// SPDX-License-Identifier: Apache-2.0

/// Shapes broadcast as NumPy's do; those that do not are named.

#include <gtest/gtest.h>

#include <string>
#include <topos/core/broadcast.hpp>

namespace broadcast_test {

using topos::broadcast;
using topos::shape;

TEST(broadcast, keeps_equal_shapes) {
  EXPECT_EQ(broadcast("add", shape<0>{}, shape<0>{}), shape<0>{});
  EXPECT_EQ(broadcast("add", shape<2>{2, 3}, shape<2>{2, 3}), (shape<2>{2, 3}));
}

TEST(broadcast, stretches_extents_of_one) {
  EXPECT_EQ(broadcast("add", shape<2>{2, 1}, shape<2>{1, 3}), (shape<2>{2, 3}));
  EXPECT_EQ(broadcast("add", shape<2>{1, 3}, shape<2>{2, 1}), (shape<2>{2, 3}));
  EXPECT_EQ(broadcast("add", shape<1>{1}, shape<1>{0}), shape<1>{0});
  EXPECT_EQ(broadcast("add", shape<1>{0}, shape<1>{1}), shape<1>{0});
}

TEST(broadcast, aligns_at_the_last_axis) {
  EXPECT_EQ(broadcast("add", shape<3>{4, 2, 3}, shape<1>{3}), (shape<3>{4, 2, 3}));
  EXPECT_EQ(broadcast("add", shape<1>{3}, shape<2>{2, 1}), (shape<2>{2, 3}));
  EXPECT_EQ(broadcast("add", shape<0>{}, shape<2>{2, 3}), (shape<2>{2, 3}));
}

TEST(broadcast, names_shapes_that_do_not_fit) {
  EXPECT_THROW(static_cast<void>(broadcast("add", shape<1>{2}, shape<1>{0})),
               topos::shape_mismatch);
  try {
    static_cast<void>(broadcast("add", shape<2>{2, 3}, shape<1>{2}));
    FAIL() << "nothing was thrown";
  } catch (const topos::shape_mismatch& error) {
    EXPECT_STREQ(error.what(), "add: shapes (2, 3) and (2,) do not broadcast: 3 against 2");
    EXPECT_NE(std::string(error.where().file_name()).find("broadcast_test"), std::string::npos);
  }
}

}  // namespace broadcast_test
