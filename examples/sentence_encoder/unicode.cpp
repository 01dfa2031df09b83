// SPDX-License-Identifier: Apache-2.0
// Cuts text into words as the tokenizer of an uncased BERT does.
#include "unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "unicode_table.hpp"

namespace sentence_encoder {
namespace {

enum trait : std::uint8_t {
  removed = 1,
  space = 2,
  ideograph = 4,
  nonspacing = 8,
  punctuation = 16,
  decomposes = 32,
  cased = 64,
  reorders = 128,
};

constexpr char32_t replacement = 0xfffd;
constexpr char32_t flat_end = 0x20000;  // beyond are ideographs and few ranges

constexpr auto flat_traits = [] {
  std::array<std::uint8_t, flat_end> flat{};
  for (const auto& range : unicode_table::ranges) {
    for (std::uint32_t c = range.first; c <= range.last && c < flat_end; ++c) {
      flat[c] = range.traits;
    }
  }
  return flat;
}();

std::uint8_t traits_of(char32_t code_point) {
  if (code_point < flat_end) return flat_traits[code_point];
  const auto* range =
      std::lower_bound(std::begin(unicode_table::ranges), std::end(unicode_table::ranges),
                       code_point, [](const auto& r, char32_t c) { return r.last < c; });
  const bool found = range != std::end(unicode_table::ranges) && range->first <= code_point;
  return found ? range->traits : 0;
}

// The lower-case form of an ASCII letter or digit; 0 for what ends a word or is dropped.
constexpr auto ascii_letters = [] {
  std::array<char, 256> letters{};
  for (std::size_t c = 0; c < 128; ++c) {
    if (flat_traits[c] == 0 || flat_traits[c] == cased) {
      letters[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  return letters;
}();

char ascii_letter(char c) { return ascii_letters[static_cast<unsigned char>(c)]; }

char32_t lower(char32_t code_point) {
  if (!(traits_of(code_point) & cased)) return code_point;
  const auto lowered =
      static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point)));
  if (lowered != code_point) return lowered;
  for (const auto& shift : unicode_table::newer_cases) {
    if (code_point >= shift.first && code_point <= shift.last) {
      return static_cast<char32_t>(static_cast<std::int32_t>(code_point) + shift.distance);
    }
  }
  return code_point;
}

std::uint8_t combining_class(char32_t code_point) {
  return static_cast<std::uint8_t>(
      utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point))->combining_class);
}

std::size_t encode_utf8(char32_t c, char* to) {
  return static_cast<std::size_t>(utf8proc_encode_char(static_cast<utf8proc_int32_t>(c),
                                                       reinterpret_cast<utf8proc_uint8_t*>(to)));
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    text.remove_prefix(1);
    return lead;
  }
  const std::size_t length = lead < 0xc2   ? 1
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 1;
  char32_t code_point = lead & (0x7fu >> length);
  std::size_t used = 1;
  for (; used < length && used < text.size(); ++used) {
    // The second byte's range keeps out overlong forms, surrogates and what is beyond U+10FFFF.
    const unsigned char low = used > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = used > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte(used) < low || byte(used) > high) break;
    code_point = code_point << 6 | (byte(used) & 0x3fu);
  }
  text.remove_prefix(used);
  return length > 1 && used == length ? code_point : replacement;
}

bool word_reader::next(word& result) {
  characters_ = bytes_ = 0;
  while (true) {
    if (queue_begin_ != queue_end_) {
      if (take_queued(result)) return true;
    } else if (text_.empty()) {
      if (mark_count_ == 0) return finish(result);
      flush_marks();
    } else if (ascii_letter(text_.front()) && mark_count_ == 0) {
      read_ascii_letters();
    } else if (static_cast<unsigned char>(text_.front()) < 0x80 && mark_count_ == 0) {
      const std::uint8_t traits = flat_traits[static_cast<unsigned char>(text_.front())];
      if (traits & removed) {
        text_.remove_prefix(1);
      } else if (characters_ != 0) {
        return finish(result);
      } else {
        result = {text_.substr(0, 1), false};
        text_.remove_prefix(1);
        if (traits & punctuation) return true;
      }
    } else {
      read_other();
    }
  }
}

void word_reader::read_ascii_letters() {
  const std::size_t room = max_characters - std::min(characters_, max_characters);
  const std::size_t limit = std::min(room, text_.size());
  std::size_t count = 0;
  for (; count < limit; ++count) {
    const char letter = ascii_letter(text_[count]);
    if (letter == 0) break;
    buffer_[bytes_ + count] = letter;
  }
  bytes_ += count;
  characters_ += count;
  if (room == 0) {
    count = 1;
    ++characters_;
  }
  text_.remove_prefix(count);
}

void word_reader::read_other() {
  const std::string_view before = text_;
  const char32_t code_point = take_code_point(text_);
  const std::uint8_t traits = traits_of(code_point);
  if (traits & removed) return;
  if (mark_count_ == 0) {
    if (traits == 0) return append_raw(before.substr(0, before.size() - text_.size()));
    if (traits == nonspacing) return;
    if (traits == cased) return append(lower(code_point));
  }
  if (traits & space) {
    normalise(' ');
  } else if (traits & ideograph) {
    normalise(' ');
    normalise(code_point);
    normalise(' ');
  } else {
    normalise(code_point);
  }
}

void word_reader::normalise(char32_t code_point) {
  if (!(traits_of(code_point) & decomposes)) return place(code_point);
  std::array<utf8proc_int32_t, 8> parts;  // a canonical decomposition has 4 code points at most
  int boundary = 0;
  const auto count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts.data(),
                              std::ssize(parts), UTF8PROC_DECOMPOSE, &boundary);
  for (const auto part : std::span{parts}.first(static_cast<std::size_t>(count))) {
    place(static_cast<char32_t>(part));
  }
}

void word_reader::place(char32_t code_point) {
  const std::uint8_t traits = traits_of(code_point);
  if (traits & nonspacing) {
    // Dropping it now is as good as after the reordering, unless it is a starter, which ends that.
    if (mark_count_ != 0 && combining_class(code_point) == 0) flush_marks();
  } else if (traits & reorders) {
    if (mark_count_ != max_marks) marks_[mark_count_++] = {code_point, combining_class(code_point)};
  } else {
    flush_marks();
    queue_lower(code_point);
  }
}

void word_reader::flush_marks() {
  const auto marks = std::span{marks_}.first(mark_count_);
  // An insertion sort: stable, in place, and the runs are short.
  for (std::size_t i = 1; i < marks.size(); ++i) {
    for (std::size_t j = i; j > 0 && marks[j - 1].combining_class > marks[j].combining_class; --j) {
      std::swap(marks[j - 1], marks[j]);
    }
  }
  for (const auto& waiting : marks) queue_lower(waiting.code_point);
  mark_count_ = 0;
}

void word_reader::queue_lower(char32_t code_point) {
  if (queue_begin_ == queue_end_) queue_begin_ = queue_end_ = 0;
  queue_[queue_end_++] = lower(code_point);
}

bool word_reader::take_queued(word& result) {
  const char32_t code_point = queue_[queue_begin_];
  const std::uint8_t traits = traits_of(code_point);
  if (!(traits & (space | punctuation))) {
    ++queue_begin_;
    append(code_point);
    return false;
  }
  if (characters_ != 0) return finish(result);
  ++queue_begin_;
  if (!(traits & punctuation)) return false;
  result = {{single_.data(), encode_utf8(code_point, single_.data())}, false};
  return true;
}

bool word_reader::finish(word& result) {
  result = {{buffer_.data(), bytes_}, characters_ > max_characters};
  return characters_ != 0;
}

void word_reader::append(char32_t code_point) {
  if (characters_++ < max_characters) bytes_ += encode_utf8(code_point, buffer_.data() + bytes_);
}

void word_reader::append_raw(std::string_view bytes) {
  if (characters_++ < max_characters) {
    bytes_ += bytes.copy(buffer_.data() + bytes_, bytes.size());
  }
}

}  // namespace sentence_encoder
