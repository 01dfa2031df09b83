// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The 32-bit words that a key gives an array, by number: what all distributions are made from.
///
/// In jax.random's original layout, n words are the first and the second results of h = ceil(n / 2)
/// blocks: block i, of the counter (i, i + h), gives words i and i + h. (An odd n has no counter
/// for its last block; 0 stands there.) From 2^32 - 1 words on, each run of so many has a key of
/// its own. In the partitionable layout word i is the sum, bit by bit, of both results of the
/// block of the 64-bit counter i.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/random/threefry.hpp>

namespace topos::random::detail {

/// Words of one key, for host and device.
struct words {
  friend bool operator==(const words&, const words&) = default;
  using lanes_type = lane::batch<std::uint32_t>;
  static constexpr std::uint64_t run = 0xffffffffU;
  static constexpr auto width = static_cast<std::uint64_t>(lane::width<std::uint32_t>);

  std::uint32_t high;
  std::uint32_t low;
  bool partitionable;
  std::uint64_t count;

  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t half() const { return (count + 1) / 2; }

  /// Whether all words come from this key: else their runs have keys of their own.
  [[nodiscard]] KOKKOS_FUNCTION bool is_one_run() const { return partitionable || count < run; }

  /// The words of the run that word i is in, i from the run's first on being word i % run of them.
  [[nodiscard]] KOKKOS_FUNCTION words run_of(std::uint64_t i) const {
    const std::uint64_t runs = count / run;
    const std::uint64_t number = i / run;
    // The run's key, of those that this one splits into, which are never so many as to take runs.
    const words keys{high, low, false, 2 * (runs + 1)};
    return {keys.of_block(2 * number), keys.of_block(2 * number + 1), false,
            number < runs ? run : count % run};
  }

  /// Block i: of the counter (i, i + half()), or of the 64-bit counter i.
  [[nodiscard]] KOKKOS_FUNCTION word_pair<std::uint32_t> block(std::uint64_t i) const {
    const std::uint64_t other = i + half() < count ? i + half() : 0;
    return threefry(high, low, static_cast<std::uint32_t>(partitionable ? i >> 32U : i),
                    static_cast<std::uint32_t>(partitionable ? i : other));
  }

  /// Word i.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t i) const {
    if (!is_one_run()) return run_of(i).of_block(i % run);
    return of_block(i);
  }

  /// The blocks from i on, one in each lane, or each `Repeat` times; those past the last are of any
  /// content. Not where `is_ragged(i)`.
  template <int Repeat = 1>
  [[nodiscard]] word_pair<lanes_type> blocks(std::uint64_t i) const {
    const lanes_type number = counters<Repeat>();
    const auto at = static_cast<std::uint32_t>(partitionable ? i >> 32U : i);
    const auto other = static_cast<std::uint32_t>(partitionable ? i : i + half());
    const lanes_type a = partitionable ? lane::splat(at) : lanes_type(lane::splat(at) + number);
    const lanes_type b = lane::splat(other) + number;
    TOPOS_RETURN_LANES(word_pair<lanes_type>, threefry(expand_lanes(high, low), a, b));
  }

  /// Whether one of the lanes of blocks from i on is not numbered like the others.
  [[nodiscard]] bool is_ragged(std::uint64_t i) const {
    if (partitionable) return static_cast<std::uint32_t>(i) > run - (width - 1);
    return count % 2 != 0 && i + width >= half();
  }

  /// The words from i on, one in each lane; those past the last are of any content.
  [[nodiscard]] lanes_type lanes(std::uint64_t i) const {
    if (is_one_run()) return lanes_of_blocks(i);
    if (i % run + width <= run) return run_of(i).lanes_of_blocks(i % run);
    return one_by_one([&](std::uint64_t j) { return (*this)(i + j); });
  }

 private:
  friend struct word_pairs;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t of_block(std::uint64_t i) const {
    const bool late = !partitionable && i >= half();
    const auto both = block(late ? i - half() : i);
    if (partitionable) return both.first ^ both.second;
    return late ? both.second : both.first;
  }

  [[nodiscard]] lanes_type lanes_of_blocks(std::uint64_t i) const {
    const bool late = !partitionable && i >= half();
    const std::uint64_t first = late ? i - half() : i;
    if (is_ragged(first) || (!partitionable && !late && i + width > half())) {
      return one_by_one([&](std::uint64_t j) { return of_block(i + j); });
    }
    const auto both = blocks(first);
    if (partitionable) return both.first ^ both.second;
    return late ? both.second : both.first;
  }

  // Out of line, so that the common case stays small.
  template <class Function>
  [[gnu::noinline]] static lanes_type one_by_one(Function word_at) {
    return lane::generate<std::uint32_t>(
        [&](index_t j) { return word_at(static_cast<std::uint64_t>(j)); });
  }

  // From memory, which costs less than to compute them.
  template <int Repeat>
  [[nodiscard]] static lanes_type counters() {
    static_assert(width <= 16);
    alignas(64) static constexpr std::uint32_t once[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                           8, 9, 10, 11, 12, 13, 14, 15};
    alignas(64) static constexpr std::uint32_t twice[16] = {0, 0, 1, 1, 2, 2, 3, 3,
                                                            4, 4, 5, 5, 6, 6, 7, 7};
    return lane::load(Repeat == 1 ? once : twice);
  }
};

/// The blocks of neighbouring counters, several batches in turn: for loops, which keep the key in
/// lanes. Of words of one run.
struct block_lanes {
  using lanes_type = words::lanes_type;
  static constexpr int batches = lane::pair_batches;
  static constexpr index_t length = batches * lane::width<std::uint32_t>;

  words from;
  threefry_key<lanes_type> key;
  lanes_type first;   // what a counter's first word adds to i, and the key's
  lanes_type second;  // the same of its second word
  lanes_type step;    // from a batch's first words to the next one's

  /// Those whose lanes are numbered so.
  [[nodiscard]] static block_lanes of(const words& w, const lanes_type& number) {
    const lanes_type none = lane::splat(0U);
    const auto distance = static_cast<std::uint32_t>(w.partitionable ? 0 : w.half());
    return {w, expand_lanes(w.high, w.low), lane::splat(w.high) + (w.partitionable ? none : number),
            lane::splat(w.low + distance) + number,
            w.partitionable ? none : lanes_type(lane::splat(std::uint32_t{words::width}))};
  }

  /// Where the blocks end that are all numbered alike.
  [[nodiscard]] index_t end() const {
    return from.partitionable ? index_t{1} << 32 : static_cast<index_t>(from.count / 2);
  }

  /// The blocks from i on.
  [[gnu::always_inline]] void operator()(index_t i, lanes_type (&a)[batches],
                                         lanes_type (&b)[batches]) const {
    const auto at = static_cast<std::uint32_t>(i);
    a[0] = lane::splat(from.partitionable ? 0U : at) + first;
    b[0] = lane::splat(at) + second;
    for (int n = 1; n < batches; ++n) {
      a[n] = a[n - 1] + step;
      b[n] = b[n - 1] + lane::splat(std::uint32_t{words::width});
    }
    KOKKOS_IF_ON_HOST((threefry_of_sums(key, a, b);))
  }
};

/// The words from i and from i + distance() on, several batches of each, for the price of the
/// blocks that they come from.
struct word_pairs {
  using lanes_type = words::lanes_type;
  static constexpr int batches = block_lanes::batches;
  block_lanes blocks;

  [[nodiscard]] static word_pairs of(const words& w) {
    return {block_lanes::of(w, words::counters<1>())};
  }
  /// In the original layout a block gives two words that lie half of all words apart; else words
  /// are neighbours.
  [[nodiscard]] static index_t distance(const words& w) {
    if (w.partitionable) return block_lanes::length;
    return w.is_one_run() ? static_cast<index_t>(w.half()) : 0;
  }
  [[nodiscard]] index_t end() const { return blocks.end(); }

  [[nodiscard, gnu::always_inline]] auto operator()(index_t i) const {
    lane::pairs<lanes_type> result;
    lanes_type a[batches];
    lanes_type b[batches];
    blocks(i, a, b);
    if (blocks.from.partitionable) {
      lanes_type c[batches];
      lanes_type d[batches];
      blocks(i + block_lanes::length, c, d);
      for (int n = 0; n < batches; ++n) result.at[n] = a[n] ^ b[n];
      for (int n = 0; n < batches; ++n) result.at[batches + n] = c[n] ^ d[n];
    } else {
      for (int n = 0; n < batches; ++n) result.at[n] = a[n];
      for (int n = 0; n < batches; ++n) result.at[batches + n] = b[n];
    }
    return result;
  }
};

/// The 64-bit words from i on, each of a block: neighbours.
struct double_word_pairs {
  block_lanes blocks;

  // The first half of the lanes' blocks are those of even lanes, which 64-bit lanes hold below.
  [[nodiscard]] static double_word_pairs of(const words& w) {
    constexpr auto half = static_cast<index_t>(words::width / 2);
    return {block_lanes::of(w, lane::generate<std::uint32_t>([](index_t i) {
                              return static_cast<std::uint32_t>(i / 2 + i % 2 * half);
                            }))};
  }
  [[nodiscard]] static index_t distance(const words& w) {
    return w.is_one_run() ? block_lanes::length / 2 : 0;
  }
  [[nodiscard]] index_t end() const { return blocks.end(); }

  // A template, since lanes are not of one size everywhere.
  template <class Word = std::uint64_t>
  [[nodiscard, gnu::always_inline]] auto operator()(index_t i) const {
    lane::pairs<lane::batch<Word>> result;
    words::lanes_type a[block_lanes::batches];
    words::lanes_type b[block_lanes::batches];
    blocks(i, a, b);
    const auto lower = lane::splat(Word{0xffffffffU});
    for (int n = 0; n < block_lanes::batches; ++n) {
      const auto high = lane::bits_as<Word>(a[n]);
      const auto low = lane::bits_as<Word>(b[n]);
      result.at[2 * n] = (high << 32) | (low & lower);
      result.at[2 * n + 1] = (high & ~lower) | (low >> 32);
    }
    return result;
  }
};

/// The words of key i of those that `from` has words for: what jax.random.split gives.
[[nodiscard]] KOKKOS_FUNCTION inline word_pair<std::uint32_t> split_words(const words& from,
                                                                          std::uint64_t i) {
  if (from.partitionable) return from.block(i);
  return {from(2 * i), from(2 * i + 1)};
}

}  // namespace topos::random::detail
