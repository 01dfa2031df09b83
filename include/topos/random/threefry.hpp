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

// Spelt with constant shifts, which compilers turn into rotations in registers.
TOPOS_HOST_BRANCH
template <int Left, class Word>
KOKKOS_FORCEINLINE_FUNCTION Word rotated(const Word& bits) {
  if constexpr (Left % 8 == 0 && !std::is_same_v<Word, std::uint32_t>)
    return lane::rotated_by_bytes<Left / 8>(bits);
  else
    return (bits << Left) | (bits >> (32 - Left));
}

// The rounds of N counters go in turn, so that one need not wait for the other.
TOPOS_HOST_BRANCH
template <int Left, int N, class Word>
KOKKOS_FORCEINLINE_FUNCTION void threefry_round(Word (&a)[N], Word (&b)[N]) {
  for (int i = 0; i < N; ++i) {
    a[i] = a[i] + b[i];
    b[i] = rotated<Left>(b[i]) ^ a[i];
  }
}

TOPOS_HOST_BRANCH
template <int R0, int R1, int R2, int R3, int N, class Word>
KOKKOS_FORCEINLINE_FUNCTION void threefry_rounds(Word (&a)[N], Word (&b)[N], const Word& ka,
                                                 const Word& kb) {
  threefry_round<R0>(a, b);
  threefry_round<R1>(a, b);
  threefry_round<R2>(a, b);
  threefry_round<R3>(a, b);
  for (int i = 0; i < N; ++i) {
    a[i] = a[i] + ka;
    b[i] = b[i] + kb;
  }
}

}  // namespace detail

/// A key, and the words that Threefry-2x32 adds under it, each as `Word`: std::uint32_t, or lanes
/// of it.
template <class Word>
struct threefry_key {
  Word k0, k1, k2;
  Word k2_1, k0_2, k1_3, k2_4, k0_5;  // with a round's number added
};

[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION threefry_key<std::uint32_t> expand_key(std::uint32_t k0,
                                                                                 std::uint32_t k1) {
  const std::uint32_t k2 = k0 ^ k1 ^ 0x1bd11bdaU;
  return {k0, k1, k2, k2 + 1U, k0 + 2U, k1 + 3U, k2 + 4U, k0 + 5U};
}

/// The same in lanes, which only the host has.
[[nodiscard, gnu::always_inline]] inline threefry_key<lane::batch<std::uint32_t>> expand_lanes(
    std::uint32_t k0, std::uint32_t k1) {
  const threefry_key<std::uint32_t> key = expand_key(k0, k1);
  return {lane::splat(key.k0),   lane::splat(key.k1),   lane::splat(key.k2),
          lane::splat(key.k2_1), lane::splat(key.k0_2), lane::splat(key.k1_3),
          lane::splat(key.k2_4), lane::splat(key.k0_5)};
}

namespace detail {

/// The 20 rounds of N counters (a[i], b[i]) that the key's first words were added to.
TOPOS_HOST_BRANCH
template <int N, class Word>
KOKKOS_FORCEINLINE_FUNCTION void threefry_of_sums(const threefry_key<Word>& key, Word (&a)[N],
                                                  Word (&b)[N]) {
  threefry_rounds<13, 15, 26, 6>(a, b, key.k1, key.k2_1);
  threefry_rounds<17, 29, 16, 24>(a, b, key.k2, key.k0_2);
  threefry_rounds<13, 15, 26, 6>(a, b, key.k0, key.k1_3);
  threefry_rounds<17, 29, 16, 24>(a, b, key.k1, key.k2_4);
  threefry_rounds<13, 15, 26, 6>(a, b, key.k2, key.k0_5);
}

}  // namespace detail

/// Threefry-2x32 with 20 rounds of the counter (a, b) under a key.
TOPOS_HOST_BRANCH
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION detail::word_pair<Word> threefry(const threefry_key<Word>& key, Word a,
                                                             Word b) {
  Word first[1] = {a + key.k0};
  Word second[1] = {b + key.k1};
  detail::threefry_of_sums(key, first, second);
  return {first[0], second[0]};
}

/// The same under the key (k0, k1), of one counter.
KOKKOS_FORCEINLINE_FUNCTION detail::word_pair<std::uint32_t> threefry(std::uint32_t k0,
                                                                      std::uint32_t k1,
                                                                      std::uint32_t a,
                                                                      std::uint32_t b) {
  return threefry(expand_key(k0, k1), a, b);
}

}  // namespace topos::random
