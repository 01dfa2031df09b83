// SPDX-License-Identifier: Apache-2.0

/// Keys: what they are made of, and what is made of them, against JAX.

#include <gtest/gtest.h>

#include <sstream>
#include <topos/random/key.hpp>

#include "jax_numbers.hpp"

namespace key_test {

namespace random = topos::random;
using random::key;
using random::layout;

static_assert(std::regular<std::vector<key>>);
static_assert(!std::is_constructible_v<key, bool> && !std::is_constructible_v<key, double>);
static_assert(!std::is_convertible_v<int, key>);

template <class Keys>
void append(std::vector<std::uint32_t>& words, const Keys& keys) {
  for (const key& k : keys) words.insert(words.end(), {k.high(), k.low()});
}

TEST(key, holds_the_seed_in_two_words) {
  EXPECT_EQ(key{42}, key(0U, 42U));
  EXPECT_EQ(key{(std::uint64_t{7} << 32U) + 5}, key(7U, 5U));
  EXPECT_EQ(key{-1}, key(0U, 0xffffffffU));  // as jax.random.key(numpy.int32(-1))
  EXPECT_EQ(key{std::int64_t{-1}}, key(0xffffffffU, 0xffffffffU));
  EXPECT_EQ(key{0xffffffffU}, key(0U, 0xffffffffU));
  EXPECT_NE(key{0}, key(0, layout::partitionable));
}

TEST(key, prints_its_words) {
  std::ostringstream text;
  text << key{3} << ' ' << key(4, layout::partitionable);
  EXPECT_EQ(text.str(), "key(0, 3) key(0, 4, partitionable)");
}

TEST(key, splits_as_that_of_jax) {
  for (const layout l : support::jax_layouts) {
    std::vector<std::uint32_t> words;
    for (const topos::index_t count : {1, 2, 3, 4, 9}) {
      append(words, random::split(support::jax_key(l), count));
    }
    EXPECT_EQ(words,
              support::jax_values<std::uint32_t>("split", "split/" + support::layout_name(l)));
  }
}

TEST(key, splits_into_an_array_as_into_a_vector) {
  for (const layout l : support::jax_layouts) {
    const key k(9, l);
    const auto [a, b] = random::split(k);
    const auto three = random::split<3>(k);
    EXPECT_EQ((std::vector<key>{a, b}), random::split(k, 2));
    EXPECT_EQ(std::vector<key>(three.begin(), three.end()), random::split(k, 3));
    EXPECT_EQ(a.layout(), l);
  }
}

TEST(key, splits_into_none_and_not_into_less) {
  EXPECT_TRUE(random::split(key{0}, 0).empty());
  const auto text =
      support::refusal<topos::invalid_argument>([] { (void)random::split(key{0}, -1); });
  EXPECT_TRUE(support::contains(text, "split: into -1 keys")) << text;
}

TEST(key, chains_of_splits_and_folds_are_those_of_jax) {
  for (const layout l : support::jax_layouts) {
    key k = support::jax_key(l);
    for (std::uint64_t step = 0; step < 5; ++step) {
      k = random::fold_in(random::split(k, 3)[step % 3], 1000 * step);
    }
    EXPECT_EQ(
        (std::vector<std::uint32_t>{k.high(), k.low()}),
        support::jax_values<std::uint32_t>("split", "split_chain/" + support::layout_name(l)));
    EXPECT_EQ(k.layout(), l);
  }
}

}  // namespace key_test
