// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arithmetic: each operation for one value (host and device) and, where a library has it, for
/// lanes (host).

#include <topos/core/config.hpp>
#include <topos/core/promotion.hpp>
#include <topos/expr/call.hpp>
#include <topos/expr/detail/complex_functions.hpp>
#include <topos/expr/detail/division_by_number.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

namespace topos::detail {

// Integers wrap around, as in NumPy; C++ leaves that undefined for signed ones, and for short
// unsigned ones, which it computes as int.
template <class T>
using wrapping_t = std::conditional_t<
    (sizeof(T) < sizeof(unsigned)), unsigned,
    typename std::conditional_t<std::is_same_v<T, bool>, std::type_identity<unsigned>,
                                std::make_unsigned<T>>::type>;

template <class B>
concept floating_lanes = lane::numbers<B> && std::floating_point<lane::value_t<B>>;
template <class B>
concept float_lanes = floating_lanes<B> && sizeof(lane::value_t<B>) == sizeof(float);
template <class B>
concept complex_lanes = lane::numbers<B> && is_complex<lane::value_t<B>>;
template <class B>
concept field_lanes = floating_lanes<B> || complex_lanes<B>;

struct negate_op : widening, quick, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wrapping_t<T>(0) - static_cast<wrapping_t<T>>(x));
    else
      return -x;
  }
  template <lane::numbers B>
  B lanes(const B& x) const {
    // xsimd 8 takes x from 0, which loses the sign of 0.
    if constexpr (complex_lanes<B>)
      return {lanes(x.real), lanes(x.imag)};
    else if constexpr (floating_lanes<B>)
      return x * lane::splat(lane::value_t<B>(-1));
    else
      return -x;
  }
};

struct add_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
    else
      return a + b;
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    if constexpr (lane::numbers<B>)
      return a + b;
    else
      return a | b;
  }
};

struct subtract_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
    else
      return a - b;
  }
  template <lane::numbers B>
  B lanes(const B& a, const B& b) const {
    return a - b;
  }
};

struct multiply_op : widening, quick, keeping_products {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
    else if constexpr (is_half<T>)
      return a * b;
    else
      return number::product(a, b);
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    if constexpr (complex_lanes<B>) {
      return a * b;
    } else if constexpr (floating_lanes<B>) {
      return lane::rounded(a * b);
    } else if constexpr (lane::numbers<B>) {
      // As unsigned ones, which wrap around where a machine has no instruction for lanes.
      using T = lane::value_t<B>;
      using U = std::make_unsigned_t<T>;
      return lane::bits_as<T>(lane::bits_as<U>(a) * lane::bits_as<U>(b));
    } else {
      return a & b;
    }
  }
};

/// The true quotient: of floating-point numbers only.
struct divide_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return number::quotient(a, b);
  }
  template <field_lanes B>
  B lanes(const B& a, const B& b) const {
    return a / b;
  }
};

/// The quotient of integers, cut off. On the host it is one of double where that is exact, since
/// processors divide lanes of those alone.
template <class T>
KOKKOS_FUNCTION T cut_quotient(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    KOKKOS_IF_ON_HOST((return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));))
  }
  return static_cast<T>(a / b);
}

/// The largest integer not above the quotient; integers divide by 0 to 0, as in NumPy, where the
/// processor would end the process.
struct floor_divide_op : widening, of_reals {
  template <class T>
  using by_number = floor_divide_by<T>;

  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else if constexpr (std::is_integral_v<T>) {
      // Without branches, so that lanes are made of loops: by 0 it is 0, and by -1 it wraps around.
      const auto none = static_cast<T>(b == T(0));
      if constexpr (std::is_signed_v<T>) {
        const auto turns = static_cast<T>(b == T(-1));
        const auto by = static_cast<T>(b + none + 2 * turns);
        const T cut = cut_quotient(a, by);
        const auto below = static_cast<T>((cut * by != a) & ((a ^ by) < 0));
        return multiply_op{}(static_cast<T>(cut - below), static_cast<T>(1 - none - 2 * turns));
      } else {
        return static_cast<T>(cut_quotient(a, static_cast<T>(b + none)) * (T(1) - none));
      }
    } else {
      // As NumPy: from the exact remainder, so that a = b * quotient + remainder holds.
      if (b == T(0)) return a / b;
      T remainder = Kokkos::fmod(a, b);
      T quotient = (a - remainder) / b;
      if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) quotient -= T(1);
      if (quotient == T(0)) return Kokkos::copysign(T(0), a / b);
      T floor = Kokkos::floor(quotient);
      return quotient - floor > T(0.5) ? floor + T(1) : floor;
    }
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const requires(lane::has_fma) {
    using T = lane::value_t<B>;
    const B zero = lane::splat(T(0));
    const B one = lane::splat(T(1));
    const B rest = lane::fmod(a, b);
    const B cut = (a - rest) / b;
    const auto below = lane::differs(b < zero, rest < zero) & ~(rest == zero);
    const B quotient = lane::select(below, cut - one, cut);
    const B floor = lane::floor(quotient);
    const B nearest = lane::select(quotient - floor > lane::splat(T(0.5)), floor + one, floor);
    const B of_sign = lane::select(quotient == zero, lane::copysign(zero, a / b), nearest);
    return lane::select(b == zero, a / b, of_sign);
  }
};

/// What floor division leaves: of the sign of the divisor.
struct remainder_op : widening, of_reals {
  template <class T>
  using by_number = remainder_by<T>;

  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T rest = subtract_op{}(a, multiply_op{}(floor_divide_op{}(a, b), b));
      return multiply_op{}(rest, static_cast<T>(b != T(0)));
    } else {
      const T rest = Kokkos::fmod(a, b);
      if (rest == T(0)) return Kokkos::copysign(T(0), b);
      return (rest < T(0)) != (b < T(0)) ? rest + b : rest;
    }
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const requires(lane::has_fma) {
    const B zero = lane::splat(lane::value_t<B>(0));
    const B rest = lane::fmod(a, b);
    const B of_sign = lane::select(lane::differs(rest < zero, b < zero), rest + b, rest);
    return lane::select(rest == zero, lane::copysign(zero, b), of_sign);
  }
};

struct abs_op : widening, quick, closed {
  template <class T>
  KOKKOS_FUNCTION auto operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return x < T(0) ? negate_op{}(x) : x;
    else
      return Kokkos::abs(x);
  }
  template <lane::numbers B>
  auto lanes(const B& x) const {
    if constexpr (complex_lanes<B>)
      return lane::hypot(x.real, x.imag);
    else if constexpr (std::is_unsigned_v<lane::value_t<B>>)
      return x;
    else
      return lane::abs(x);
  }
};

struct square_op : widening, quick, keeping_products {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return multiply_op{}(x, x);
  }
  template <class B>
  B lanes(const B& x) const {
    return multiply_op{}.lanes(x, x);
  }
};

/// -1, 0 or 1; NaN of NaN.
struct sign_op : widening, quick, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    if constexpr (is_complex<T>)  // of size 1 in its direction
      return x == T(0) ? x : x / Kokkos::abs(x);
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(x != T(0));
    else
      return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    const B zero = lane::splat(lane::value_t<B>(0));
    const B one = lane::splat(lane::value_t<B>(1));
    return lane::select(x > zero, one, lane::select(x < zero, zero - one, x));
  }
};

/// The smaller and the larger of two, NaN where one of them is.
struct minimum_op : widening, of_reals, quick, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    const T less = a < b ? a : b;  // one instruction, where || were a branch
    return a == a ? less : a;
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    if constexpr (floating_lanes<B>)
      return lane::select(a == a, lane::min(a, b), a);
    else if constexpr (lane::numbers<B>)
      return lane::select(a < b, a, b);
    else
      return a & b;
  }
};

struct maximum_op : widening, of_reals, quick, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    const T greater = a > b ? a : b;  // one instruction, where || were a branch
    return a == a ? greater : a;
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    if constexpr (floating_lanes<B>)
      return lane::select(a == a, lane::max(a, b), a);
    else if constexpr (lane::numbers<B>)
      return lane::select(a > b, a, b);
    else
      return a | b;
  }
};

/// The element as another type; real numbers become complex ones, not the other way round.
template <class To>
struct convert_op : passing, quick {
  template <class T>
  KOKKOS_FUNCTION To operator()(const T& x) const {
    if constexpr (std::is_same_v<T, To>)
      return x;
    else if constexpr (std::is_same_v<To, bool>)
      return x != T(0);
    else if constexpr (is_half<To>)
      return To(to_odd(x));
    else if constexpr (is_complex<To> && is_complex<T>)
      return To(static_cast<real_t<To>>(x.real()), static_cast<real_t<To>>(x.imag()));
    else if constexpr (is_complex<To>)
      return To(static_cast<real_t<To>>(x));
    else if constexpr (is_real_floating<T> && std::is_integral_v<To>)
      return to_integer(static_cast<std::conditional_t<is_half<T>, float, T>>(x));
    else
      return static_cast<To>(x);
  }
  template <class B>
    requires(std::same_as<To, float>&& std::same_as<lane::value_t<B>, std::int32_t>&& requires(
        const B& b) { lane::to_float(b); })
  auto lanes(const B& x) const { return lane::to_float(x); }
  template <class B>
    requires(is_half<To>&& std::same_as<lane::value_t<B>, std::int32_t>&& requires(const B& b) {
      lane::to_odd_float(b);
    })
  auto lanes(const B& x) const { return lane::to_odd_float(x); }
  template <class B>
    requires(std::same_as<To, std::int32_t>&& std::same_as<lane::value_t<B>, float>&& requires(
        const B& b) { lane::to_integer(b); })
  auto lanes(const B& x) const { return lane::to_integer(x); }
  template <class B>
    requires(is_complex<To>&& std::same_as<B, lane::batch<real_t<To>>>)
  lane::of<To> lanes(const B& x)
  const { return {x, lane::splat(real_t<To>(0))}; }
  template <lane::numbers B>
    requires(std::same_as<To, bool>&& lane::real_element<lane::value_t<B>>)
  auto lanes(const B& x) const { return lane::differs(x, lane::splat(lane::value_t<B>(0))); }
  // Of truths, as their bits.
  template <lane::real_element T>
    requires(lane::real_element<lane::made_of<To>> && sizeof(T) == sizeof(lane::made_of<To>))
  auto lanes(const lane::mask<T>& x) const {
    using made = lane::made_of<To>;
    const auto one = lane::bits_as<T>(lane::splat(made(1)));
    return lane::bits_as<made>(lane::select(x, one, lane::splat(T(0))));
  }
  // Of and to sixteen-bit types, whose lanes are float: who asks for them rounds.
  template <class B>
    requires(std::same_as<B, lane::batch<float>> && (std::same_as<To, float> || is_half<To>))
  B lanes(const B& x)
  const { return x; }

 private:
  // The float that rounds to a sixteen-bit type as x does: where x lies between two floats, the odd
  // one, which is never halfway between two numbers of that type.
  template <class T>
  KOKKOS_FUNCTION static float to_odd(T x) {
    if constexpr (std::is_same_v<T, double>) {
      const auto near = static_cast<float>(x);
      if (static_cast<double>(near) == x || !Kokkos::isfinite(near)) return near;
      auto bits = Kokkos::bit_cast<std::uint32_t>(near);
      if (Kokkos::abs(static_cast<double>(near)) > Kokkos::abs(x)) --bits;
      return Kokkos::bit_cast<float>(bits | 1U);
    } else if constexpr (std::is_integral_v<T> && sizeof(T) > 2) {
      const bool negative = x < T(0);
      auto size = static_cast<unsigned long long>(x);
      if (negative) size = 0 - size;
      if (size >> 24U != 0) {
        const int spare = 64 - 24 - Kokkos::countl_zero(size);
        const unsigned long long kept = size >> spare << spare;
        size = kept | (size == kept ? 0ULL : 1ULL << spare);
      }
      const auto result = static_cast<float>(size);
      return negative ? -result : result;
    } else {
      return static_cast<float>(x);
    }
  }

  // Towards 0 and, as in JAX, to the ends of the type; NaN to 0. C++ leaves these undefined.
  // Without branches, so that lanes are made of loops: short integers by way of int, which has
  // lanes.
  template <class F>
  KOKKOS_FUNCTION static To to_integer(F x) {
    using whole = std::conditional_t<(sizeof(To) < sizeof(int)), int, To>;
    constexpr auto lowest = Kokkos::Experimental::finite_min_v<To>;
    constexpr auto highest = Kokkos::Experimental::finite_max_v<To>;
    const bool above = x >= static_cast<F>(highest);
    const F inside = x > static_cast<F>(lowest) && !above ? x : F(0);
    const auto result = static_cast<To>(static_cast<whole>(inside));
    const To held = x <= static_cast<F>(lowest) ? lowest : result;
    return above ? highest : held;
  }
};

}  // namespace topos::detail
