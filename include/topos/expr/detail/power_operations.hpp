// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Powers: each for one value (host and device) and, where it is made of what lanes have, for lanes
/// (host).

#include <topos/expr/detail/arithmetic_operations.hpp>
#include <topos/expr/detail/complex_functions.hpp>
#include <type_traits>

namespace topos::detail {

/// A number to a whole power or to 1/2, the same for all elements: products, or a square root.
template <class T>
struct simple_power_op : widening {
  friend bool operator==(const simple_power_op&, const simple_power_op&) = default;
  static constexpr int most = 64;
  int whole;
  bool root;  // the power is 1/2

  KOKKOS_FUNCTION T operator()(T x) const {
    if (whole == 2) return multiply_op{}(x, x);
    if (whole == 3) return multiply_op{}(x * x, x);
    if (root) return number::sqrt(x);
    const T result = product(x, T(1));
    return whole < 0 ? divide_op{}(T(1), result) : result;
  }
  template <field_lanes B>
  [[gnu::always_inline]] B lanes(const B& x) const {
    if (whole == 2) return multiply_op{}.lanes(x, x);
    if (whole == 3) return multiply_op{}.lanes(x * x, x);
    if (root) return lane::sqrt(x);
    const B one = lane::splat(T(1));
    const B result = product(x, one);
    return whole < 0 ? one / result : result;
  }

 private:
  // By squares, in the order of JAX's integer_pow. nvcc takes lanes for parameters here, but not
  // for variables.
  TOPOS_HOST_BRANCH
  template <class X>
  KOKKOS_FUNCTION X product(X square, X result) const {
    bool first = true;
    for (int n = whole < 0 ? -whole : whole; n > 0; n >>= 1) {
      if ((n & 1) != 0) {
        result = first ? square : result * square;
        first = false;
      }
      if (n > 1) square = square * square;
    }
    return result;
  }
};

/// A number to another's power; integers by products, with negative powers as 1/x^n cut off, and
/// complex numbers to small whole powers too.
struct pow_op : widening {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>) {
        if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? ((b & 1) != 0 ? T(-1) : T(1)) : T(0);
      }
      T result = T(1);
      for (; b != T(0); b = static_cast<T>(b >> 1)) {
        if ((b & T(1)) != T(0)) result = multiply_op{}(result, a);
        a = multiply_op{}(a, a);
      }
      return result;
    } else if constexpr (is_complex<T>) {
      constexpr int most = simple_power_op<T>::most;
      const auto power = b.real();
      if (b.imag() == 0 && a != T(0)) {
        if (power == decltype(power)(0.5)) return number::sqrt(a);
        if (power >= -most && power <= most && power == static_cast<int>(power))
          return simple_power_op<T>{{}, static_cast<int>(power), false}(a);
      }
      return number::pow(a, b);
    } else {
      return Kokkos::pow(a, b);
    }
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    return lane::pow(a, b);
  }
};

/// A number to a power that is the same for all elements; small whole powers and 1/2 are simple.
template <class T>
struct power_op : widening {
  friend bool operator==(const power_op&, const power_op&) = default;
  T exponent;
  bool general;
  simple_power_op<T> small;

  static power_op of(const T& exponent) {
    constexpr int most = simple_power_op<T>::most;
    // Complex 0 has negative powers of its own.
    constexpr int least = is_complex<T> ? 0 : -most;
    const real_t<T> power = Kokkos::real(exponent);
    if (exponent == T(0.5)) return {{}, exponent, false, {{}, 0, true}};
    if (power >= least && power <= most && exponent == T(static_cast<int>(power)))
      return {{}, exponent, false, {{}, static_cast<int>(power), false}};
    return {{}, exponent, true, {}};
  }

  [[nodiscard]] KOKKOS_FUNCTION bool is_simple() const { return !general; }
  [[nodiscard]] KOKKOS_FUNCTION const simple_power_op<T>& simple() const { return small; }

  KOKKOS_FUNCTION T operator()(T x) const { return general ? pow_op{}(x, exponent) : small(x); }
  template <field_lanes B>
  B lanes(const B& x) const {
    if (!general) return small.lanes(x);
    if constexpr (floating_lanes<B>)
      return lane::pow(x, lane::splat(exponent));
    else
      return lane::each(*this, x);
  }
};

}  // namespace topos::detail
