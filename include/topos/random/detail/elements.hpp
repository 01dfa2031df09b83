// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random elements of an array by their row-major number, for kernels: bits, and what a function
/// makes of them.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/expr/memory_elements.hpp>
#include <topos/random/detail/words.hpp>
#include <topos/random/key.hpp>
#include <type_traits>

namespace topos::random::detail {

using topos::detail::pack;

/// Random bits of an unsigned type, numbered as jax.random.bits numbers them.
template <class Word>
struct bit_elements {
  friend bool operator==(const bit_elements&, const bit_elements&) = default;
  using value_type = Word;
  static constexpr int width = 8 * static_cast<int>(sizeof(Word));
  /// Whether lanes hold two words each.
  static constexpr bool of_two_words =
      width == 64 && 2 * lane::width<std::uint64_t> == lane::width<std::uint32_t>;
  /// Whether some elements may cost less together.
  static constexpr bool has_pairs = width == 32 || of_two_words;
  words from;

  bit_elements(const key& k, index_t size)
      : from(words_of(k, count_of(static_cast<std::uint64_t>(size)))) {}

  [[nodiscard]] KOKKOS_FUNCTION Word operator()(index_t element) const {
    const auto o = static_cast<std::uint64_t>(element);
    if constexpr (width == 64) {
      if (from.is_one_run()) {
        const auto both = from.block(o);
        return (std::uint64_t{both.first} << 32U) | both.second;
      }
      return (std::uint64_t{from(o)} << 32U) | from(o + from.count / 2);
    } else if constexpr (width == 32) {
      return from(o);
    } else {
      if (from.partitionable) return static_cast<Word>(from(o));
      constexpr unsigned in_word = 32 / width;
      return static_cast<Word>(from(o / in_word) >> (o % in_word * width));
    }
  }

  template <class Count>
    requires(width == 32)
  [[nodiscard]] auto lanes(index_t o, Count /*count*/) const {
    return from.lanes(static_cast<std::uint64_t>(o));
  }

  // Each block is computed in two lanes: the odd one gives the upper half of its 64 bits.
  template <class Count>
    requires(width == 64)
  [[nodiscard]] auto lanes(index_t element, Count /*count*/) const {
    const auto o = static_cast<std::uint64_t>(element);
    if constexpr (of_two_words) {
      if (from.is_one_run() && !from.is_ragged(o)) {
        const auto both = from.template blocks<2>(o);
        const auto lower = lane::splat(std::uint64_t{0xffffffffU});
        return lane::batch<std::uint64_t>((lane::bits_as<std::uint64_t>(both.first) & ~lower) |
                                          (lane::bits_as<std::uint64_t>(both.second) & lower));
      }
    }
    return one_by_one(element);
  }

  // Those of less than a word are each in a lane of 32 bits.
  template <class Count>
    requires(width < 32)
  [[nodiscard]] auto lanes(index_t element, Count /*count*/) const {
    const auto o = static_cast<std::uint64_t>(element);
    constexpr std::uint32_t all = (std::uint32_t{1} << width) - 1;
    if (from.partitionable) return words::lanes_type(from.lanes(o) & lane::splat(all));
    constexpr unsigned in_word = 32 / width;
    std::uint32_t word[words::width];
    std::uint32_t part[words::width];
    lane::store(word, from.lanes(o / in_word));
    const auto first = static_cast<unsigned>(o % in_word);
    for (unsigned i = 0; i < words::width; ++i)
      part[i] = word[(first + i) / in_word] >> ((first + i) % in_word * width) & all;
    return words::lanes_type(lane::load(part));
  }

  using pairs_type = std::conditional_t<width == 64, double_word_pairs, word_pairs>;

  /// The distance of elements that cost less together; 0: none do.
  [[nodiscard]] index_t partner() const requires(has_pairs) { return pairs_type::distance(from); }

  /// What makes, of o, the lanes from o and from o + partner() on.
  [[nodiscard]] pairs_type paired() const requires(has_pairs) { return pairs_type::of(from); }

  /// Elements o and o + partner(), where those are no neighbours.
  [[nodiscard]] KOKKOS_FUNCTION pack<Word, 2> two(index_t o) const requires(width == 32) {
    const auto both = from.block(static_cast<std::uint64_t>(o));
    return {{both.first, both.second}};
  }

 private:
  [[nodiscard]] static constexpr std::uint64_t count_of(std::uint64_t size) {
    if (width == 64) return 2 * size;
    constexpr std::uint64_t in_word = width < 32 ? 32 / width : 1;
    return (size + in_word - 1) / in_word;
  }

  [[gnu::noinline]] auto one_by_one(index_t o) const {
    return lane::generate<Word>([&](index_t j) { return (*this)(o + j); });
  }
};

template <class Function, class Lanes>
[[nodiscard, gnu::always_inline]] inline auto mapped_lanes(const Function& function,
                                                           const Lanes& drawn)
    -> lane::batch<lane::made_of<typename Function::value_type>> {
  TOPOS_RETURN_LANES(lane::batch<lane::made_of<typename Function::value_type>>, function(drawn));
}

/// What `Function` makes of pairs of lanes of random bits.
template <class Pairs, class Function>
struct mapped_pairs {
  Pairs bits;
  Function function;

  [[nodiscard]] index_t end() const { return bits.end(); }
  [[nodiscard, gnu::always_inline]] auto operator()(index_t o) const {
    return lane::of_pairs(
        [this](const auto& x) __attribute__((always_inline)) { return mapped_lanes(function, x); },
        bits(o));
  }
};

/// Bits of which an element and its partner can be had together.
template <class Bits>
concept has_two = requires(const Bits& bits) {
  bits.two(0);
};

/// What `Function` makes of random bits: of one element's, or of lanes of them.
template <class Bits, class Function>
struct mapped_elements {
  friend bool operator==(const mapped_elements&, const mapped_elements&) = default;
  using value_type = typename Function::value_type;
  Bits bits;
  Function function;

  [[nodiscard]] KOKKOS_FUNCTION value_type operator()(index_t o) const { return function(bits(o)); }

  template <class Count>
    requires(Function::has_lanes)
  [[nodiscard]] auto lanes(index_t o, Count count) const {
    return mapped_lanes(function, bits.lanes(o, count));
  }

  [[nodiscard]] index_t partner() const requires(Function::has_lanes&& Bits::has_pairs) {
    return bits.partner();
  }

  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, 2> two(index_t o) const requires has_two<Bits> {
    const auto both = bits.two(o);
    return {{function(both.value[0]), function(both.value[1])}};
  }

  [[nodiscard]] auto paired() const requires(Function::has_lanes&& Bits::has_pairs) {
    return mapped_pairs<decltype(bits.paired()), Function>{bits.paired(), function};
  }
};

/// Bits of less than a word as words.
struct as_words {
  friend bool operator==(const as_words&, const as_words&) = default;
  using value_type = std::uint32_t;
  static constexpr bool has_lanes = true;

  TOPOS_HOST_BRANCH
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const Bits& bits) const {
    if constexpr (std::is_integral_v<Bits>)
      return static_cast<std::uint32_t>(bits);
    else
      return bits;
  }
};

}  // namespace topos::random::detail
