// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements with their numbers, and which of two comes first.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/rows.hpp>

namespace topos::detail {

/// Which of two elements is asked for; NaN before all others, as in NumPy. Without branches, which
/// compilers make no lanes of.
struct largest_first {
  using combine = maximum_op;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    return (a > b) | ((a != a) & (b == b));
  }
  template <lane::numbers B>
  auto lanes(const B& a, const B& b) const {
    return (a > b) | (lane::differs(a, a) & (b == b));
  }
};
struct smallest_first {
  using combine = minimum_op;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    return (a < b) | ((a != a) & (b == b));
  }
  template <lane::numbers B>
  auto lanes(const B& a, const B& b) const {
    return (a < b) | (lane::differs(a, a) & (b == b));
  }
};

/// An element and its number along the reduced axes.
template <class T, class Number = index_t>
struct numbered {
  T value;
  Number number;
};

/// The one of two that comes first.
template <class Before>
struct first_of_two {
  template <class T, class Number>
  KOKKOS_FUNCTION numbered<T, Number> operator()(const numbered<T, Number>& a,
                                                 const numbered<T, Number>& b) const {
    const Before before{};
    if (before(b.value, a.value)) return b;
    return b.number < a.number && !before(a.value, b.value) ? b : a;
  }

  /// The same where a's number is the lower one.
  struct ascending {
    template <class T, class Number>
    KOKKOS_FUNCTION numbered<T, Number> operator()(const numbered<T, Number>& a,
                                                   const numbered<T, Number>& b) const {
      const bool later = Before{}(b.value, a.value);
      return {later ? b.value : a.value, later ? b.number : a.number};
    }
  };
  [[nodiscard]] KOKKOS_FUNCTION ascending in_order() const { return {}; }
};

namespace host_rows {

/// The first column in [first, last) that holds the best value there.
template <class Before, class Row>
inline numbered<typename Row::value_type> find_first(const Row& row, index_t first, index_t last) {
  using T = typename Row::value_type;
  constexpr std::int32_t some = 256;
  const T best = reduce(typename Before::combine{}, row, first, last);
  // Computed again as it was before: lanes may round otherwise than single values.
  T values[some];
  for (index_t j = first; j < last; j += some) {
    const index_t count = std::min<index_t>(some, last - j);
    assign(values, 1, row, j, j + count);
    // Without a branch for each, which compilers make lanes of.
    auto least = static_cast<std::int32_t>(count);
    TOPOS_STEPS_TO_LEAST
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(count); ++k) {
      const bool here = (values[k] == best) | ((values[k] != values[k]) & (best != best));
      least = std::min(least, here ? k : some);
    }
    if (least < count) return {best, j + least};
  }
  return {best, first};
}

}  // namespace host_rows

}  // namespace topos::detail
