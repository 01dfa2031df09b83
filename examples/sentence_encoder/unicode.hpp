// SPDX-License-Identifier: Apache-2.0
// Cuts text into words as the tokenizer of an uncased BERT does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sentence_encoder {

/// Takes the first code point off `text`, which must not be empty. What is not UTF-8 becomes
/// U+FFFD, one for each maximal part of a sequence, as the Unicode standard recommends (chapter 3,
/// table 3-8) and Python does.
char32_t take_code_point(std::string_view& text);

/// A normalised word.
struct word {
  std::string_view text;  ///< UTF-8; the beginning only, where the word is too long
  bool too_long;          ///< longer than word_reader::max_characters code points
};

/// Reads the normalised words of a text, one at a time, without allocating.
///
/// Controls are dropped, ideographs stand alone, text is decomposed (NFD), nonspacing marks are
/// dropped, letters become lower case, and each punctuation character is a word, as BertNormalizer
/// and BertPreTokenizer of HuggingFace tokenizers do it. The text must outlive the reader.
class word_reader {
 public:
  /// WordPiece gives longer words up.
  static constexpr std::size_t max_characters = 100;

  explicit word_reader(std::string_view text) : text_(text) {}
  word_reader(const word_reader&) = delete;
  word_reader& operator=(const word_reader&) = delete;

  /// Reads the next word; false at the end. `result` points into this reader or the text, until the
  /// next call.
  bool next(word& result);

 private:
  struct mark {
    char32_t code_point;
    std::uint8_t combining_class;
  };
  // More marks than this in a row make a word too long, whatever their order.
  static constexpr std::size_t max_marks = max_characters + 1;

  void read_ascii_letters();
  void read_other();
  void normalise(char32_t code_point);
  void place(char32_t code_point);
  void flush_marks();
  void queue_lower(char32_t code_point);
  bool take_queued(word& result);
  bool finish(word& result);
  void append(char32_t code_point);
  void append_raw(std::string_view bytes);

  std::string_view text_;
  std::size_t characters_ = 0;  // of the word being read
  std::size_t bytes_ = 0;
  std::size_t queue_begin_ = 0;  // normalised code points not yet in a word
  std::size_t queue_end_ = 0;
  std::size_t mark_count_ = 0;  // reorderable marks that wait for the next starter
  std::array<char, 4 * max_characters> buffer_;
  std::array<char, 4> single_;
  std::array<char32_t, max_marks + 16> queue_;
  std::array<mark, max_marks> marks_;
};

}  // namespace sentence_encoder
