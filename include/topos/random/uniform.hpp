// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random bits, and reals between two bounds, as expressions: they are drawn when they are computed
/// with, in the kernel that does so.

#include <cstddef>
#include <source_location>
#include <topos/device/default_device.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/generators.hpp>
#include <topos/random/detail/elements.hpp>
#include <topos/random/detail/real_elements.hpp>
#include <topos/random/key.hpp>

namespace topos::random {

/// Types of random reals.
template <class T>
concept real = topos::detail::is_real_floating<T>;

/// Types of random bits.
template <class T>
concept word = std::unsigned_integral<T> && !std::same_as<T, bool>;

/// From min on, up to but not including max (which rounding may reach), rounded to T.
template <real T>
struct bounds {
  detail::computed<T> min = 0;
  detail::computed<T> max = 1;
};

namespace detail {

template <class T, class Then = itself, std::size_t Rank>
[[nodiscard]] auto drawn(const key& k, const shape<Rank>& extents, const bounds<T>& within,
                         device d, std::source_location where, const Then& then = {}) {
  const index_t size = size_of_shape(extents, where);
  return topos::detail::generated(real_elements<T, Then>{{k, size}, {within.min, within.max, then}},
                                  extents, d);
}

}  // namespace detail

/// Unsigned integers of random bits. Throws `shape_mismatch` if an extent is negative.
template <word T = std::uint32_t, std::size_t Rank>
[[nodiscard]] auto bits(const key& k, const shape<Rank>& extents,
                        device d = default_device::current(),
                        std::source_location where = std::source_location::current()) {
  const detail::bit_elements<T> drawn(k, size_of_shape(extents, where));
  if constexpr (sizeof(T) < 4) {
    using words = detail::mapped_elements<detail::bit_elements<T>, detail::as_words>;
    return topos::detail::convert<T>(topos::detail::generated(words{drawn, {}}, extents, d));
  } else {
    return topos::detail::generated(drawn, extents, d);
  }
}
template <word T = std::uint32_t, std::size_t Rank>
[[nodiscard]] auto bits(const key& k, const index_t (&extents)[Rank],
                        device d = default_device::current(),
                        std::source_location where = std::source_location::current()) {
  return bits<T>(k, std::to_array(extents), d, where);
}

/// Reals of a uniform distribution, with the bits of jax.random.uniform.
template <real T = float, std::size_t Rank>
[[nodiscard]] auto uniform(const key& k, const shape<Rank>& extents, const bounds<T>& within,
                           device d = default_device::current(),
                           std::source_location where = std::source_location::current()) {
  return detail::drawn<T>(k, extents, within, d, where);
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto uniform(const key& k, const index_t (&extents)[Rank], const bounds<T>& within,
                           device d = default_device::current(),
                           std::source_location where = std::source_location::current()) {
  return uniform<T>(k, std::to_array(extents), within, d, where);
}
/// From 0 on, up to but not including 1.
template <real T = float, std::size_t Rank>
[[nodiscard]] auto uniform(const key& k, const shape<Rank>& extents,
                           device d = default_device::current(),
                           std::source_location where = std::source_location::current()) {
  return uniform<T>(k, extents, bounds<T>(), d, where);
}
template <real T = float, std::size_t Rank>
[[nodiscard]] auto uniform(const key& k, const index_t (&extents)[Rank],
                           device d = default_device::current(),
                           std::source_location where = std::source_location::current()) {
  return uniform<T>(k, std::to_array(extents), bounds<T>(), d, where);
}

}  // namespace topos::random
