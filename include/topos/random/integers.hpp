// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random integers between two bounds, and random truths, as expressions.

#include <algorithm>
#include <cmath>
#include <limits>
#include <topos/core/divisor.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/random/uniform.hpp>

namespace topos::random {

/// Types of random integers.
template <class T>
concept integer = topos::detail::is_integer<T>;

namespace detail {

/// The remainder of words by one divisor; 0 stands for 2 to the number of a word's bits.
template <class Word>
struct remainder {
  Word divisor;
  topos::detail::word_divisor<Word> by;

  explicit remainder(Word number) : divisor(number) {
    if (number != 0) by = topos::detail::word_divisor<Word>(number);
  }

  friend bool operator==(const remainder& a, const remainder& b) { return a.divisor == b.divisor; }

  [[nodiscard]] KOKKOS_FUNCTION Word operator()(Word x) const {
    return x - by.quotient(x) * divisor;
  }
};

/// Integers of 32 or 64 bits in [min, min + span), each from twice as many random bits.
template <class T>
struct integer_elements {
  friend bool operator==(const integer_elements&, const integer_elements&) = default;
  using value_type = T;
  using word = word_of<std::conditional_t<sizeof(T) == 8, double, float>>;
  bit_elements<word> higher;
  bit_elements<word> lower;
  word min;
  word multiplier;
  remainder<word> within;

  integer_elements(const key& k, index_t size, word from, word span)
      : integer_elements(split(k), size, from, remainder<word>(span)) {}

  [[nodiscard]] KOKKOS_FUNCTION T operator()(index_t o) const { return of(higher(o), lower(o)); }

  template <class Count>
  [[nodiscard]] auto lanes(index_t o, Count count) const {
    return of_lanes(higher.lanes(o, count), lower.lanes(o, count));
  }

  [[nodiscard]] index_t partner() const requires(sizeof(T) == 4) { return higher.partner(); }

  [[nodiscard]] KOKKOS_FUNCTION pack<T, 2> two(index_t o) const requires(sizeof(T) == 4) {
    const auto highs = higher.two(o);
    const auto lows = lower.two(o);
    return {{of(highs.value[0], lows.value[0]), of(highs.value[1], lows.value[1])}};
  }

  [[nodiscard]] auto paired() const requires(sizeof(T) == 4) {
    return pairs{*this, higher.paired(), lower.paired()};
  }

 private:
  struct pairs {
    integer_elements elements;
    word_pairs highs;
    word_pairs lows;

    [[nodiscard]] index_t end() const { return highs.end(); }
    [[nodiscard, gnu::always_inline]] auto operator()(index_t o) const {
      return lane::of_pairs(
          [this](const auto& high, const auto& low)
              __attribute__((always_inline)) { return elements.of_lanes(high, low); },
          highs(o), lows(o));
    }
  };

  integer_elements(const std::array<key, 2>& keys, index_t size, word from,
                   const remainder<word>& divided)
      : higher(keys[0], size),
        lower(keys[1], size),
        min(from),
        multiplier(divided(word{1} << (4 * sizeof(word)))),
        within(divided) {
    multiplier = within(multiplier * multiplier);
  }

  [[nodiscard]] KOKKOS_FUNCTION T of(word high, word low) const {
    return static_cast<T>(min + within(within(high) * multiplier + within(low)));
  }

  // A plain loop, which compilers vectorise where they do not unroll it first.
  template <class Words>
  [[nodiscard]] auto of_lanes(const Words& high, const Words& low) const {
    constexpr index_t width = lane::width<word>;
    word h[width];
    word l[width];
    T result[width];
    lane::store(h, high);
    lane::store(l, low);
#ifndef KOKKOS_COMPILER_NVCC  // which warns of what it passes on
#pragma GCC unroll 1
#endif
    for (index_t i = 0; i < width; ++i) result[i] = of(h[i], l[i]);
    return lane::load(result);
  }
};

}  // namespace detail

/// Integers from min on, up to but not including max, with the bits of jax.random.randint; min
/// alone where max <= min. Bounds beyond the type are moved into it: max may be one more than its
/// largest number.
template <integer T = std::int32_t, std::size_t Rank>
[[nodiscard]] auto randint(const key& k, const shape<Rank>& extents,
                           topos::detail::integer_bound<T> min, topos::detail::integer_bound<T> max,
                           device d = default_device::current(),
                           std::source_location where = std::source_location::current()) {
  using elements = detail::integer_elements<std::conditional_t<(sizeof(T) < 4), std::int32_t, T>>;
  using word = typename elements::word;
  using limits = std::numeric_limits<T>;
  using wide = topos::detail::integer_bound<T>;
  const wide least = static_cast<wide>(limits::min());
  const wide most = static_cast<wide>(limits::max());
  const bool beyond = max > most;
  const wide from = std::clamp(min, least, most);
  const wide to = std::clamp(max, least, most);
  word span = 1;
  if (to > from) span = static_cast<word>(to) - static_cast<word>(from) + (beyond ? 1 : 0);
  return topos::detail::convert<T>(topos::detail::generated(
      elements(k, size_of_shape(extents, where), static_cast<word>(from), span), extents, d));
}
template <integer T = std::int32_t, std::size_t Rank>
[[nodiscard]] auto randint(const key& k, const index_t (&extents)[Rank],
                           topos::detail::integer_bound<T> min, topos::detail::integer_bound<T> max,
                           device d = default_device::current(),
                           std::source_location where = std::source_location::current()) {
  return randint<T>(k, std::to_array(extents), min, max, d, where);
}

/// True with probability p, which is rounded to T, the type of the uniform numbers compared with
/// it: jax.random.bernoulli in its mode "low".
template <real T = float, std::size_t Rank>
[[nodiscard]] auto bernoulli(const key& k, double p, const shape<Rank>& extents,
                             device d = default_device::current(),
                             std::source_location where = std::source_location::current()) {
  return uniform<T>(k, extents, {}, d, where) < static_cast<detail::computed<T>>(p);
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto bernoulli(const key& k, double p, const index_t (&extents)[Rank],
                             device d = default_device::current(),
                             std::source_location where = std::source_location::current()) {
  return bernoulli<T>(k, p, std::to_array(extents), d, where);
}

/// For each element of p, true with that probability.
template <operand P>
  requires(real<topos::detail::value_of_t<P>>)
[[nodiscard]] auto bernoulli(const key& k, const P& p,
                             std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(p);
  using T = topos::detail::value_of_t<P>;
  const device d = node.device().value_or(default_device::current());
  return uniform<T>(k, shape<decltype(node)::rank>(node.shape()), {}, d, where) < node;
}

}  // namespace topos::random
