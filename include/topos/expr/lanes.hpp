// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SIMD lanes on the host: xsimd where it is found, else one lane at a time.
///
/// Everything here is host code. Tails are computed with the same lane functions as whole batches,
/// so that a value's bits do not depend on where in memory it lies.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/detail/lanes_in_memory.hpp>
#include <type_traits>
#include <utility>

namespace topos::lane {

/// A product as it was rounded. g++ fuses a product with a sum that follows into one operation,
/// rounded once, wherever it sees both: a value would depend on what it is fused with. This keeps
/// them apart, for one value and for lanes, and costs nothing. (Clang does not look across calls.)
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T rounded(T x) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
  KOKKOS_IF_ON_HOST((asm("" : "+x"(x));))
#elif defined(__GNUC__) && !defined(__clang__) && defined(__aarch64__)
  KOKKOS_IF_ON_HOST((asm("" : "+w"(x));))
#endif
  return x;
}

}  // namespace topos::lane

#if TOPOS_HAS_XSIMD
#include <topos/expr/detail/half_lanes.hpp>
#include <topos/expr/detail/lanes_apart.hpp>
#include <topos/expr/detail/masked_lanes.hpp>
#include <topos/expr/detail/turned_lanes.hpp>
#include <topos/expr/detail/xsimd_by_double.hpp>
#include <topos/expr/detail/xsimd_erf.hpp>
#include <topos/expr/detail/xsimd_exp.hpp>
#include <topos/expr/detail/xsimd_gamma.hpp>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <topos/expr/detail/xsimd_log.hpp>
#include <topos/expr/detail/xsimd_parts.hpp>
#include <topos/expr/detail/xsimd_pow.hpp>
#include <topos/expr/detail/xsimd_trigonometry.hpp>
#else
#include <topos/expr/detail/scalar_lanes.hpp>
#endif
#include <topos/expr/detail/complex_lanes.hpp>
#include <topos/expr/detail/shifted_lanes.hpp>
#include <topos/expr/detail/wide_lanes.hpp>

namespace topos::lane {

/// Real types that have lanes: a batch of them.
template <class T>
concept real_element = std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

/// Element types that have lanes.
template <class T>
concept element = real_element<T> || topos::detail::is_complex<T>;

namespace detail {
template <class T>
constexpr index_t width_or_none() {
  if constexpr (element<T>)
    return width_of<topos::detail::real_t<T>>;
  else
    return 0;
}

template <class T>
struct lanes_of {
  using type = batch<T>;
};
template <class T>
struct lanes_of<Kokkos::complex<T>> {
  using type = complex_batch<batch<T>>;
};
}  // namespace detail

/// Lanes of elements of T.
template <class T>
using of = typename detail::lanes_of<T>::type;

/// Lanes that there are at once; 0 for a type that has none.
template <class T>
inline constexpr index_t width = detail::width_or_none<T>();

/// What the lanes of elements of T are made of: those of sixteen-bit floats are float.
template <class T>
using made_of = std::conditional_t<is_half_with_lanes<T>, float, T>;

/// How many lanes count, where that is all of them.
struct all {};

namespace detail {
template <class B>
struct value_of;
template <template <class...> class Batch, class T, class... Rest>
struct value_of<Batch<T, Rest...>> {
  using type = T;
};
template <class B>
struct value_of<complex_batch<B>> {
  using type = Kokkos::complex<typename value_of<B>::type>;
};
}  // namespace detail

/// The element type of lanes, of numbers or of truths.
template <class B>
using value_t = typename detail::value_of<B>::type;

/// Lanes of numbers, not of truths.
template <class B>
concept numbers = std::same_as<B, of<value_t<B>>>;

/// The first `count` lanes from memory; the others are 0.
template <class T>
  requires element<made_of<T>>
auto load_partial(const T* from, index_t count) {
  if constexpr (topos::detail::is_complex<T>) {
    using part = topos::detail::real_t<T>;
    const auto* parts = reinterpret_cast<const part*>(from);
    const index_t first = std::min(2 * count, width<part>);
    const auto both = unzipped(lane::load_partial(parts, first),
                               lane::load_partial(parts + first, 2 * count - first));
    return of<T>{both.first, both.second};
  } else if constexpr (has_masks<T>) {
    return load_masked(from, count);
  } else {
    T values[width<made_of<T>>] = {};
    std::copy_n(from, count, values);
    return lane::load(values);
  }
}

/// The first `count` lanes to memory.
template <class T, class B>
void store_partial(T* to, const B& lanes, index_t count) {
  if constexpr (std::same_as<B, batch<T>> && has_masks<T>) {
    store_masked(to, lanes, count);
  } else {
    T values[width<value_t<B>>];
    lane::store(values, lanes);
    std::copy_n(values, count, to);
  }
}

/// A batch of function(i) for each lane i.
template <class T, class Function>
  requires element<made_of<T>>
auto generate(Function function) {
  using made = made_of<T>;
  made values[width<made>];
  for (index_t i = 0; i < width<made>; ++i) values[i] = function(i);
  return lane::load(values);
}

/// Keeps values in memory that are stored as lanes and loaded one by one: g++ would take them out
/// of a register one after the other, which takes longer.
template <class T, index_t Count>
inline void keep_in_memory(T (&values)[Count]) {
#ifdef __GNUC__
  asm("" : "+m"(values));
#endif
}

/// As `generate`, put together in registers: what is stored one by one would have to reach the
/// cache before it is loaded at once.
template <element T, class Function>
auto assembled(Function function) {
  constexpr index_t count = width<T>;
  if constexpr (count > 1 && real_element<T>) {
    return [&]<index_t... I>(std::integer_sequence<index_t, I...>) {
      using real = std::conditional_t<sizeof(T) == 4, float, double>;
      using made = typename batch<real>::register_type;
      const batch<real> lanes(made{std::bit_cast<real>(T(function(I)))...});
      if constexpr (std::same_as<T, real>)
        return lanes;
      else
        return lane::bits_as<T>(lanes);
    }
    (std::make_integer_sequence<index_t, count>{});
  } else {
    return generate<T>(function);
  }
}

/// Every step-th number from memory.
template <element T>
auto load_apart(const T* from, index_t step) {
  return picked_apart(
      from, step, [&]() __attribute__((always_inline)) {
        return assembled<T>([&](index_t i) { return from[i * step]; });
      });
}

template <class T>
  requires is_half_with_lanes<T>
auto load_apart(const T* from, index_t step) {
#if TOPOS_HAS_XSIMD && defined(__AVX512F__)
  return from_halves<T>(detail::load_bytes_apart<width_of<float>>(from, step));
#else
  return generate<T>([&](index_t i) { return static_cast<float>(from[i * step]); });
#endif
}

/// Which lanes are the first `count`.
template <class T>
auto first(index_t count) {
  return generate<T>([](index_t i) { return static_cast<T>(i); }) < splat(static_cast<T>(count));
}

/// The first `count` lanes of a, numbers or truths, and the others of b.
template <class B>
B blended(index_t count, const B& a, const B& b) {
  const auto before = first<topos::detail::real_t<value_t<B>>>(count);
  if constexpr (numbers<B>)
    return lane::select(before, a, b);
  else
    return (a & before) | (b & ~before);
}

namespace detail {

template <class Count, class Function, class... T, index_t Width>
auto each_of(Count count, const Function& function, const lanes_in_memory<T, Width>&... batches) {
  using result = decltype(function(T{}...));
  lane::before_calls();
  return generate<result>([&](index_t i) {
    if constexpr (!std::same_as<Count, all>) {
      if (i >= count) return result{};
    }
    return function(batches.values[i]...);
  });
}

}  // namespace detail

/// `function` of each of the first `count` lanes (all: of all) by itself, and 0 in the others.
template <class Count, class Function, class... B>
auto each_of_first(Count count, const Function& function, const B&... batches) {
  return detail::each_of(count, function,
                         detail::lanes_in_memory<value_t<B>, width<value_t<B>>>(batches)...);
}

/// `function` of each lane by itself: for what has no lane function of its own.
template <class Function, class... B>
auto each(const Function& function, const B&... batches) {
  return each_of_first(all{}, function, batches...);
}

/// Batches that pairs have from each of their places. Of lanes of 32 bytes more than there are
/// registers for: what is kept in memory meanwhile costs less than waiting for what four of them
/// take.
inline constexpr int pair_batches = width<std::uint32_t> == 8 ? 6 : 4;

/// Lanes from two places on, some batches from each: what is computed of them in turn does not have
/// one wait for another. The second place may be where the first one's batches end.
template <class B>
struct pairs {
  B at[2 * pair_batches];  // those of the first place, then those of the second
};

namespace detail {

template <std::size_t I, class Function, class... B>
[[gnu::always_inline]] inline auto of_pair(const Function& function, const pairs<B>&... lanes) {
  return function(lanes.at[I]...);
}

template <std::size_t... I, class Function, class... B>
[[gnu::always_inline]] inline auto of_pairs(std::index_sequence<I...>, const Function& function,
                                            const pairs<B>&... lanes) {
  using result = decltype(function(lanes.at[0]...));
  return pairs<result>{{of_pair<I>(function, lanes...)...}};
}

}  // namespace detail

/// `function` of each batch of pairs, spelt out: compilers do not unroll a loop of long bodies.
template <class Function, class... B>
[[gnu::always_inline]] inline auto of_pairs(const Function& function, const pairs<B>&... lanes) {
  return detail::of_pairs(std::make_index_sequence<2 * pair_batches>{}, function, lanes...);
}

/// Batches that follow each other: what is asked for each row they are of is asked once.
inline constexpr int some_batches = 4;
template <class B>
struct some {
  B at[some_batches];
};

/// `function` of each batch of some.
template <class Function, class... B>
[[gnu::always_inline]] inline auto of_some(const Function& function, const some<B>&... lanes) {
  using result = decltype(function(lanes.at[0]...));
  return some<result>{{function(lanes.at[0]...), function(lanes.at[1]...), function(lanes.at[2]...),
                       function(lanes.at[3]...)}};
}

/// An array folded onto its first half until one value is left: each level is one operation on
/// lanes, and the order is the same on every machine of their width.
template <index_t Count, class T, class Combine>
[[gnu::always_inline]] inline T fold(const T* values, const Combine& combine) {
  if constexpr (Count == 1) {
    return values[0];
  } else {
    T half[Count / 2];
    for (index_t i = 0; i < Count / 2; ++i) half[i] = combine(values[i], values[i + Count / 2]);
    return fold<Count / 2>(half, combine);
  }
}

/// The same of a batch whose lanes change places without memory; `combine` takes batches.
template <index_t Count, class B, class Combine>
[[gnu::always_inline]] inline value_t<B> fold_lanes(const B& lanes, const Combine& combine) {
  if constexpr (Count == 1)
    return first_lane(lanes);
  else
    return fold_lanes<Count / 2>(combine(lanes, turned<Count / 2>(lanes)), combine);
}

}  // namespace topos::lane
