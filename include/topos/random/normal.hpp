// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random reals of the normal distribution, as expressions.

#include <cmath>
#include <limits>
#include <topos/core/error.hpp>
#include <topos/expr/detail/parts_operations.hpp>
#include <topos/random/detail/special.hpp>
#include <topos/random/uniform.hpp>

namespace topos::random {

namespace detail {

/// The quantile of the standard normal distribution at (1 + u) / 2.
template <class T>
struct normal_of_uniform {
  friend bool operator==(const normal_of_uniform&, const normal_of_uniform&) = default;
  TOPOS_HOST_BRANCH
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(const V& u) const {
    constexpr double sqrt2 = 1.41421356237309504880;
    return constant<V>(rounded<T>(static_cast<computed<T>>(sqrt2))) * rounded<T>(xla_erf_inv(u));
  }
};

/// The same, kept between two bounds.
template <class T>
struct truncated_normal_of_uniform {
  friend bool operator==(const truncated_normal_of_uniform&,
                         const truncated_normal_of_uniform&) = default;
  computed<T> lowest;
  computed<T> highest;

  TOPOS_HOST_BRANCH
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(const V& u) const {
    const V normal = rounded<T>(normal_of_uniform<T>{}(u));
    // Far from 0 erf of a bound is rounded to 1 or -1, whose quantiles are infinite.
    const V end = u * constant<V>(std::numeric_limits<computed<T>>::infinity());
    const V inside = select(abs(u) < constant<V>(1), normal, end);
    return min(max(inside, constant<V>(lowest)), constant<V>(highest));
  }
};

/// The number of T next to x, in the direction of another.
template <class T>
[[nodiscard]] computed<T> next_after(computed<T> x, computed<T> to) {
  return topos::detail::nextafter_op{}(T(x), T(to));
}

/// erf as XLA computes it: a rational function of float, the C library's for double.
[[nodiscard]] inline double xla_erf(double x) { return std::erf(x); }
[[nodiscard]] inline float xla_erf(float x) {
  if (std::abs(x) >= 3.83257556f) return std::copysign(1.0f, x);
  const float square = x * x;
  const float upper = horner(square, 0x1.e05aa2p-13f, 0x1.bebb44p-9f, 0x1.a16dd6p-5f, 0x1.7b4e8p-3f,
                             0x1.20dd74p+0f);
  const float lower = horner(square, -0x1.fa720cp-24f, 0x1.8b11bep-16f, 0x1.0ada5p-10f,
                             0x1.cd0fa8p-7f, 0x1.c69842p-4f, 0x1.fd6894p-2f, 1.0f);
  return x * upper / lower;
}

}  // namespace detail

/// Reals of the standard normal distribution: jax.random.normal.
template <real T = float, std::size_t Rank>
[[nodiscard]] auto normal(const key& k, const shape<Rank>& extents,
                          device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  const bounds<T> within{detail::next_after<T>(-1, 0), 1};
  return detail::drawn(k, extents, within, d, where, detail::normal_of_uniform<T>{});
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto normal(const key& k, const index_t (&extents)[Rank],
                          device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return normal<T>(k, std::to_array(extents), d, where);
}

/// Reals of the standard normal distribution between two bounds, neither included:
/// jax.random.truncated_normal. Throws `invalid_argument` unless min < max.
template <real T = float, std::size_t Rank>
[[nodiscard]] auto truncated_normal(const key& k, const bounds<T>& within,
                                    const shape<Rank>& extents,
                                    device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  using C = detail::computed<T>;
  const C lower = detail::rounded<T>(within.min);
  const C upper = detail::rounded<T>(within.max);
  if (!(lower < upper)) {
    throw invalid_argument(topos::detail::concat("truncated_normal: between ", lower, " and ",
                                                 upper, "; the first has to be the smaller"),
                           where);
  }
  // XLA divides by a constant so.
  const C reciprocal = detail::rounded<T>(C(1) / detail::rounded<T>(C(1.41421356237309504880)));
  const auto place = [&](C bound) {
    return detail::rounded<T>(detail::xla_erf(detail::rounded<T>(bound * reciprocal)));
  };
  const C infinity = std::numeric_limits<C>::infinity();
  const detail::truncated_normal_of_uniform<T> then{detail::next_after<T>(lower, infinity),
                                                    detail::next_after<T>(upper, -infinity)};
  return detail::drawn(k, extents, bounds<T>{place(lower), place(upper)}, d, where, then);
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto truncated_normal(const key& k, const bounds<T>& within,
                                    const index_t (&extents)[Rank],
                                    device d = default_device::current(),
                                    std::source_location where = std::source_location::current()) {
  return truncated_normal<T>(k, within, std::to_array(extents), d, where);
}

}  // namespace topos::random
