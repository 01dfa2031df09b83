// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The elementwise operations: each for one value (host and device) and for lanes (host).

#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

namespace topos::detail {

struct negate_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return -x;
  }
  template <class B>
  B lanes(const B& x) const {
    return -x;
  }
};

struct square_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x * x;
  }
  template <class B>
  B lanes(const B& x) const {
    return x * x;
  }
};

struct abs_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return Kokkos::abs(x);
  }
  template <class B>
  B lanes(const B& x) const {
    return lane::abs(x);
  }
};

struct sqrt_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return Kokkos::sqrt(x);
  }
  template <class B>
  B lanes(const B& x) const {
    return lane::sqrt(x);
  }
};

struct exp_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return Kokkos::exp(x);
  }
  template <class B>
  B lanes(const B& x) const {
    return lane::exp(x);
  }
};

struct log_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return Kokkos::log(x);
  }
  template <class B>
  B lanes(const B& x) const {
    return lane::log(x);
  }
};

struct tanh_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return Kokkos::tanh(x);
  }
  template <class B>
  B lanes(const B& x) const {
    return lane::tanh(x);
  }
};

struct erf_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return Kokkos::erf(x);
  }
  template <class B>
  B lanes(const B& x) const {
    return lane::erf(x);
  }
};

/// x/2 (1 + erf(x/sqrt 2)): Hendrycks and Gimpel, arXiv:1606.08415, in its exact form.
struct gelu_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return T(0.5) * x * (T(1) + Kokkos::erf(x * T(0.70710678118654752440)));
  }
  template <class B>
  B lanes(const B& x) const {
    using T = lane::value_t<B>;
    const B half = lane::splat(T(0.5));
    const B root = lane::splat(T(0.70710678118654752440));
    return half * x * (lane::splat(T(1)) + lane::erf(x * root));
  }
};

struct add_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return a + b;
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    return a + b;
  }
};

struct subtract_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return a - b;
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    return a - b;
  }
};

struct multiply_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return a * b;
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    return a * b;
  }
};

/// Integers divide by 0 to 0, as in NumPy: the processor would end the process.
struct divide_op {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == T(0)) return T(0);
      if constexpr (std::is_signed_v<T>) {
        using wrapping = std::make_unsigned_t<T>;
        if (b == T(-1)) return static_cast<T>(wrapping(0) - static_cast<wrapping>(a));
      }
    }
    return static_cast<T>(a / b);
  }
  template <class B>
  B lanes(const B& a, const B& b) const {
    return a / b;
  }
};

}  // namespace topos::detail
