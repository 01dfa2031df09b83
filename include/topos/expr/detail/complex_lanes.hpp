// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of complex numbers: those of their real and of their imaginary parts.

#include <algorithm>
#include <topos/core/promotion.hpp>
#include <topos/expr/detail/zipped_lanes.hpp>

namespace topos::lane {

template <class B>
struct complex_batch {
  B real;
  B imag;

  template <class T>
  void store_unaligned(Kokkos::complex<T>* to) const {
    const auto both = zipped(real, imag);
    lane::store(reinterpret_cast<T*>(to), both.first);
    lane::store(reinterpret_cast<T*>(to) + width_of<T>, both.second);
  }

  friend complex_batch operator+(const complex_batch& a, const complex_batch& b) {
    return {a.real + b.real, a.imag + b.imag};
  }
  friend complex_batch operator-(const complex_batch& a, const complex_batch& b) {
    return {a.real - b.real, a.imag - b.imag};
  }
  /// Of products that are each rounded.
  friend complex_batch operator*(const complex_batch& a, const complex_batch& b) {
    return {lane::rounded(a.real * b.real) - lane::rounded(a.imag * b.imag),
            lane::rounded(a.real * b.imag) + lane::rounded(a.imag * b.real)};
  }
  /// As `number::quotient`, to the bit.
  friend complex_batch operator/(const complex_batch& a, const complex_batch& b) {
    const B size_of_real = lane::abs(b.real);
    const auto real_first = size_of_real >= lane::abs(b.imag);
    const B large = lane::select(real_first, b.real, b.imag);
    const B small = lane::select(real_first, b.imag, b.real);
    const B ratio = small / large;
    const B by = large + lane::rounded(small * ratio);
    const B first = lane::select(real_first, a.real, a.imag);
    const B second = lane::select(real_first, a.imag, a.real);
    const B scaled = lane::rounded(first * ratio);
    const complex_batch result{(first + lane::rounded(second * ratio)) / by,
                               lane::select(real_first, second - scaled, scaled - second) / by};
    const auto by_zero = large == large - large;
    if (!lane::any(by_zero)) [[likely]]
      return result;
    return {lane::select(by_zero, a.real / size_of_real, result.real),
            lane::select(by_zero, a.imag / size_of_real, result.imag)};
  }
  friend auto operator==(const complex_batch& a, const complex_batch& b) {
    return (a.real == b.real) & (a.imag == b.imag);
  }
};

template <class T>
complex_batch<batch<T>> load(const Kokkos::complex<T>* from) {
  const T* parts = reinterpret_cast<const T*>(from);
  const auto both = unzipped(lane::load(parts), lane::load(parts + width_of<T>));
  return {both.first, both.second};
}
template <class T, class B>
void store(Kokkos::complex<T>* to, const complex_batch<B>& lanes) {
  lanes.store_unaligned(to);
}
template <class T>
complex_batch<batch<T>> splat(const Kokkos::complex<T>& value) {
  return {lane::splat(value.real()), lane::splat(value.imag())};
}
template <class M, class B>
complex_batch<B> select(const M& m, const complex_batch<B>& a, const complex_batch<B>& b) {
  return {lane::select(m, a.real, b.real), lane::select(m, a.imag, b.imag)};
}
template <class B>
auto differs(const complex_batch<B>& a, const complex_batch<B>& b) {
  return lane::differs(a.real, b.real) | lane::differs(a.imag, b.imag);
}

}  // namespace topos::lane
