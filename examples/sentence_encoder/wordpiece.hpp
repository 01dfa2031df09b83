// SPDX-License-Identifier: Apache-2.0
// The tokenizer of uncased BERT models: text to the ids of its WordPiece tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sentence_encoder {

/// Gives the ids that the model's own tokenizer (HuggingFace tokenizers, BertNormalizer with
/// lower-casing) gives.
///
/// Safe to share between threads: encoding changes nothing in it.
class wordpiece {
 public:
  /// Reads a vocabulary, a token a line; the number of the line, from 0, is the token's id. An
  /// encoding has at most `max_tokens` ids. Throws std::runtime_error if the file cannot be read or
  /// lacks [UNK], [CLS] or [SEP], and std::invalid_argument if `max_tokens` leaves no room for
  /// [CLS] and [SEP].
  explicit wordpiece(const std::filesystem::path& vocabulary, std::size_t max_tokens = 256);

  /// How many tokens the vocabulary has, empty lines behind them aside: ids are below it.
  [[nodiscard]] std::int32_t size() const noexcept { return size_; }

  /// Appends to `ids` the ids of `text`: [CLS], those of its words as far as they fit, [SEP]. What
  /// is not UTF-8 in the text is read as U+FFFD, which is dropped. [UNK], [CLS], [SEP], [PAD] and
  /// [MASK] in the text are those tokens.
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;

  /// The ids of `text`.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;

 private:
  // Where a piece may stand: a piece inside a word is written with a leading "##" in the
  // vocabulary.
  enum class position : std::uint8_t { start, inside };

  struct special {
    std::string_view text;
    std::int32_t id;
  };

  struct entry {
    std::uint32_t tag;     // part of the hash, compared first
    std::uint32_t offset;  // in text_
    std::int32_t id;
    std::uint16_t length;  // 0 where the place is free
    position where;
  };

  void insert(position where, std::string_view piece, std::int32_t id);
  [[nodiscard]] const entry* find(std::uint64_t hash, position where, std::string_view piece) const;
  [[nodiscard]] std::int32_t id_of(std::string_view token) const;
  void encode_words(std::string_view text, std::size_t limit, std::vector<std::int32_t>& ids) const;
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const;

  std::string text_;  // the vocabulary file
  std::vector<entry> entries_;
  std::vector<special> specials_;
  std::size_t longest_ = 0;  // bytes of the longest piece
  std::size_t max_tokens_;
  std::int32_t size_ = 0;
  std::int32_t unknown_ = 0;
  std::int32_t begin_ = 0;
  std::int32_t end_ = 0;
};

}  // namespace sentence_encoder
