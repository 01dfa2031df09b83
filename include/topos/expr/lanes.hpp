// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SIMD lanes on the host: xsimd where it is found, else one lane at a time.
///
/// Everything here is host code. Tails are computed with the same lane functions as whole batches,
/// so that a value's bits do not depend on where in memory it lies.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <topos/core/config.hpp>

#if TOPOS_HAS_XSIMD
#include <xsimd/xsimd.hpp>
#endif

namespace topos::lane {

/// Element types that have lanes.
template <class T>
concept element = std::same_as<T, float> || std::same_as<T, double>;

#if TOPOS_HAS_XSIMD

template <element T>
using batch = xsimd::batch<T>;

template <element T>
inline constexpr index_t width = static_cast<index_t>(batch<T>::size);

template <element T>
batch<T> load(const T* from) {
  return batch<T>::load_unaligned(from);
}
template <element T>
void store(T* to, const batch<T>& values) {
  values.store_unaligned(to);
}
template <element T>
batch<T> splat(T value) {
  return batch<T>(value);
}

using xsimd::abs;
using xsimd::erf;
using xsimd::fma;
using xsimd::log;
using xsimd::max;
using xsimd::sqrt;
using xsimd::tanh;

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

#else

/// One lane: what a batch is where there is no SIMD library.
template <element T>
struct batch {
  T value;
  friend batch operator+(batch a, batch b) { return {a.value + b.value}; }
  friend batch operator-(batch a, batch b) { return {a.value - b.value}; }
  friend batch operator*(batch a, batch b) { return {a.value * b.value}; }
  friend batch operator/(batch a, batch b) { return {a.value / b.value}; }
  friend batch operator-(batch a) { return {-a.value}; }
};

template <element T>
inline constexpr index_t width = 1;

template <class T>
batch<T> abs(batch<T> a) {
  return {std::abs(a.value)};
}
template <class T>
batch<T> erf(batch<T> a) {
  return {std::erf(a.value)};
}
template <class T>
batch<T> exp(batch<T> a) {
  return {std::exp(a.value)};
}
template <class T>
batch<T> fma(batch<T> a, batch<T> b, batch<T> c) {
  return {std::fma(a.value, b.value, c.value)};
}
template <class T>
batch<T> log(batch<T> a) {
  return {std::log(a.value)};
}
template <class T>
batch<T> max(batch<T> a, batch<T> b) {
  return {std::max(a.value, b.value)};
}
template <class T>
batch<T> sqrt(batch<T> a) {
  return {std::sqrt(a.value)};
}
template <class T>
batch<T> tanh(batch<T> a) {
  return {std::tanh(a.value)};
}

template <element T>
batch<T> load(const T* from) {
  return {*from};
}
template <element T>
void store(T* to, const batch<T>& values) {
  *to = values.value;
}
template <element T>
batch<T> splat(T value) {
  return {value};
}

#endif

namespace detail {
template <class B>
struct value_of;
template <template <class...> class Batch, class T, class... Rest>
struct value_of<Batch<T, Rest...>> {
  using type = T;
};
}  // namespace detail

/// The element type of a batch.
template <class B>
using value_t = typename detail::value_of<B>::type;

/// The first `count` lanes from memory; the others are 0.
template <element T>
batch<T> load_partial(const T* from, index_t count) {
  T values[width<T>] = {};
  std::copy_n(from, count, values);
  return load(values);
}

/// The first `count` lanes to memory.
template <element T>
void store_partial(T* to, const batch<T>& lanes, index_t count) {
  T values[width<T>];
  store(values, lanes);
  std::copy_n(values, count, to);
}

namespace detail {

// Folds an array onto its first half until one value is left; each level is one SIMD operation.
template <index_t Count, class T, class Combine>
T fold(T* values, Combine combine) {
  if constexpr (Count == 1) {
    return values[0];
  } else {
    T half[Count / 2];
    for (index_t i = 0; i < Count / 2; ++i) half[i] = combine(values[i], values[i + Count / 2]);
    return fold<Count / 2>(half, combine);
  }
}

template <element T, class Combine>
T fold(const batch<T>& lanes, Combine combine) {
  T values[width<T>];
  store(values, lanes);
  return fold<width<T>>(values, combine);
}

}  // namespace detail

/// The lanes' sum, in halves: the same order on every machine of this width.
template <element T>
T sum(const batch<T>& lanes) {
  return detail::fold<T>(lanes, [](T a, T b) { return a + b; });
}

/// The largest lane.
template <element T>
T largest(const batch<T>& lanes) {
  return detail::fold<T>(lanes, [](T a, T b) { return a > b ? a : b; });
}

}  // namespace topos::lane
