// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threefry-2x32: a counter and a key become two random words, for one counter or for lanes of
/// them.
///
/// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

/// Returns lanes from a function of the host. What computes both numbers and lanes is compiled for
/// devices too; there it must not meet lanes, which have no meaning in device code.
#define TOPOS_RETURN_LANES(type, ...)      \
  KOKKOS_IF_ON_HOST((return __VA_ARGS__;)) \
  KOKKOS_IF_ON_DEVICE((return type{};))

namespace topos::random {

namespace detail {

/// Two words: one, or lanes of them.
template <class Word>
struct word_pair {
  Word first;
  Word second;
};

/// A constant as one word, or as lanes of it.
TOPOS_HOST_BRANCH
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word word(std::uint32_t value) {
  if constexpr (std::is_same_v<Word, std::uint32_t>)
    return value;
  else
    return lane::splat(value);
}

// Rounds are spelt with constant shifts, which compilers turn into rotations in registers.
TOPOS_HOST_BRANCH
template <int Left, class Word>
KOKKOS_FORCEINLINE_FUNCTION void threefry_round(Word& a, Word& b) {
  a = a + b;
  b = (b << Left) | (b >> (32 - Left));
  b = b ^ a;
}

TOPOS_HOST_BRANCH
template <int R0, int R1, int R2, int R3, class Word>
KOKKOS_FORCEINLINE_FUNCTION void threefry_rounds(Word& a, Word& b, const Word& ka, const Word& kb) {
  threefry_round<R0>(a, b);
  threefry_round<R1>(a, b);
  threefry_round<R2>(a, b);
  threefry_round<R3>(a, b);
  a = a + ka;
  b = b + kb;
}

}  // namespace detail

/// Threefry-2x32 with 20 rounds of the counter (a, b) under the key (k0, k1). `Word` is
/// std::uint32_t, or lanes of it on the host.
TOPOS_HOST_BRANCH
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION detail::word_pair<Word> threefry(std::uint32_t k0, std::uint32_t k1,
                                                             Word a, Word b) {
  using detail::word;
  const std::uint32_t k2 = k0 ^ k1 ^ 0x1bd11bdaU;
  a = a + word<Word>(k0);
  b = b + word<Word>(k1);
  detail::threefry_rounds<13, 15, 26, 6>(a, b, word<Word>(k1), word<Word>(k2 + 1U));
  detail::threefry_rounds<17, 29, 16, 24>(a, b, word<Word>(k2), word<Word>(k0 + 2U));
  detail::threefry_rounds<13, 15, 26, 6>(a, b, word<Word>(k0), word<Word>(k1 + 3U));
  detail::threefry_rounds<17, 29, 16, 24>(a, b, word<Word>(k1), word<Word>(k2 + 4U));
  detail::threefry_rounds<13, 15, 26, 6>(a, b, word<Word>(k2), word<Word>(k0 + 5U));
  return {a, b};
}

}  // namespace topos::random
