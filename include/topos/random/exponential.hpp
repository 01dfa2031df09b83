// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random reals of the exponential and of the Gumbel distribution, as expressions.

#include <limits>
#include <topos/random/detail/special.hpp>
#include <topos/random/uniform.hpp>

namespace topos::random {

namespace detail {

template <class T>
struct exponential_of_uniform {
  friend bool operator==(const exponential_of_uniform&, const exponential_of_uniform&) = default;
  TOPOS_HOST_BRANCH
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(const V& u) const {
    return -xla_log1p(V(-u));
  }
};

/// The smallest positive normal number.
template <class T>
[[nodiscard]] constexpr computed<T> tiny() {
  if constexpr (std::same_as<T, f16>)
    return 0x1p-14f;
  else
    return std::numeric_limits<computed<T>>::min();
}

/// Of [0, 1), of which XLA makes [tiny, 1) so where jax.random.gumbel asks for that.
template <class T>
struct gumbel_of_uniform {
  friend bool operator==(const gumbel_of_uniform&, const gumbel_of_uniform&) = default;
  computed<T> least = tiny<T>();

  TOPOS_HOST_BRANCH
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(const V& u) const {
    return -xla_log(V(-rounded<T>(xla_log(max(u, constant<V>(least))))));
  }
};

}  // namespace detail

/// Reals of the exponential distribution of mean 1: jax.random.exponential.
template <real T = float, std::size_t Rank>
[[nodiscard]] auto exponential(const key& k, const shape<Rank>& extents,
                               device d = default_device::current(),
                               std::source_location where = std::source_location::current()) {
  return detail::drawn<T>(k, extents, {}, d, where, detail::exponential_of_uniform<T>{});
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto exponential(const key& k, const index_t (&extents)[Rank],
                               device d = default_device::current(),
                               std::source_location where = std::source_location::current()) {
  return exponential<T>(k, std::to_array(extents), d, where);
}

/// Reals of the standard Gumbel distribution, of which the largest of some plus their logarithmic
/// probabilities is a random choice: jax.random.gumbel in its mode "low".
template <real T = float, std::size_t Rank>
[[nodiscard]] auto gumbel(const key& k, const shape<Rank>& extents,
                          device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return detail::drawn<T>(k, extents, {}, d, where, detail::gumbel_of_uniform<T>{});
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto gumbel(const key& k, const index_t (&extents)[Rank],
                          device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return gumbel<T>(k, std::to_array(extents), d, where);
}

}  // namespace topos::random
