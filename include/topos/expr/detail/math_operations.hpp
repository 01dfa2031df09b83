// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions of <cmath>: each for one value (host and device) and, where a library has it to
/// the last bits, for lanes (host).

#include <cmath>
#include <cstdint>
#include <topos/expr/detail/arithmetic_operations.hpp>
#include <topos/expr/detail/complex_functions.hpp>
#include <topos/expr/detail/complex_lane_functions.hpp>

namespace topos::detail {

// Of one number. Lanes of short functions are always part of their loop, which compilers would have
// call them; of others that is theirs to decide.
#define TOPOS_FUNCTION(name, scope, inlined, ...)               \
  struct name##_op : __VA_ARGS__ {                              \
    template <class T>                                          \
    KOKKOS_FUNCTION auto operator()(const T& x) const {         \
      return scope::name(x);                                    \
    }                                                           \
    template <field_lanes B>                                    \
      requires requires(const B& x) { lane::name(x); }          \
    inlined B lanes(const B& x) const { return lane::name(x); } \
  };
TOPOS_FUNCTION(acos, number, , widening)
TOPOS_FUNCTION(acosh, number, , widening)
TOPOS_FUNCTION(asin, number, , widening)
TOPOS_FUNCTION(asinh, number, , widening)
TOPOS_FUNCTION(atan, number, , widening)
TOPOS_FUNCTION(atanh, number, , widening)
TOPOS_FUNCTION(cbrt, Kokkos, , widening, of_reals)
TOPOS_FUNCTION(ceil, Kokkos, , widening, of_reals, brief, closed)
TOPOS_FUNCTION(cos, number, , widening)
TOPOS_FUNCTION(cosh, number, , widening)
TOPOS_FUNCTION(erf, Kokkos, , widening, of_reals)
TOPOS_FUNCTION(erfc, Kokkos, , widening, of_reals)
TOPOS_FUNCTION(exp, number, [[gnu::always_inline]], widening)
TOPOS_FUNCTION(exp2, number, [[gnu::always_inline]], widening)
TOPOS_FUNCTION(expm1, number, , widening)
TOPOS_FUNCTION(floor, Kokkos, , widening, of_reals, brief, closed)
TOPOS_FUNCTION(lgamma, Kokkos, , widening, of_reals)
TOPOS_FUNCTION(log, number, , widening)
TOPOS_FUNCTION(log10, number, , widening)
TOPOS_FUNCTION(log1p, number, , widening)
TOPOS_FUNCTION(log2, number, , widening)
TOPOS_FUNCTION(nearbyint, Kokkos, , widening, of_reals, brief, closed)
TOPOS_FUNCTION(sin, number, , widening)
TOPOS_FUNCTION(sinh, number, , widening)
TOPOS_FUNCTION(sqrt, number, , widening)
TOPOS_FUNCTION(tan, number, , widening)
TOPOS_FUNCTION(tanh, number, [[gnu::always_inline]], widening)
TOPOS_FUNCTION(tgamma, Kokkos, , widening, of_reals)
TOPOS_FUNCTION(trunc, Kokkos, , widening, of_reals, brief, closed)
#undef TOPOS_FUNCTION

#define TOPOS_FUNCTION(name)                       \
  struct name##_op : widening, of_reals {          \
    template <class T>                             \
    KOKKOS_FUNCTION T operator()(T a, T b) const { \
      return Kokkos::name(a, b);                   \
    }                                              \
    template <floating_lanes B>                    \
    B lanes(const B& a, const B& b) const {        \
      return lane::name(a, b);                     \
    }                                              \
  };
TOPOS_FUNCTION(atan2)
TOPOS_FUNCTION(copysign)
#undef TOPOS_FUNCTION

struct hypot_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    const T result = Kokkos::hypot(a, b);
    KOKKOS_IF_ON_DEVICE((if (Kokkos::isinf(result)) return near_infinity(a, b);))
    return result;
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    return lane::hypot(a, b);
  }

 private:
  // CUDA's is infinite, by a unit in the last place, where it is to be the largest number.
  template <class T>
  static KOKKOS_FUNCTION T near_infinity(T a, T b) {
    const T larger = Kokkos::fmax(Kokkos::abs(a), Kokkos::abs(b));
    if (Kokkos::isinf(larger)) return larger;
    const T ratio = Kokkos::fmin(Kokkos::abs(a), Kokkos::abs(b)) / larger;
    return larger * Kokkos::sqrt(1 + ratio * ratio);
  }
};

struct fmod_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      // By -1 nothing is left; the processor would end the process for the lowest number, as by 0.
      if (b == T(0) || (std::is_signed_v<T> && b == static_cast<T>(-1))) return T(0);
      return static_cast<T>(a % b);
    } else {
      return Kokkos::fmod(a, b);
    }
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const requires(lane::has_fma) {
    return lane::fmod(a, b);
  }
};

/// The larger of two, and the other where one is NaN.
struct fmax_op : widening, of_reals, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return a != a || a < b ? b : a;
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    return lane::select((a == a) & ~(a < b), a, b);
  }
};

/// The smaller of two, and the other where one is NaN.
struct fmin_op : widening, of_reals, closed {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return a != a || b < a ? b : a;
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    return lane::select((a == a) & ~(b < a), a, b);
  }
};

/// a - b, or 0 where that is negative.
struct fdim_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return a <= b ? T(0) : a - b;
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    return lane::select(a <= b, lane::splat(lane::value_t<B>(0)), a - b);
  }
};

struct fma_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b, T c) const {
    if constexpr (std::is_integral_v<T>)
      return add_op{}(multiply_op{}(a, b), c);
    else
      return Kokkos::fma(a, b, c);
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b, const B& c) const {
    if constexpr (lane::has_fma)
      return lane::fma(a, b, c);
    else
      return lane::each(*this, a, b, c);
  }
};

struct reciprocal_op : widening {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return divide_op{}(T(1), x);
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    return lane::splat(lane::value_t<B>(1)) / x;
  }
};

struct rsqrt_op : widening {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return divide_op{}(T(1), number::sqrt(x));
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    return lane::splat(lane::value_t<B>(1)) / lane::sqrt(x);
  }
};

/// log(exp(a) + exp(b)) without overflow on the way.
struct logaddexp_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if (a == b) return a + T(0.693147180559945309417232121458);  // infinities too
    const T difference = a - b;
    if (difference > T(0)) return a + Kokkos::log1p(Kokkos::exp(-difference));
    if (difference <= T(0)) return b + Kokkos::log1p(Kokkos::exp(difference));
    return difference;  // NaN
  }
  template <floating_lanes B>
  B lanes(const B& a, const B& b) const {
    using T = lane::value_t<B>;
    const B difference = a - b;
    const B least = lane::log1p(lane::exp(-lane::abs(difference)));
    const B sum = lane::select(difference > lane::splat(T(0)), a, b) + least;
    return lane::select(a == b, a + lane::splat(T(0.693147180559945309417232121458)), sum);
  }
};

/// 1 / (1 + exp(-x)).
struct sigmoid_op : widening {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return divide_op{}(T(1), T(1) + number::exp(-x));
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    const B one = lane::splat(lane::value_t<B>(1));
    return one / (one + lane::exp(-x));
  }
};

/// x/2 (1 + erf(x/sqrt 2)): Hendrycks and Gimpel, arXiv:1606.08415, in its exact form.
struct gelu_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return T(0.5) * x * (T(1) + Kokkos::erf(x * T(0.70710678118654752440)));
  }
  template <floating_lanes B>
  B lanes(const B& x) const {
    using T = lane::value_t<B>;
    const B half = lane::splat(T(0.5));
    const B root = lane::splat(T(0.70710678118654752440));
    return half * x * (lane::splat(T(1)) + lane::erf(x * root));
  }
};

struct real_op {
  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& x) const {
    if constexpr (is_complex<T>)
      return x.real();
    else
      return x;
  }
  template <complex_lanes B>
  auto lanes(const B& x) const {
    return x.real;
  }
};

struct imag_op {
  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& x) const {
    if constexpr (is_complex<T>)
      return x.imag();
    else
      return T(0.0f);
  }
  template <complex_lanes B>
  auto lanes(const B& x) const {
    return x.imag;
  }
};

/// The complex number of two parts.
struct complex_op : widening, of_reals {
  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& real, const T& imag) const {
    return Kokkos::complex<T>(real, imag);
  }
  template <floating_lanes B>
  auto lanes(const B& real, const B& imag) const {
    return lane::complex_batch<B>{real, imag};
  }
};

struct angle_op : widening {
  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& x) const {
    if constexpr (is_complex<T>)
      return Kokkos::atan2(x.imag(), x.real());
    else
      return Kokkos::atan2(T(0), x);
  }
  template <complex_lanes B>
  auto lanes(const B& x) const {
    return lane::atan2(x.imag, x.real);
  }
};

/// The complex conjugate.
struct conj_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    if constexpr (is_complex<T>)
      return T(x.real(), -x.imag());
    else
      return x;
  }
  template <complex_lanes B>
  B lanes(const B& x) const {
    return {x.real, negate_op{}.lanes(x.imag)};
  }
};

}  // namespace topos::detail
