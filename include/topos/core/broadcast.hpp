// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NumPy's broadcasting rule.

#include <algorithm>
#include <source_location>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>

namespace topos {

/// The shape of an elementwise operation on two shapes: aligned at the last axis, extents are
/// equal or one of them is 1. Throws `shape_mismatch` naming `operation` and both shapes.
template <std::size_t A, std::size_t B>
[[nodiscard]] shape<std::max(A, B)> broadcast(
    const char* operation, const shape<A>& a, const shape<B>& b,
    std::source_location where = std::source_location::current()) {
  constexpr std::size_t rank = std::max(A, B);
  shape<rank> result{};
  for (std::size_t back = 1; back <= rank; ++back) {
    const index_t left = back <= A ? a[A - back] : 1;
    const index_t right = back <= B ? b[B - back] : 1;
    if (left != right && left != 1 && right != 1) {
      throw shape_mismatch(
          detail::concat(operation, ": shapes ", to_string(a), " and ", to_string(b),
                         " do not broadcast: ", left, " against ", right),
          where);
    }
    result[rank - back] = left == 1 ? right : left;
  }
  return result;
}

namespace detail {

/// Throws `shape_mismatch` unless a shape broadcasts to another without changing that.
template <std::size_t A, std::size_t B>
void require_broadcasts_to(const char* operation, const shape<A>& from, const shape<B>& to,
                           std::source_location where) {
  static_assert(A <= B);
  bool does = true;
  for (std::size_t back = 1; back <= A; ++back)
    does &= from[A - back] == 1 || from[A - back] == to[B - back];
  if (!does) {
    throw shape_mismatch(
        concat(operation, ": ", to_string(from), " does not broadcast to ", to_string(to)), where);
  }
}

}  // namespace detail

}  // namespace topos
