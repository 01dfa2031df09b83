// SPDX-License-Identifier: Apache-2.0

/// Threefry-2x32 against the known answers that its authors published with Random123.

#include <gtest/gtest.h>

#include <topos/random/threefry.hpp>

namespace threefry_test {

namespace lane = topos::lane;
using word = std::uint32_t;

struct known_answer {
  word k0, k1, a, b, first, second;
};
constexpr known_answer answers[] = {
    {0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
    {0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3, 0xc4923a9c, 0x483df7a0},
};

TEST(threefry, gives_the_known_answers) {
  for (const known_answer& known : answers) {
    const auto got = topos::random::threefry(known.k0, known.k1, known.a, known.b);
    EXPECT_EQ(got.first, known.first);
    EXPECT_EQ(got.second, known.second);
  }
}

// nvcc compiles what computes both for devices too, where there are no lanes.
template <class Lanes>
topos::random::detail::word_pair<Lanes> of_lanes(const known_answer& known, Lanes a, Lanes b) {
  TOPOS_RETURN_LANES(
      topos::random::detail::word_pair<Lanes>,
      topos::random::threefry(topos::random::expand_lanes(known.k0, known.k1), a, b));
}

TEST(threefry, gives_the_same_in_each_lane) {
  constexpr auto width = lane::width<word>;
  for (const known_answer& known : answers) {
    const auto a = lane::generate<word>([&](auto i) { return known.a + static_cast<word>(i); });
    const auto b = lane::generate<word>([&](auto i) { return known.b * static_cast<word>(i + 1); });
    const auto got = of_lanes(known, a, b);

    word first[width];
    word second[width];
    lane::store(first, got.first);
    lane::store(second, got.second);

    for (word i = 0; i < width; ++i) {
      const auto alone =
          topos::random::threefry(known.k0, known.k1, known.a + i, known.b * (i + 1));
      EXPECT_EQ(first[i], alone.first) << i;
      EXPECT_EQ(second[i], alone.second) << i;
    }
  }
}

}  // namespace threefry_test
