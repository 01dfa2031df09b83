// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether numbers are near each other.

#include <topos/expr/elementwise.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/tensor/reduction.hpp>

namespace topos {

/// How far numbers may lie apart, and whether NaN is near NaN: NumPy's.
struct tolerance {
  double relative = 1e-5;  ///< In sizes of the second number.
  double absolute = 1e-8;
  bool equal_nan = false;
};

namespace detail {

struct close_op : widening {
  tolerance within;

  template <class T>
  KOKKOS_FUNCTION bool operator()(T a, T b) const {
    using real = real_t<T>;
    const real most = static_cast<real>(within.absolute) +
                      lane::rounded(static_cast<real>(within.relative) * Kokkos::abs(b));
    return a == b || (Kokkos::abs(a - b) <= most && isfinite_op{}(b)) ||
           (within.equal_nan && a != a && b != b);
  }
  template <floating_lanes B>
  auto lanes(const B& a, const B& b) const {
    using T = lane::value_t<B>;
    const auto splat = [](double x) -> B { return lane::splat(static_cast<T>(x)); };
    const B most =
        splat(within.absolute) + multiply_op{}.lanes(splat(within.relative), B(lane::abs(b)));
    const auto near = (a == b) | ((lane::abs(a - b) <= most) & isfinite_op{}.lanes(b));
    if (!within.equal_nan) return near;
    return near | (lane::differs(a, a) & lane::differs(b, b));
  }
};

}  // namespace detail

/// Whether |a - b| <= absolute + relative * |b|, element by element, of finite numbers; others are
/// near what they equal. An expression of bools; integers are compared as floating-point numbers.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto isclose(const A& a, const B& b, tolerance within = {},
                           std::source_location where = std::source_location::current()) {
  using T = detail::floating_t<detail::common_t<A, B>>;
  return detail::make_node("isclose", where, detail::close_op{{}, within}, detail::node_as<T>(a),
                           detail::node_as<T>(b));
}

/// Whether all of them are: a tensor of one bool to be computed, `allclose(a, b).item()`.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto allclose(const A& a, const B& b, tolerance within = {},
                            std::source_location where = std::source_location::current()) {
  return all(isclose(a, b, within, where));
}

}  // namespace topos
