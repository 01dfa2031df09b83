// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a type is called, for messages.

#include <cstddef>
#include <source_location>
#include <string_view>

namespace topos::detail {

/// The type's name as the compiler writes it.
template <class T>
[[nodiscard]] std::string_view type_name() {
  // "... [with T = int; ...]" of g++, "... [T = int]" of clang.
  const std::string_view all = std::source_location::current().function_name();
  const std::size_t begin = all.find("T = ");
  if (begin == all.npos) return all;
  const std::string_view name = all.substr(begin + 4);
  const std::size_t end = name.find("; std::");
  return name.substr(0, end != name.npos ? end : name.rfind(']'));
}

}  // namespace topos::detail
