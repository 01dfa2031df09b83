// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Text from outside, in messages.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace topos::detail {

/// Text from outside as one printable line: quoted, control characters escaped, clipped.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string line = "'";
  std::size_t shown = std::min(longest, text.size());
  // Not in the middle of a UTF-8 sequence.
  while (shown > 0 && shown < text.size() && (text[shown] & 0xc0) == 0x80) --shown;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  // U+0080 to U+009F are controls, too: the byte 0xc2 and one below 0xa0.
  const auto is_high = [&](std::size_t i) {
    return i + 1 < shown && byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0;
  };
  for (std::size_t i = 0; i < shown; ++i) {
    if (byte(i) < 0x20 || byte(i) == 0x7f || is_high(i) || (i > 0 && is_high(i - 1))) {
      line += {'\\', 'x', digits[byte(i) >> 4U], digits[byte(i) & 15U]};
    } else {
      line += text[i];
    }
  }
  if (shown < text.size()) line += "...";
  return line += "'";
}

}  // namespace topos::detail
