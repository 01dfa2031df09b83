// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far ahead of what it loads a loop fetches what it will load.
///
/// Most processors go on by themselves only within a page. AMD's go on across pages, and to be told
/// of each line makes sums and maxima take a tenth to a third longer. (Measured on a Zen 4, and
/// taken for so on all of AMD's.) There a loop of quick lanes fetches the line that it loads, which
/// costs nothing. One that computes longer does not look so far ahead by itself, and is told.

#include <cstdint>
#include <topos/core/config.hpp>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace topos::detail {

/// Whether this processor needs no telling.
[[nodiscard]] inline bool fetches_across_pages() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool is_amd = [] {
    unsigned highest = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0, &highest, &b, &c, &d) != 0 && b == signature_AMD_ebx &&
           c == signature_AMD_ecx && d == signature_AMD_edx;
  }();
  return is_amd;
#else
  return false;
#endif
}

/// How far ahead elements are fetched along a row, whose lanes are quick or not: a page of floats,
/// or not at all.
[[nodiscard]] inline index_t fetch_distance(bool quick) {
  return quick && fetches_across_pages() ? 0 : 1024;
}

/// How far ahead elements are fetched of rows of which `piece` columns each are walked, and whose
/// next one is `stride` away: what is loaded `distance` elements later.
[[nodiscard]] constexpr index_t fetched_ahead(index_t distance, index_t columns, index_t piece,
                                              index_t stride) {
  if (piece > 8 * distance || (piece == columns && stride == columns)) return distance;
  if (piece == 0) return 0;
  const auto rows = static_cast<std::uint64_t>((distance + piece - 1) / piece);
  return static_cast<index_t>(rows * static_cast<std::uint64_t>(stride));
}

}  // namespace topos::detail
