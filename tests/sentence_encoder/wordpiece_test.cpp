// SPDX-License-Identifier: Apache-2.0
// tests/data/wordpiece: texts by scripts/reference/texts.py, the model's own ids by
// scripts/reference/tokens.py.

#include "wordpiece.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../support/folders.hpp"

namespace wordpiece_test {

using sentence_encoder::wordpiece;
using ids = std::vector<std::int32_t>;

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  const std::string text = contents(file);
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string joined(const ids& values) {
  std::string line;
  for (const auto value : values) line += (line.empty() ? "" : " ") + std::to_string(value);
  return line;
}

/// A vocabulary file that lasts as long as the test.
class vocabulary_file {
 public:
  explicit vocabulary_file(std::string_view text) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            ("wordpiece_" + std::string(test->name()) + "_vocab.txt");
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~vocabulary_file() { std::filesystem::remove(path_); }
  vocabulary_file(const vocabulary_file&) = delete;
  vocabulary_file& operator=(const vocabulary_file&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr std::int32_t pad = 0, unk = 1, cls = 2, sep = 3, mask = 4;

constexpr std::string_view small_vocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
    "un\n##aff\n##able\naffable\n##a\n.\n[\n]\nhello\n\u00df\n\u4e2d\n##\u0434\u0430\n\u0434\n";
// 5    6      7       8        9     10 11 12 13     14    15      16            17

TEST(wordpiece, frames_even_an_empty_text) {
  const vocabulary_file file(small_vocabulary);
  const wordpiece tokenizer(file.path());
  EXPECT_EQ(tokenizer.encode(""), (ids{cls, sep}));
  EXPECT_EQ(tokenizer.encode(" \t\u3000\u0301"), (ids{cls, sep}));
}

TEST(wordpiece, appends) {
  const vocabulary_file file(small_vocabulary);
  const wordpiece tokenizer(file.path(), 3);
  ids all{99};
  tokenizer.encode("hello hello", all);
  tokenizer.encode(".", all);
  EXPECT_EQ(all, (ids{99, cls, 13, sep, cls, 10, sep}));
}

TEST(wordpiece, takes_the_longest_piece) {
  const vocabulary_file file(small_vocabulary);
  const wordpiece tokenizer(file.path());
  EXPECT_EQ(tokenizer.encode("Unaffable affable una"), (ids{cls, 5, 6, 7, 8, 5, 9, sep}));
  EXPECT_EQ(tokenizer.encode("\u0414\u0434\u0430 \u00df\u4e2d"), (ids{cls, 17, 16, 14, 15, sep}));
}

TEST(wordpiece, gives_a_word_up_as_a_whole) {
  const vocabulary_file file(small_vocabulary);
  const wordpiece tokenizer(file.path());
  EXPECT_EQ(tokenizer.encode("unaffx hello x"), (ids{cls, unk, 13, unk, sep}));
  EXPECT_EQ(tokenizer.encode("able"), (ids{cls, unk, sep}));  // a piece for inside a word only
  EXPECT_EQ(tokenizer.encode("##able"), (ids{cls, unk, unk, unk, sep}));
  EXPECT_EQ(tokenizer.encode("hellohello"), (ids{cls, unk, sep}));  // one for its start only
}

TEST(wordpiece, gives_words_over_100_characters_up) {
  const vocabulary_file file(small_vocabulary);
  const wordpiece tokenizer(file.path());
  ids longest{cls, 5};
  longest.insert(longest.end(), 98, 9);
  longest.push_back(sep);
  EXPECT_EQ(tokenizer.encode("un" + std::string(98, 'a')), longest);
  EXPECT_EQ(tokenizer.encode("un" + std::string(99, 'a')), (ids{cls, unk, sep}));
}

TEST(wordpiece, finds_special_tokens_in_the_raw_text) {
  const vocabulary_file file(small_vocabulary);
  const wordpiece tokenizer(file.path());
  EXPECT_EQ(tokenizer.encode("un[MASK]hello[SEP]"), (ids{cls, 5, mask, 13, sep, sep}));
  EXPECT_EQ(tokenizer.encode("[PAD][UNK][CLS]"), (ids{cls, pad, unk, cls, sep}));
  EXPECT_EQ(tokenizer.encode("[[CLS]]"), (ids{cls, 11, cls, 12, sep}));
  EXPECT_EQ(tokenizer.encode("[cls]"), (ids{cls, 11, unk, 12, sep}));
  EXPECT_EQ(tokenizer.encode("[CLS"), (ids{cls, 11, unk, sep}));
  EXPECT_EQ(tokenizer.encode("[CL\u200bS]"), (ids{cls, 11, unk, 12, sep}));
}

TEST(wordpiece, cuts_at_the_limit) {
  const vocabulary_file file(small_vocabulary);
  EXPECT_EQ(wordpiece(file.path(), 2).encode("hello"), (ids{cls, sep}));
  EXPECT_EQ(wordpiece(file.path(), 3).encode("unaffable"), (ids{cls, 5, sep}));
  EXPECT_EQ(wordpiece(file.path(), 4).encode("hello[MASK][MASK]"), (ids{cls, 13, mask, sep}));
  EXPECT_EQ(wordpiece(file.path(), 5).encode("unaffx hello . ."), (ids{cls, unk, 13, 10, sep}));
  EXPECT_THROW(wordpiece(file.path(), 1), std::invalid_argument);
}

TEST(wordpiece, reads_lines_ended_as_on_windows_or_not_at_all) {
  const vocabulary_file file("[UNK]\r\n[CLS]\r\n[SEP]\r\nhello");
  EXPECT_EQ(wordpiece(file.path()).encode("hello [MASK]").front(), 1);
  EXPECT_EQ(wordpiece(file.path()).encode("hello"), (ids{1, 3, 2}));
  EXPECT_EQ(wordpiece(file.path()).size(), 4);
}

TEST(wordpiece, counts_no_empty_lines_at_the_end) {
  const vocabulary_file file("[UNK]\n[CLS]\n\n[SEP]\nhello\n\n\r\n");
  EXPECT_EQ(wordpiece(file.path()).size(), 5);
}

std::string error_of(const std::filesystem::path& vocabulary) {
  try {
    const wordpiece tokenizer(vocabulary);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(wordpiece, names_the_file_that_it_cannot_read) {
  const auto missing = std::filesystem::path(testing::TempDir()) / "no such folder" / "vocab.txt";
  EXPECT_EQ(error_of(missing),
            "vocabulary '" + missing.string() + "' cannot be read: No such file or directory");
  EXPECT_EQ(error_of(testing::TempDir()),
            "vocabulary '" + testing::TempDir() + "' cannot be read: Is a directory");
}

TEST(wordpiece, names_the_tokens_that_are_missing) {
  {
    const vocabulary_file file("[UNK]\nhello\n");
    EXPECT_EQ(error_of(file.path()),
              "vocabulary '" + file.path().string() + "' lacks the token(s) [CLS], [SEP]");
  }
  {
    const vocabulary_file file("");
    EXPECT_EQ(error_of(file.path()),
              "vocabulary '" + file.path().string() + "' lacks the token(s) [UNK], [CLS], [SEP]");
  }
}

std::filesystem::path model_vocabulary() { return support::model_folder() / "vocab.txt"; }

class wordpiece_of_the_model : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(model_vocabulary())) {
      GTEST_SKIP() << "needs the model: set TOPOS_MODEL_DIR to the folder of all-MiniLM-L6-v2";
    }
  }

  static void expect_the_models_ids(const std::string& texts, const std::string& reference,
                                    std::size_t max_tokens) {
    const std::filesystem::path folder = support::data_folder() / "wordpiece";
    const wordpiece tokenizer(model_vocabulary(), max_tokens);
    const auto inputs = lines_of(folder / texts);
    const auto expected = lines_of(folder / reference);
    ASSERT_FALSE(inputs.empty());
    ASSERT_EQ(inputs.size(), expected.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(joined(tokenizer.encode(inputs[i])), expected[i]) << texts << ':' << i + 1;
    }
  }
};

TEST_F(wordpiece_of_the_model, gives_the_peers_ids) {
  expect_the_models_ids("texts.txt", "texts.ids", 256);
}

TEST_F(wordpiece_of_the_model, gives_the_peers_ids_when_cut_short) {
  expect_the_models_ids("texts.txt", "texts_8.ids", 8);
}

TEST_F(wordpiece_of_the_model, gives_the_peers_ids_for_what_is_not_utf8) {
  expect_the_models_ids("broken.txt", "broken.ids", 256);
}

TEST_F(wordpiece_of_the_model, may_be_shared_between_threads) {
  const wordpiece tokenizer(model_vocabulary());
  const auto inputs = lines_of(support::data_folder() / "wordpiece" / "texts.txt");
  std::vector<ids> expected;
  for (const auto& input : inputs) expected.push_back(tokenizer.encode(input));
  std::vector<std::vector<ids>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        for (const auto& input : inputs) result.push_back(tokenizer.encode(input));
      });
    }
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

}  // namespace wordpiece_test
