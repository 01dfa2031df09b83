// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions of one number, real or complex, on host and device.
///
/// Those of complex numbers are the C library's on the host, as NumPy's are: exact to the last bits
/// in the whole plane, with the branch cuts of C's Annex G. On a device they are Kokkos', whose
/// formulas overflow or cancel far from 1, and which do not tell the sides of a cut by the sign of
/// zero.

#include <complex>
#include <topos/core/config.hpp>
#include <topos/core/promotion.hpp>
#include <topos/expr/lanes.hpp>

namespace topos::detail::number {

#define TOPOS_FUNCTION(name)                                                                 \
  TOPOS_HOST_BRANCH                                                                          \
  template <class T>                                                                         \
  KOKKOS_FUNCTION T name(const T& x) {                                                       \
    if constexpr (is_complex<T>) {                                                           \
      KOKKOS_IF_ON_HOST((return T(std::name(std::complex<real_t<T>>(x.real(), x.imag())));)) \
    }                                                                                        \
    return Kokkos::name(x);                                                                  \
  }
TOPOS_FUNCTION(acos)
TOPOS_FUNCTION(acosh)
TOPOS_FUNCTION(asin)
TOPOS_FUNCTION(asinh)
TOPOS_FUNCTION(atan)
TOPOS_FUNCTION(atanh)
TOPOS_FUNCTION(cos)
TOPOS_FUNCTION(cosh)
TOPOS_FUNCTION(exp)
TOPOS_FUNCTION(log)
TOPOS_FUNCTION(log10)
TOPOS_FUNCTION(sin)
TOPOS_FUNCTION(sinh)
TOPOS_FUNCTION(sqrt)
TOPOS_FUNCTION(tan)
TOPOS_FUNCTION(tanh)
#undef TOPOS_FUNCTION

/// 2 to the power of x.
TOPOS_HOST_BRANCH
template <class T>
KOKKOS_FUNCTION T exp2(const T& x) {
  if constexpr (is_complex<T>) {
    constexpr real_t<T> by = Kokkos::numbers::ln2_v<real_t<T>>;  // a GPU has no address of that
    return number::exp(x * by);
  } else {
    return Kokkos::exp2(x);
  }
}

/// The logarithm of x to base 2.
TOPOS_HOST_BRANCH
template <class T>
KOKKOS_FUNCTION T log2(const T& x) {
  if constexpr (is_complex<T>) {
    constexpr real_t<T> by = Kokkos::numbers::log2e_v<real_t<T>>;
    return number::log(x) * by;
  } else {
    return Kokkos::log2(x);
  }
}

/// exp(x) - 1. Of complex numbers near the imaginary axis the real part is that of the identity
/// exp(a) cos(b) - 1 = (exp(a) - 1) cos(b) - 2 sin(b/2)^2, in which little cancels.
TOPOS_HOST_BRANCH
template <class T>
KOKKOS_FUNCTION T expm1(const T& x) {
  if constexpr (is_complex<T>) {
    using real = real_t<T>;
    const real a = x.real();
    const real b = x.imag();
    if (!(Kokkos::abs(a) < real(0.5))) return number::exp(x) - real(1);
    const real half = Kokkos::sin(b / 2);
    return T(Kokkos::expm1(a) * Kokkos::cos(b) - 2 * half * half, Kokkos::exp(a) * Kokkos::sin(b));
  } else {
    return Kokkos::expm1(x);
  }
}

/// The logarithm of 1 + x. Of complex numbers near 0 the real part is half the logarithm of
/// |1 + x|^2 = 1 + a (2 + a) + b^2.
TOPOS_HOST_BRANCH
template <class T>
KOKKOS_FUNCTION T log1p(const T& x) {
  if constexpr (is_complex<T>) {
    using real = real_t<T>;
    const real a = x.real();
    const real b = x.imag();
    if (!(Kokkos::abs(a) < real(0.5) && Kokkos::abs(b) < real(0.5))) {
      return number::log(T(1 + a, b));
    }
    return T(Kokkos::log1p(a * (2 + a) + b * b) / 2, Kokkos::atan2(b, 1 + a));
  } else {
    return Kokkos::log1p(x);
  }
}

/// a to the power of b, with NumPy's values of 0 to complex powers.
TOPOS_HOST_BRANCH
template <class T>
KOKKOS_FUNCTION T pow(const T& a, const T& b) {
  if constexpr (is_complex<T>) {
    using real = real_t<T>;
    if (b == T(0)) return T(1);
    if (a == T(0)) {
      constexpr real nan = Kokkos::Experimental::quiet_NaN_v<real>;
      return b.real() > 0 ? T(0) : T(nan, nan);
    }
    KOKKOS_IF_ON_HOST((return T(std::pow(std::complex<real>(a.real(), a.imag()),
                                         std::complex<real>(b.real(), b.imag())));))
  }
  return Kokkos::pow(a, b);
}

/// a * b. Of complex numbers from products that are each rounded.
template <class T>
KOKKOS_FUNCTION T product(const T& a, const T& b) {
  if constexpr (is_complex<T>) {
    return T(lane::rounded(a.real() * b.real()) - lane::rounded(a.imag() * b.imag()),
             lane::rounded(a.real() * b.imag()) + lane::rounded(a.imag() * b.real()));
  } else {
    return lane::rounded(a * b);
  }
}

/// a / b. Of complex numbers by Smith's algorithm (Communications of the ACM 5, 1962), as NumPy's:
/// it takes no squares, which would overflow, and by one infinite part it gives 0.
template <class T>
KOKKOS_FUNCTION T quotient(const T& a, const T& b) {
  if constexpr (is_complex<T>) {
    using real = real_t<T>;
    const real x = b.real();
    const real y = b.imag();
    if (Kokkos::abs(x) >= Kokkos::abs(y)) {
      if (x == 0) return T(a.real() / Kokkos::abs(x), a.imag() / Kokkos::abs(x));  // y is 0, too
      const real ratio = y / x;
      const real by = x + lane::rounded(y * ratio);
      return T((a.real() + lane::rounded(a.imag() * ratio)) / by,
               (a.imag() - lane::rounded(a.real() * ratio)) / by);
    }
    const real ratio = x / y;
    const real by = y + lane::rounded(x * ratio);
    return T((lane::rounded(a.real() * ratio) + a.imag()) / by,
             (lane::rounded(a.imag() * ratio) - a.real()) / by);
  } else {
    return a / b;
  }
}

}  // namespace topos::detail::number
