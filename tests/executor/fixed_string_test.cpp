// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string_view>
#include <topos/executor/fixed_string.hpp>
#include <type_traits>

namespace fixed_string_test {

template <topos::fixed_string Text>
struct named {
  static constexpr std::string_view text = Text.view();
};

static_assert(std::is_same_v<named<"/encode">, named<"/encode">>);
static_assert(!std::is_same_v<named<"/encode">, named<"/decode">>);

TEST(fixed_string, keeps_the_characters_of_a_literal) {
  EXPECT_EQ(named<"/encode">::text, "/encode");
  EXPECT_EQ(named<"">::text, "");
  EXPECT_EQ(named<"ü">::text.size(), 2U);
}

}  // namespace fixed_string_test
