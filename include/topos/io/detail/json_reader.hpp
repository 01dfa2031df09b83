// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A pull reader of strict JSON for formats whose structure is fixed: the caller asks for what must
/// come next. Nothing nests by itself, so hostile depth costs nothing, and only what the caller
/// keeps takes memory.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>

namespace topos::detail {

/// What is wrong with a text, and at which byte of it.
struct json_error {
  std::string message;
  std::size_t position;
};

/// Reads JSON (RFC 8259) from memory that outlives it; throws `json_error`.
class json_reader {
 public:
  explicit json_reader(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] std::size_t position() const noexcept { return position_; }

  [[noreturn]] void fail(std::string message) const { throw json_error{message, position_}; }

  /// Skips blanks, then takes `c` if it is next.
  bool accept(char c) {
    skip_blanks();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(concat("expected '", c, "'", found()));
  }

  /// Only blanks may be left.
  void expect_end() {
    skip_blanks();
    if (position_ != text_.size()) fail(concat("expected the end", found()));
  }

  /// Calls `member(key)` for each member of an object; it reads the value.
  template <class Member>
  void object(Member member) {
    expect('{');
    if (accept('}')) return;
    do {
      std::string key = string();
      expect(':');
      member(std::move(key));
    } while (accept(','));
    expect('}');
  }

  /// Calls `item()` for each item of an array; it reads the item.
  template <class Item>
  void array(Item item) {
    expect('[');
    if (accept(']')) return;
    do {
      item();
    } while (accept(','));
    expect(']');
  }

  /// A string, its escapes resolved; valid UTF-8.
  std::string string() {
    expect('"');
    std::string value;
    for (;;) {
      const unsigned char byte = next();
      if (byte == '"') return value;
      if (byte < 0x20) {
        --position_;
        fail("a control character in a string is not escaped");
      }
      if (byte == '\\') {
        append_escape(value);
      } else if (byte < 0x80) {
        value += static_cast<char>(byte);
      } else {
        append_multibyte(value, byte);
      }
    }
  }

  /// An integer that is not negative and fits `index_t`.
  index_t count() {
    skip_blanks();
    const std::size_t first = position_;
    index_t value = 0;
    while (position_ < text_.size() && is_digit(text_[position_])) {
      const index_t digit = text_[position_] - '0';
      if (value > (std::numeric_limits<index_t>::max() - digit) / 10) {
        fail("a number does not fit 63 bits");
      }
      value = value * 10 + digit;
      ++position_;
    }
    const bool whole =
        position_ == text_.size() || std::string_view(".eE").find(text_[position_]) == text_.npos;
    if (position_ == first || !whole) {
      fail(concat("expected a whole number that is not negative", found()));
    }
    if (text_[first] == '0' && position_ - first > 1) fail("a number begins with 0");
    return value;
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  void skip_blanks() noexcept {
    while (position_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[position_]) != text_.npos) {
      ++position_;
    }
  }

  std::string found() const {
    if (position_ == text_.size()) return ", found the end";
    const char c = text_[position_];
    return c > 0x20 && c < 0x7f ? concat(", found '", c, "'") : ", found an unprintable byte";
  }

  unsigned char next() {
    if (position_ == text_.size()) fail("a string does not end");
    return static_cast<unsigned char>(text_[position_++]);
  }

  // The well-formed sequences of the Unicode standard, table 3-7.
  void append_multibyte(std::string& value, unsigned char lead) {
    const std::size_t start = position_ - 1;
    const int more = lead >= 0xc2 && lead <= 0xdf   ? 1
                     : lead >= 0xe0 && lead <= 0xef ? 2
                     : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                    : 0;
    bool good = more != 0;
    for (int i = 0; good && i < more; ++i) {
      const unsigned char byte = next();
      unsigned char low = 0x80;
      unsigned char high = 0xbf;
      if (i == 0) {
        if (lead == 0xe0) low = 0xa0;   // overlong
        if (lead == 0xed) high = 0x9f;  // surrogates
        if (lead == 0xf0) low = 0x90;   // overlong
        if (lead == 0xf4) high = 0x8f;  // past U+10FFFF
      }
      good = byte >= low && byte <= high;
    }
    if (!good) throw json_error{"a string is not valid UTF-8", start};
    value += text_.substr(start, position_ - start);
  }

  std::uint32_t hex4() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const unsigned char c = next();
      std::uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = c - '0';
      } else if (c >= 'a' && c <= 'f') {
        digit = c - 'a' + 10U;
      } else if (c >= 'A' && c <= 'F') {
        digit = c - 'A' + 10U;
      } else {
        fail("a \\u escape without four hexadecimal digits");
      }
      value = value << 4U | digit;
    }
    return value;
  }

  void append_escape(std::string& value) {
    constexpr std::string_view from = "\"\\/bfnrt";
    constexpr std::string_view to = "\"\\/\b\f\n\r\t";
    const unsigned char c = next();
    if (c != 'u') {
      const std::size_t which = from.find(static_cast<char>(c));
      if (which == from.npos) fail("an unknown escape in a string");
      value += to[which];
      return;
    }
    std::uint32_t point = hex4();
    if (point >= 0xd800 && point < 0xe000) {
      const bool pair = point < 0xdc00 && next() == '\\' && next() == 'u';
      const std::uint32_t low = pair ? hex4() : 0;
      if (low < 0xdc00 || low > 0xdfff) fail("a \\u escape is half of a surrogate pair");
      point = 0x10000U + ((point - 0xd800U) << 10U) + (low - 0xdc00U);
    }
    if (point < 0x80) {
      value += static_cast<char>(point);
      return;
    }
    const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    constexpr unsigned leads[] = {0, 0xc0, 0xe0, 0xf0};
    value += static_cast<char>(leads[more] | point >> (6U * static_cast<unsigned>(more)));
    for (int i = more - 1; i >= 0; --i) {
      value += static_cast<char>(0x80U | (point >> (6U * static_cast<unsigned>(i)) & 0x3fU));
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace topos::detail
