// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bits of integers and of bools: each operation for one value (host and device) and for lanes
/// (host).

#include <topos/expr/detail/arithmetic_operations.hpp>
#include <type_traits>

namespace topos::detail {

#define TOPOS_BIT_OPERATION(name, sign)            \
  struct name##_op : quick {                       \
    template <class T>                             \
    KOKKOS_FUNCTION T operator()(T a, T b) const { \
      return static_cast<T>(a sign b);             \
    }                                              \
    template <class B>                             \
    B lanes(const B& a, const B& b) const {        \
      return a sign b;                             \
    }                                              \
  };
TOPOS_BIT_OPERATION(bitwise_and, &)
TOPOS_BIT_OPERATION(bitwise_or, |)
#undef TOPOS_BIT_OPERATION

struct bitwise_xor_op : quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    if constexpr (lane::numbers<B>)
      return a ^ b;
    else
      return lane::differs(a, b);
  }
};

struct bitwise_not_op : quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  }
  template <class B>
  B lanes(const B& x) const {
    return ~x;
  }
};

/// Shifts by the width of the type or more leave nothing of the number, as in NumPy.
struct left_shift_op : quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    const auto by = static_cast<U>(b);
    return by < 8 * sizeof(T) ? static_cast<T>(static_cast<wrapping_t<T>>(a) << by) : T(0);
  }
  template <lane::numbers B>
    requires lane::has_shifts<lane::value_t<B>> B lanes(const B& a, const B& b)
  const { return lane::shifted_left(a, b); }
};

struct right_shift_op : quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    const auto by = static_cast<U>(b);
    if (by < 8 * sizeof(T)) return static_cast<T>(a >> by);
    if constexpr (std::is_signed_v<T>) {
      if (a < T(0)) return T(-1);
    }
    return T(0);
  }
  template <lane::numbers B>
    requires lane::has_shifts<lane::value_t<B>> B lanes(const B& a, const B& b)
  const { return lane::shifted_right(a, b); }
};

}  // namespace topos::detail
