// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random reals for kernels: random bits to a uniform number, and on to another distribution.

#include <concepts>
#include <cstdint>
#include <topos/core/promotion.hpp>
#include <topos/random/detail/elements.hpp>
#include <topos/random/detail/real.hpp>
#include <type_traits>

namespace topos::random::detail {

using topos::detail::is_half;

/// The type that a distribution of T computes in.
template <class T>
using computed = std::conditional_t<is_half<T>, float, T>;

/// A number, or lanes of them, rounded to T, in the type that T is computed in.
TOPOS_HOST_BRANCH
template <class T, class V>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V rounded(const V& x) {
  if constexpr (!is_half<T>)
    return x;
  else if constexpr (number<V>)
    return static_cast<float>(T(x));
  else
    return lane::to_half<T>(x);
}

/// The random bits that a uniform T takes: bfloat16's seven come from eight.
template <class T>
using drawn_word =
    std::conditional_t<std::same_as<T, bf16>, std::uint8_t,
                       std::conditional_t<std::same_as<T, f16>, std::uint16_t, word_of<T>>>;

/// A uniform number as it is.
struct itself {
  friend bool operator==(const itself&, const itself&) = default;
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(const V& u) const {
    return u;
  }
};

/// `Then` of low + [0, 1) * span, the uniform number that jax.random makes of random bits.
template <class T, class Then = itself>
struct real_function {
  friend bool operator==(const real_function&, const real_function&) = default;
  using value_type = T;
  static constexpr bool has_lanes = std::floating_point<T> || lane::is_half_with_lanes<T>;
  computed<T> low;
  computed<T> span;
  bool is_unit;  // of [0, 1)
  Then then;

  real_function(computed<T> min, computed<T> max, const Then& next = {})
      : low(rounded<T>(min)),
        span(rounded<T>(rounded<T>(max) - rounded<T>(min))),
        is_unit(low == 0 && span == 1),
        then(next) {}

  TOPOS_HOST_BRANCH
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const Bits& bits) const {
    if constexpr (!is_half<T>)
      return then(of_words(bits));
    else if constexpr (number<Bits>)
      return T(then(of_half(static_cast<float>(bits >> unused))));
    else
      return rounded<T>(then(of_half(lane::to_float(lane::bits_as<std::int32_t>(bits >> unused)))));
  }

 private:
  TOPOS_HOST_BRANCH
  template <class Bits>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION auto of_words(const Bits& bits) const {
    const auto from_one = above_one<T>(bits);
    using V = std::remove_const_t<decltype(from_one)>;
    const V unit = from_one - constant<V>(T(1));
    if (is_unit) return unit;
    return max(constant<V>(low), fused(unit, constant<V>(span), constant<V>(low)));
  }

  // Of as many of the bits as T has in its mantissa.
  static constexpr int unused = std::same_as<T, bf16> ? 1 : 6;
  TOPOS_HOST_BRANCH
  template <class V>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V of_half(const V& whole) const {
    const V least = constant<V>(low);
    if constexpr (std::same_as<T, bf16>) {
      const V above = rounded<T>(V(whole * constant<V>(0x1p-7f) * constant<V>(span)));
      return max(least, rounded<T>(V(above + least)));
    } else {
      return max(least,
                 rounded<T>(fused(V(whole * constant<V>(0x1p-10f)), constant<V>(span), least)));
    }
  }
};

/// Random reals, numbered as jax.random numbers them.
template <class T, class Then = itself>
using real_elements = mapped_elements<bit_elements<drawn_word<T>>, real_function<T, Then>>;

}  // namespace topos::random::detail
