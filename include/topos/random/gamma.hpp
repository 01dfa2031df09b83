// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random reals of the gamma distribution, as expressions.

#include <concepts>
#include <cstdint>
#include <topos/expr/elementwise.hpp>
#include <topos/random/normal.hpp>
#include <topos/random/uniform.hpp>

namespace topos::random {

namespace detail {

/// A key as an element: the two words of each of those that a key splits into.
struct key_elements {
  using value_type = std::uint64_t;
  words from;

  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t operator()(index_t o) const {
    const auto both = split_words(from, static_cast<std::uint64_t>(o));
    return std::uint64_t{both.first} << 32U | both.second;
  }
};

/// A gamma number from a key of its own and its shape parameter, as jax.random.gamma draws it.
///
/// G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions
/// on Mathematical Software 26(3), 2000; below 1 with their U^(1 / alpha).
template <std::floating_point T>
struct gamma_op {
  bool partitionable;
  real_function<T> uniform{0, 1};
  real_function<T, normal_of_uniform<T>> normal{next_after<T>(-1, 0), 1};

  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::uint64_t own, T alpha) const {
    const bool at_least_one = alpha >= T(1);
    const T third = T(1.0 / 3.0);
    const T d = (at_least_one ? alpha : alpha + T(1)) - third;
    const T c = third * reciprocal_root(d);
    std::uint64_t key = part(own, 2, 0);
    T square = 0;
    T cube = 1;
    T u = 2;
    while (refuses(square, cube, u, d)) {
      std::uint64_t of_normal = part(key, 3, 1);
      const std::uint64_t of_uniform = part(key, 3, 2);
      key = part(key, 3, 0);
      T x = 0;
      T v = -1;
      while (v <= T(0)) {
        x = normal(bits_of(part(of_normal, 2, 1)));
        of_normal = part(of_normal, 2, 0);
        v = fused(x, c, T(1));
      }
      square = x * x;
      cube = fused(T(v * v), v, T(0));  // no compiler takes it into a sum
      u = uniform(bits_of(of_uniform));
    }
    const T boost =
        at_least_one ? T(1) : Kokkos::pow(T(1) - uniform(bits_of(part(own, 2, 1))), T(1) / alpha);
    return d * cube * boost;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static bool refuses(T square, T cube, T u, T d) {
    if (u < fused(T(-0.0331), T(square * square), T(1))) return false;
    return xla_log(u) >= fused(d, T(T(1) - cube + xla_log(cube)), T(square * T(0.5)));
  }

  // Rounded as if exact, nearly always: XLA's is a hardware's estimate, refined.
  [[nodiscard]] KOKKOS_FUNCTION static T reciprocal_root(T x) {
    const T root = T(1) / sqrt(x);
    const T product = fused(x, root, T(0));
    const T lost = fused(x, root, T(-product));
    const T wrong = fused(T(-lost), root, fused(T(-product), root, T(1)));
    return fused(T(T(0.5) * root), wrong, root);
  }

  [[nodiscard]] KOKKOS_FUNCTION words words_from(std::uint64_t key, std::uint64_t count) const {
    return {static_cast<std::uint32_t>(key >> 32U), static_cast<std::uint32_t>(key), partitionable,
            count};
  }

  // Key i of those that one splits into.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t part(std::uint64_t key, std::uint64_t count,
                                                   index_t i) const {
    return key_elements{words_from(key, 2 * count)}(i);
  }

  // The bits of an array of one element.
  [[nodiscard]] KOKKOS_FUNCTION word_of<T> bits_of(std::uint64_t key) const {
    if constexpr (sizeof(T) == 8) {
      const auto both = words_from(key, 2).block(0);
      return std::uint64_t{both.first} << 32U | both.second;
    } else {
      return words_from(key, 1)(0);
    }
  }
};

template <class T, class Alpha, std::size_t Rank>
[[nodiscard]] auto drawn_gamma(const key& k, const Alpha& alpha, const shape<Rank>& extents,
                               device d, std::source_location where) {
  const auto count = 2 * static_cast<std::uint64_t>(size_of_shape(extents, where));
  const auto node = topos::detail::make_node(
      "gamma", where, gamma_op<T>{k.layout() == layout::partitionable},
      topos::detail::generated(key_elements{words_of(k, count)}, extents, d), alpha);
  if (std::ranges::equal(node.shape(), extents)) return node;
  throw shape_mismatch(
      topos::detail::concat("gamma: alpha ", to_string(alpha.shape()),
                            " does not broadcast to the shape ", to_string(extents)),
      where);
}

}  // namespace detail

/// Reals of the gamma distribution of shape alpha > 0 and scale 1: jax.random.gamma.
template <std::floating_point T = float, std::size_t Rank>
[[nodiscard]] auto gamma(const key& k, double alpha, const shape<Rank>& extents,
                         device d = default_device::current(),
                         std::source_location where = std::source_location::current()) {
  return detail::drawn_gamma<T>(k, topos::detail::constant_node<T>(static_cast<T>(alpha)), extents,
                                d, where);
}
template <std::floating_point T = float, std::size_t Rank>
[[nodiscard]] auto gamma(const key& k, double alpha, const index_t (&extents)[Rank],
                         device d = default_device::current(),
                         std::source_location where = std::source_location::current()) {
  return gamma<T>(k, alpha, std::to_array(extents), d, where);
}

/// The same with alpha by element, where alpha is. Throws `shape_mismatch` unless alpha broadcasts
/// to the shape.
template <operand Alpha, std::size_t Rank>
  requires(std::floating_point<topos::detail::value_of_t<Alpha>>)
[[nodiscard]] auto gamma(const key& k, const Alpha& alpha, const shape<Rank>& extents,
                         std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(alpha);
  return detail::drawn_gamma<topos::detail::value_of_t<Alpha>>(
      k, node, extents, node.device().value_or(default_device::current()), where);
}
template <operand Alpha, std::size_t Rank>
  requires(std::floating_point<topos::detail::value_of_t<Alpha>>)
[[nodiscard]] auto gamma(const key& k, const Alpha& alpha, const index_t (&extents)[Rank],
                         std::source_location where = std::source_location::current()) {
  return gamma(k, alpha, std::to_array(extents), where);
}
template <operand Alpha>
  requires(std::floating_point<topos::detail::value_of_t<Alpha>>)
[[nodiscard]] auto gamma(const key& k, const Alpha& alpha,
                         std::source_location where = std::source_location::current()) {
  const auto extents = topos::detail::as_node(alpha).shape();
  return gamma(k, alpha, shape<topos::detail::node_t<Alpha>::rank>(extents), where);
}

}  // namespace topos::random
