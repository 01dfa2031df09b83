// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes by xsimd (8.1 to 14).

#include <topos/core/config.hpp>
#include <type_traits>
#include <xsimd/xsimd.hpp>

namespace topos::lane {

template <class T>
using batch = xsimd::batch<T>;
template <class T>
using mask = xsimd::batch_bool<T>;

template <class T>
inline constexpr index_t width_of = static_cast<index_t>(batch<T>::size);

template <class T>
batch<T> load(const T* from) {
  return batch<T>::load_unaligned(from);
}
template <class T, class A>
void store(T* to, const xsimd::batch<T, A>& values) {
  values.store_unaligned(to);
}
template <class T, class A>
void store(bool* to, const xsimd::batch_bool<T, A>& values) {
  values.store_unaligned(to);
}
template <class T>
batch<T> splat(T value) {
  return batch<T>(value);
}

template <class T, class A>
xsimd::batch<T, A> select(const xsimd::batch_bool<T, A>& m, const xsimd::batch<T, A>& a,
                          const xsimd::batch<T, A>& b) {
  return xsimd::select(m, a, b);
}
/// A mask of lanes of another type, of the same width.
template <class To, class T, class A>
auto mask_cast(const xsimd::batch_bool<T, A>& m) {
  using target = xsimd::batch_bool<To, A>;
  if constexpr (std::is_same_v<To, T>) {
    return m;
  } else if constexpr (std::is_same_v<typename target::register_type,
                                      typename xsimd::batch_bool<T, A>::register_type>) {
    return target(m.data);
  } else {
    bool values[target::size];
    m.store_unaligned(values);
    return target::load_unaligned(values);
  }
}
/// The lanes' bits as lanes of another type.
template <class To, class T, class A>
auto bits_as(const xsimd::batch<T, A>& x) {
  return xsimd::bitwise_cast<xsimd::batch<To, A>>(x);
}
template <class A>
auto to_float(const xsimd::batch<std::int32_t, A>& x) {
  return xsimd::to_float(x);
}

using xsimd::abs;
using xsimd::cbrt;
using xsimd::ceil;
using xsimd::cos;
using xsimd::erf;
using xsimd::exp2;
using xsimd::expm1;
using xsimd::floor;
using xsimd::fma;
using xsimd::log;
using xsimd::log10;
using xsimd::log1p;
using xsimd::log2;
using xsimd::max;
using xsimd::min;
using xsimd::nearbyint;
using xsimd::sin;
using xsimd::sqrt;
using xsimd::tanh;
using xsimd::trunc;

/// exp, whole up to the largest finite result: xsimd's own gives infinity from 88.38 (709.1) on.
template <class T, class A>
xsimd::batch<T, A> exp(const xsimd::batch<T, A>& x) {
  const xsimd::batch<T, A> edge(sizeof(T) == 4 ? T(88) : T(709));
  const auto above = x > edge;
  xsimd::batch<T, A> result = xsimd::exp(x);
  if (xsimd::any(above)) {
    const xsimd::batch<T, A> root = xsimd::exp(x * T(0.5));
    result = xsimd::select(above, root * root, result);
  }
  return result;
}

}  // namespace topos::lane
