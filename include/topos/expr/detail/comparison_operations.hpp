// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Comparisons, what kind a number is, and the choice by them.

#include <limits>
#include <topos/expr/detail/arithmetic_operations.hpp>

namespace topos::detail {

#define TOPOS_COMPARISON(name, sign, ...)                           \
  struct name##_op : __VA_ARGS__ {                                  \
    template <class T>                                              \
    KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const { \
      return a sign b;                                              \
    }                                                               \
    template <lane::numbers B>                                      \
    auto lanes(const B& a, const B& b) const {                      \
      return a sign b;                                              \
    }                                                               \
  };
TOPOS_COMPARISON(equal, ==, widening, quick)
TOPOS_COMPARISON(less, <, widening, of_reals, quick)
TOPOS_COMPARISON(less_equal, <=, widening, of_reals, quick)
TOPOS_COMPARISON(greater, >, widening, of_reals, quick)
TOPOS_COMPARISON(greater_equal, >=, widening, of_reals, quick)
#undef TOPOS_COMPARISON

struct not_equal_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    return a != b;
  }
  template <lane::numbers B>
  auto lanes(const B& a, const B& b) const {
    return lane::differs(a, b);
  }
};

struct logical_not_op : quick {
  KOKKOS_FUNCTION bool operator()(bool x) const { return !x; }
  template <class M>
  auto lanes(const M& x) const {
    return ~x;
  }
};

struct isnan_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION bool operator()(T x) const {
    return x != x;
  }
  template <floating_lanes B>
  auto lanes(const B& x) const {
    return lane::differs(x, x);
  }
};

template <floating_lanes B>
B infinity_lanes() {
  return lane::splat(std::numeric_limits<lane::value_t<B>>::infinity());
}

struct isinf_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION bool operator()(T x) const {
    if constexpr (is_complex<T>)
      return Kokkos::isinf(x.real()) || Kokkos::isinf(x.imag());
    else
      return Kokkos::isinf(x);
  }
  template <floating_lanes B>
  auto lanes(const B& x) const {
    return lane::abs(x) == infinity_lanes<B>();
  }
};

struct isfinite_op : widening, quick {
  template <class T>
  KOKKOS_FUNCTION bool operator()(T x) const {
    if constexpr (is_complex<T>)
      return Kokkos::isfinite(x.real()) && Kokkos::isfinite(x.imag());
    else
      return Kokkos::isfinite(x);
  }
  template <floating_lanes B>
  auto lanes(const B& x) const {
    return lane::abs(x) < infinity_lanes<B>();
  }
};

struct signbit_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION bool operator()(T x) const {
    return Kokkos::signbit(x);
  }
};

/// The second where the first is true, else the third.
struct where_op : passing, quick, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(bool condition, const T& a, const T& b) const {
    return condition ? a : b;
  }
  template <class M, lane::numbers B>
  auto lanes(const M& condition, const B& a, const B& b) const {
    return lane::select(lane::mask_cast<real_t<lane::value_t<B>>>(condition), a, b);
  }
};

/// A value held between two bounds; NaN stays NaN.
struct clip_op : widening, of_reals, quick, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x, T low, T high) const {
    return minimum_op{}(maximum_op{}(x, low), high);
  }
  template <lane::numbers B>
  B lanes(const B& x, const B& low, const B& high) const {
    return minimum_op{}.lanes(maximum_op{}.lanes(x, low), high);
  }
};

}  // namespace topos::detail
