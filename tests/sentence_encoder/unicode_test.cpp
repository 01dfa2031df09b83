// SPDX-License-Identifier: Apache-2.0
// Words are those of the model's own tokenizer; tests/data/wordpiece is made by
// scripts/reference/words.py.

#include "unicode.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "../support/folders.hpp"
#include "../support/types.hpp"

namespace unicode_test {

using sentence_encoder::take_code_point;
using sentence_encoder::word;
using sentence_encoder::word_reader;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  word_reader reader(text);
  for (word next; reader.next(next);) {
    words.push_back(next.too_long ? "(too long)" : std::string(next.text));
  }
  return words;
}

using words = std::vector<std::string>;

std::u32string code_points_of(std::string_view text) {
  std::u32string result;
  while (!text.empty()) result += take_code_point(text);
  return result;
}

std::string utf8(char32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(take_code_point, reads_each_length) {
  EXPECT_EQ(code_points_of("a\u00e9\u20ac\U0001f600"), U"a\u00e9\u20ac\U0001f600");
  EXPECT_EQ(code_points_of("\u0080\u07ff\u0800\ud7ff\ue000\uffff"),
            U"\u0080\u07ff\u0800\ud7ff\ue000\uffff");
  EXPECT_EQ(code_points_of("\U00010000\U0010ffff"), U"\U00010000\U0010ffff");
  EXPECT_EQ(code_points_of(std::string_view("\0a", 2)), std::u32string_view(U"\0a", 2));
}

// The expectations are what Python's bytes.decode("utf-8", errors="replace") gives.
TEST(take_code_point, replaces_each_maximal_part_of_what_is_not_utf8) {
  EXPECT_EQ(code_points_of("a\x80z"), U"a\ufffdz");
  EXPECT_EQ(code_points_of("\xc0\xaf"), U"\ufffd\ufffd");                      // overlong
  EXPECT_EQ(code_points_of("\xe0\x80\x80"), U"\ufffd\ufffd\ufffd");            // overlong
  EXPECT_EQ(code_points_of("\xed\xa0\x80"), U"\ufffd\ufffd\ufffd");            // a surrogate
  EXPECT_EQ(code_points_of("\xf4\x90\x80\x80"), U"\ufffd\ufffd\ufffd\ufffd");  // too high
  EXPECT_EQ(code_points_of("\xf0\x8f\xbf\xbf"), U"\ufffd\ufffd\ufffd\ufffd");  // overlong
  EXPECT_EQ(code_points_of("\xf5\xff"), U"\ufffd\ufffd");
  EXPECT_EQ(code_points_of("\xe2\x82z"), U"\ufffdz");
  EXPECT_EQ(code_points_of("\xf0\x9f\x98"), U"\ufffd");  // cut off by the end
  EXPECT_EQ(code_points_of("\xe2\xe2\x82\xac"), U"\ufffd\u20ac");
}

TEST(word_reader, finds_nothing_in_nothing) {
  EXPECT_EQ(words_of(""), words{});
  EXPECT_EQ(words_of(" \t\n\r\u00a0\u3000"), words{});
  EXPECT_EQ(words_of("\u0301\u200b\ufffd"), words{});
}

TEST(word_reader, splits_at_space_and_punctuation) {
  EXPECT_EQ(words_of("Don't stop,\tNOW!"), (words{"don", "'", "t", "stop", ",", "now", "!"}));
  EXPECT_EQ(words_of("a$b+c`d"), (words{"a", "$", "b", "+", "c", "`", "d"}));
  EXPECT_EQ(words_of("\u201cx\u201d\u3002"), (words{"\u201c", "x", "\u201d", "\u3002"}));
  EXPECT_EQ(words_of("a\u20acb"), (words{"a\u20acb"}));  // a symbol is no punctuation, beyond ASCII
}

TEST(word_reader, drops_controls_within_words) {
  using namespace std::string_literals;
  EXPECT_EQ(words_of("a\0b\x07\x7f"s), (words{"ab"}));
  EXPECT_EQ(words_of("a\u00ad\u200d\u200bb\ufeff"), (words{"ab"}));
  EXPECT_EQ(words_of("a\ufffd\xff\x62"), (words{"ab"}));
  EXPECT_EQ(words_of("a\x0b\u0085z"), (words{"az"}));  // controls before they are white space
}

TEST(word_reader, strips_accents_and_lowers) {
  EXPECT_EQ(words_of("\u00c9COLE \u0045\u0301cole"), (words{"ecole", "ecole"}));
  EXPECT_EQ(words_of("\u0130I\u0131\u00df\u1e9e"), (words{"ii\u0131\u00df\u00df"}));
  EXPECT_EQ(words_of("\u03a3\u0391\u03a3"), (words{"\u03c3\u03b1\u03c3"}));  // no final sigma
  EXPECT_EQ(words_of("\u212a\ufb01"), (words{"k\ufb01"}));
  EXPECT_EQ(words_of("\U00010400"), (words{"\U00010428"}));
  EXPECT_EQ(words_of("\U00010d50"), (words{"\U00010d70"}));  // newer than Unicode 14
}

TEST(word_reader, looks_for_punctuation_after_decomposition) {
  EXPECT_EQ(words_of("a\u037eb\u2260c"), (words{"a", ";", "b", "=", "c"}));
}

TEST(word_reader, lets_ideographs_stand_alone) {
  EXPECT_EQ(words_of("a\u4e2d\u6587b"), (words{"a", "\u4e2d", "\u6587", "b"}));
  EXPECT_EQ(words_of("\u8c48\U00020000\uf900"), (words{"\u8c48", "\U00020000", "\u8c48"}));
  EXPECT_EQ(words_of("\u304b\u30ab\ud55c"), (words{"\u304b\u30ab\u1112\u1161\u11ab"}));
}

TEST(word_reader, reorders_spacing_marks) {
  // 224 (U+302E) moves behind 9 (U+1B44); U+0334 of class 1 is dropped, and stops nothing.
  EXPECT_EQ(words_of("x\u302e\u0334\u1b44y"), (words{"x\u1b44\u302ey"}));
  EXPECT_EQ(words_of("x\u302e\u200b\u1b44"), (words{"x\u1b44\u302e"}));
  // U+0941, a nonspacing mark of class 0, keeps the two apart.
  EXPECT_EQ(words_of("x\u302e\u0941\u1b44"), (words{"x\u302e\u1b44"}));
  EXPECT_EQ(words_of("x\u302e \u1b44"), (words{"x\u302e", "\u1b44"}));
}

TEST(word_reader, gives_up_on_words_over_100_characters) {
  for (const std::string letter : {"a", "A", "\u00e9", "\u0434", "\u1b44", "\ud55c"}) {
    const std::size_t characters = letter == "\ud55c" ? 3 : 1;  // after decomposition
    std::string text;
    for (std::size_t n = 0; n + characters <= 100; n += characters) text += letter;
    ASSERT_EQ(words_of(text).size(), 1u);
    EXPECT_NE(words_of(text).front(), "(too long)") << letter;
    EXPECT_EQ(words_of(text + letter + " b"), (words{"(too long)", "b"})) << letter;
    EXPECT_EQ(words_of(text + text + text + text + "."), (words{"(too long)", "."})) << letter;
  }
}

TEST(word_reader, makes_the_peers_words_of_every_code_point) {
  std::ifstream digests(support::data_folder() / "wordpiece" / "code_points.txt");
  std::uint32_t first = 0;
  std::uint64_t expected = 0;
  std::uint32_t lines = 0;
  for (; digests >> std::hex >> first >> expected; ++lines) {
    // Each block of them is read in the same way: where instructions are slow some are enough.
    if (support::few_types && lines % 16 != 0) continue;
    std::uint64_t digest = 0xcbf29ce484222325;
    const auto add = [&](char byte) {
      digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    };
    for (char32_t c = first; c < first + 4096; ++c) {
      if (c >= 0xd800 && c < 0xe000) continue;
      const std::string s = utf8(c);
      for (const auto& text :
           {s, "a" + s + "b", "\U0001d16d" + s + "\U0001d165", "x\u1b44" + s + "\u0301\u302e."}) {
        for (const auto& each : words_of(text)) {
          for (const char byte : each) add(byte);
          add('\0');
        }
      }
    }
    EXPECT_EQ(digest, expected) << "among the 4096 code points from U+" << std::hex << first;
  }
  EXPECT_EQ(lines, 0x110u);
}

}  // namespace unicode_test
