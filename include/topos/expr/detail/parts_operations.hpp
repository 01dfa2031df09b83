// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers taken apart, put together again, and next to one another: each operation for one value
/// (host and device) and, where it is made of what lanes have, for lanes (host).

#include <cmath>
#include <cstdint>
#include <limits>
#include <topos/expr/detail/arithmetic_operations.hpp>
#include <topos/expr/lanes.hpp>

namespace topos::detail {

/// What is left of a number without its whole part, of the number's sign: 0 of an infinity.
struct fraction_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    const T rest = Kokkos::isinf(x) ? T(0) : x - Kokkos::trunc(x);
    return x == x ? Kokkos::copysign(rest, x) : x;
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    const B infinity = lane::splat(std::numeric_limits<lane::value_t<B>>::infinity());
    const B zero = lane::splat(lane::value_t<B>(0));
    return lane::copysign(lane::select(lane::abs(x) == infinity, zero, x - lane::trunc(x)), x);
  }
};

/// A number as a significand in [0.5, 1) times a power of 2.
struct significand_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    int exponent = 0;
    return std::frexp(x, &exponent);
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    return lane::significand(x);
  }
};
struct exponent_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION std::int32_t operator()(T x) const {
    int exponent = 0;
    (void)std::frexp(x, &exponent);
    return Kokkos::isfinite(x) ? exponent : 0;
  }
  template <float_lanes B>
  auto lanes(const B& x) const {
    return lane::exponent(x);
  }
};

/// A power of 2 past all types' held where it changes nothing more, so that it fits an int.
template <class E>
[[nodiscard]] KOKKOS_FUNCTION int held_power(E power) {
  if constexpr (sizeof(E) > sizeof(std::int16_t)) {
    constexpr E most = 1 << 14;
    if (power > most) return most;
    if constexpr (std::is_signed_v<E>) {
      if (power < -most) return -most;
    }
  }
  return static_cast<int>(power);
}

/// A number times a power of 2, rounded once.
struct ldexp_op : widening, of_reals {
  template <class T, class E>
  KOKKOS_FUNCTION T operator()(T x, E exponent) const {
    return std::ldexp(x, held_power(exponent));
  }
  template <floating_lanes B, lane::numbers E>
    requires requires(const B& x, const E& e) { lane::ldexp(x, e); }
  B lanes(const B& x, const E& exponent) const { return lane::ldexp(x, exponent); }
};

/// The next number of a's own type, which is why sixteen-bit ones do not become floats.
struct nextafter_op : of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (is_half<T>)
      return half_after(a, b);
    else
      return Kokkos::nextafter(a, b);
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    return lane::nextafter(a, b);
  }

 private:
  // Numbers of one sign lie in the order of their bits.
  template <class T>
  KOKKOS_FUNCTION static T half_after(T a, T b) {
    const float from = a;
    const float to = b;
    if (from != from || to != to) return T(from + to);
    if (from == to) return b;
    const bool outwards = from == 0 || (from < to) == (from > 0);
    T result = a;
    if (from == 0) result.bits = b.bits & 0x8000U;
    result.bits = static_cast<std::uint16_t>(outwards ? result.bits + 1 : result.bits - 1);
    return result;
  }
};

}  // namespace topos::detail
