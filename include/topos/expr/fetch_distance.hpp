// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far ahead of what it loads a loop fetches what it will load.
///
/// Most processors go on by themselves only within a page. AMD's go on across pages: up to Zen 4,
/// to be told of each line makes sums and maxima take a tenth to a third longer. There a loop of
/// quick lanes fetches the line that it loads, which costs nothing; one that computes longer does
/// not look so far ahead by itself, and is told. But not of each of several arrays that it goes
/// through from end to end: functions of those take up to a third longer then, from caches and from
/// memory. On a Zen 5 only elementwise loops are better left alone: sums of sixteen-bit floats take
/// three quarters of the time, and a matrix times a vector three fifths, where they are told of two
/// pages; running sums a little less. (Measured on a Zen 4 and a Zen 5, and taken for so before and
/// after.)

#include <cstdint>
#include <topos/core/config.hpp>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace topos::detail {

/// The family of an AMD processor: 25 is Zen 3 and 4, 26 is Zen 5. 0 for others.
[[nodiscard]] inline unsigned amd_family() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const unsigned family = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool is_amd = __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_AMD_ebx &&
                        c == signature_AMD_ecx && d == signature_AMD_edx;
    if (!is_amd || __get_cpuid(1, &a, &b, &c, &d) == 0) return 0U;
    return (a >> 8U & 0xfU) + (a >> 20U & 0xffU);  // the base family, and the extended one
  }();
  return family;
#else
  return 0;
#endif
}

/// How far ahead elements are fetched along a row, whose lanes are quick or not: one page of
/// floats, two, or not at all.
[[nodiscard]] inline index_t fetch_distance(bool quick) {
  constexpr unsigned zen5 = 26;
  const unsigned family = amd_family();
  if (family >= zen5) return 2048;
  return quick && family != 0 ? 0 : 1024;
}

/// The same of an elementwise loop through so many leaves from end to end, or of another one (1).
[[nodiscard]] inline index_t elementwise_fetch_distance(bool quick, int leaves) {
  return (quick || leaves > 1) && amd_family() != 0 ? 0 : fetch_distance(quick);
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
