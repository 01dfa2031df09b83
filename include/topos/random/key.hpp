// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Keys: what random numbers are made from. The same key gives the same numbers, on every device.

#include <array>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <source_location>
#include <topos/core/error.hpp>
#include <topos/random/detail/words.hpp>
#include <topos/random/threefry.hpp>
#include <utility>
#include <vector>

namespace topos::random {

/// How the elements of an array are numbered to draw them from a key.
enum class layout : std::uint8_t {
  original,       ///< jax.random's with jax_threefry_partitionable=False: a block for two elements
  partitionable,  ///< jax.random's default since 0.5: an element depends on its own number alone
};

/// A key of jax.random: two words, and the layout that all which is drawn from it has.
class key {
 public:
  /// The key of a seed: its upper and its lower 32 bits. One of 32 bits or fewer has only lower
  /// ones, negative or not, as in jax.random.
  template <std::integral Seed>
    requires(!std::same_as<Seed, bool>)
  explicit constexpr key(Seed seed, random::layout drawn = layout::original) noexcept
      : key(sizeof(Seed) > 4 ? static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed) >> 32U)
                             : 0,
            static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed)), drawn) {}

  /// The key of two words, as jax.random.wrap_key_data makes it.
  constexpr key(std::uint32_t high, std::uint32_t low,
                random::layout drawn = layout::original) noexcept
      : high_(high), low_(low), layout_(drawn) {}

  [[nodiscard]] constexpr std::uint32_t high() const noexcept { return high_; }
  [[nodiscard]] constexpr std::uint32_t low() const noexcept { return low_; }
  [[nodiscard]] constexpr random::layout layout() const noexcept { return layout_; }

  friend constexpr bool operator==(const key&, const key&) noexcept = default;

  friend std::ostream& operator<<(std::ostream& out, const key& k) {
    return out << "key(" << k.high_ << ", " << k.low_
               << (k.layout_ == layout::original ? ")" : ", partitionable)");
  }

 private:
  std::uint32_t high_;
  std::uint32_t low_;
  random::layout layout_;
};

namespace detail {

/// The words that a key draws, for kernels.
[[nodiscard]] inline words words_of(const key& k, std::uint64_t count) {
  return {k.high(), k.low(), k.layout() == layout::partitionable, count};
}

/// Key i of the `count` that a key splits into.
[[nodiscard]] inline key split_at(const key& k, std::uint64_t count, std::uint64_t i) {
  const word_pair<std::uint32_t> both = split_words(words_of(k, 2 * count), i);
  return {both.first, both.second, k.layout()};
}

}  // namespace detail

/// `count` keys whose numbers have nothing to do with each other's, nor with the key's own. Throws
/// `invalid_argument` if `count` is negative.
[[nodiscard]] inline std::vector<key> split(
    const key& k, index_t count, std::source_location where = std::source_location::current()) {
  if (count < 0)
    throw invalid_argument(topos::detail::concat("split: into ", count, " keys"), where);
  std::vector<key> keys;
  keys.reserve(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    keys.push_back(
        detail::split_at(k, static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(i)));
  }
  return keys;
}

/// The same, for structured bindings: `auto [a, b] = split(k)`.
template <std::size_t Count = 2>
[[nodiscard]] std::array<key, Count> split(const key& k) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<key, Count>{detail::split_at(k, Count, I)...};
  }
  (std::make_index_sequence<Count>{});
}

/// A key made from a key and a number, of which the lower 32 bits count: of an epoch, a step, a
/// row.
[[nodiscard]] inline key fold_in(const key& k, std::uint64_t data) {
  const auto folded = threefry(k.high(), k.low(), 0U, static_cast<std::uint32_t>(data));
  return {folded.first, folded.second, k.layout()};
}

}  // namespace topos::random
