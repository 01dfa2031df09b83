// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A string that can be a template argument.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace topos {

/// The characters of a string literal, as in `endpoint<"/encode", ...>`.
template <std::size_t Size>
struct fixed_string {
  char text[Size]{};

  // Implicit, so that a literal can stand where the template asks for it.
  consteval fixed_string(const char (&literal)[Size]) { std::copy_n(literal, Size, text); }

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
};

}  // namespace topos
