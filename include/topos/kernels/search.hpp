// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Places among sorted elements, by halving: https://en.wikipedia.org/wiki/Binary_search_algorithm.

#include <topos/kernels/map.hpp>
#include <type_traits>

namespace topos::detail {

/// How many of `count` elements come before each of N values: those for which `before` is true,
/// which are the first. All are sought side by side, and by one comparison, of which compilers make
/// no branch: a search on its own waits for memory at each step, and a branch is foreseen in one of
/// two.
template <index_t N, class T, class Before>
KOKKOS_FUNCTION void halve(const T* elements, index_t count, const T (&values)[N], Before before,
                           index_t (&places)[N]) {
  for (index_t i = 0; i < N; ++i) places[i] = 0;
  if (count == 0) return;
  index_t open = count;
  for (; open > 1; open -= open / 2) {
    const index_t half = open / 2;
    for (index_t i = 0; i < N; ++i)
      places[i] += before(elements[places[i] + half - 1], values[i]) ? half : 0;
  }
  for (index_t i = 0; i < N; ++i) places[i] += before(elements[places[i]], values[i]) ? 1 : 0;
}

/// How many of `count` elements, in ascending order with NaN last, come before each of N values;
/// with `equal` those that equal it do, too.
template <index_t N, class T>
KOKKOS_FUNCTION void seek(const T* elements, index_t count, const T (&values)[N], bool equal,
                          index_t (&places)[N]) {
  if (equal)
    halve(
        elements, count, values, [](T element, T value) { return element <= value; }, places);
  else
    halve(
        elements, count, values, [](T element, T value) { return element < value; }, places);
  if constexpr (!std::is_integral_v<T>) {
    for (index_t i = 0; i < N; ++i) {
      if (values[i] == values[i]) continue;
      index_t numbers[1] = {count};
      const T any[1] = {};
      if (!equal)
        halve(
            elements, count, any, [](T element, T) { return element == element; }, numbers);
      places[i] = numbers[0];
    }
  }
}

/// Finds the place of each value. Item i is some of them.
template <class Values, class Index>
struct search_kernel {
  using value_type = typename Values::value_type;
  static constexpr index_t some = 1024;
  static constexpr index_t together = 16;

  Values values;  // by number
  index_t size;
  const value_type* elements;
  index_t count;
  bool equal;
  Index* places;

  [[nodiscard]] index_t items() const { return (size + some - 1) / some; }
  [[nodiscard]] index_t cost() const { return some * 64; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    index_t j = i * some;
    const index_t last = j + some < size ? j + some : size;
    if constexpr (Team::on_host)
      for (; j + together <= last; j += together) find<together>(j);
    for (j += team.rank(); j < last; j += team.threads()) find<1>(j);
  }

 private:
  template <index_t N>
  KOKKOS_FUNCTION void find(index_t j) const {
    value_type sought[N];
    index_t found[N];
    for (index_t i = 0; i < N; ++i) sought[i] = values(j + i);
    seek(elements, count, sought, equal, found);
    for (index_t i = 0; i < N; ++i) places[j + i] = static_cast<Index>(found[i]);
  }
};

}  // namespace topos::detail
