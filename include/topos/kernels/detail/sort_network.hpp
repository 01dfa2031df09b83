// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Short rows sorted side by side on the host: what a sorting network compares does not depend on
/// the keys, so that each instruction does it for as many rows as a register has lanes.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <topos/core/config.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

/// Rows of so many keys are sorted side by side, at most: of more, a radix sort looks less often at
/// each.
inline constexpr index_t network_columns = 1024;

/// Of rows of at least so many keys those that are kept are found before, if they are few.
inline constexpr index_t selected_columns = 128;

/// What a network sorts: keys, or, above its number, each key that has one, which keeps equal ones
/// in their order. There is none of eight bytes with a number.
template <class Key, bool Numbered>
using network_word_t = std::conditional_t<
    !Numbered, Key,
    std::conditional_t<(sizeof(Key) <= 2), std::uint32_t,
                       std::conditional_t<(sizeof(Key) <= 4), std::uint64_t, void>>>;

/// Rows side by side.
template <class Word>
inline constexpr index_t network_rows = 64 / sizeof(Word);

template <class Word>
[[gnu::always_inline]] inline void exchange(Word* a, Word* b) {
  TOPOS_INDEPENDENT_STEPS
  for (index_t w = 0; w < network_rows<Word>; ++w) {
    const Word x = a[w];
    const Word y = b[w];
    a[w] = x < y ? x : y;
    b[w] = x < y ? y : x;
  }
}

/// Sorts each column of an array (n, network_rows): Batcher's merge exchange (Knuth, The Art of
/// Computer Programming 3, 5.2.2, algorithm M).
template <class Word>
[[gnu::noinline]] void sort_columns(Word* all, index_t n) {
  const auto most = static_cast<index_t>(std::bit_ceil(static_cast<std::size_t>(n)) / 2);
  for (index_t p = most; p > 0; p /= 2) {
    index_t distance = p;
    index_t bit = 0;
    for (index_t q = most;; q /= 2) {
      // Runs of p elements whose number has the bit, or has it not.
      for (index_t run = bit; run + distance < n; run += 2 * p) {
        const index_t past = std::min(run + p, n - distance);
        for (index_t i = run; i < past; ++i)
          exchange(all + i * network_rows<Word>, all + (i + distance) * network_rows<Word>);
      }
      if (q == p) break;
      distance = q - p;
      bit = p;
    }
  }
}

/// Sorts rows of keys, which lie one after another, and their numbers with them: those are
/// 0, 1, ... of each row; null: none are wanted.
template <bool Numbered, class Key, class Number>
void sort_side_by_side(Key* keys, Number* numbers, index_t rows, index_t columns) {
  using word = network_word_t<Key, Numbered>;
  constexpr index_t lanes = network_rows<word>;
  constexpr int shift = Numbered ? 4 * sizeof(word) : 0;
  alignas(64) word all[network_columns * lanes];
  for (index_t first = 0; first < rows; first += lanes) {
    const index_t count = std::min(lanes, rows - first);
    Key* const from = keys + first * columns;
    if (count < lanes) std::fill_n(all, columns * lanes, word(0));
    for (index_t w = 0; w < count; ++w) {
      for (index_t j = 0; j < columns; ++j) {
        word x = from[w * columns + j];
        if constexpr (Numbered) x = x << shift | static_cast<word>(j);
        all[j * lanes + w] = x;
      }
    }
    sort_columns(all, columns);
    for (index_t w = 0; w < count; ++w) {
      for (index_t j = 0; j < columns; ++j) {
        const word x = all[j * lanes + w];
        from[w * columns + j] = static_cast<Key>(x >> shift);
        if constexpr (Numbered)
          numbers[(first + w) * columns + j] =
              static_cast<Number>(x & ((word(1) << shift) - word(1)));
      }
    }
  }
}

}  // namespace topos::detail::host_rows
