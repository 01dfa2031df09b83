// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The totals of parts of a row, of which a scan makes what each part starts with.

#include <cmath>
#include <cstdint>
#include <topos/expr/operations.hpp>
#include <topos/kernels/rows.hpp>
#include <type_traits>

namespace topos::detail {

/// A product as a fraction times a power of two, so that it neither overflows nor becomes 0 on the
/// way: that of a part may where no running product of the row does, after a 0 for one.
struct scaled_product {
  double fraction = 1;
  std::int64_t exponent = 0;

  KOKKOS_FUNCTION void multiply_by(double x) {
    fraction *= moderate(x);
    fraction = moderate(fraction);
  }
  KOKKOS_FUNCTION void multiply_by(const scaled_product& other) {
    fraction = moderate(fraction * other.fraction);
    exponent += other.exponent;
  }
  [[nodiscard]] KOKKOS_FUNCTION double value() const {
    constexpr std::int64_t most = 4096;  // beyond what numbers have
    const std::int64_t e = exponent < -most ? -most : exponent > most ? most : exponent;
    return std::ldexp(fraction, static_cast<int>(e));
  }

 private:
  // x, but for a power of two that the exponent takes, where it is far from 1.
  [[nodiscard]] KOKKOS_FUNCTION double moderate(double x) {
    const double size = Kokkos::abs(x);
    if (0x1p-256 <= size && size <= 0x1p256) return x;
    if (x == 0 || x - x != 0) return x;  // 0, an infinity, NaN
    int taken = 0;
    const double rest = std::frexp(x, &taken);
    exponent += taken;
    return rest;
  }
};

/// How an operation's totals are kept: as the numbers themselves, or else.
template <class Op, class T>
struct scan_total {
  using type = T;
  /// Of some neighbours.
  template <class Value, int Count>
  static KOKKOS_FUNCTION T of(const Op& op, const T& neutral, const pack<Value, Count>& some) {
    T total = neutral;
    TOPOS_UNROLLED
    for (int k = 0; k < Count; ++k) total = op(total, static_cast<T>(some.value[k]));
    return total;
  }
  static KOKKOS_FUNCTION T join(const Op& op, const T& a, const T& b) { return op(a, b); }
  static KOKKOS_FUNCTION T value(const T& total) { return total; }
  /// On the host, of a part of a row.
  template <class Row>
  static T of(const Op& op, const Row& row, index_t first, index_t last) {
    return host_rows::reduce(op, row, first, last);
  }
};

template <>
struct scan_total<multiply_op, double> {
  using type = scaled_product;
  template <class Value, int Count>
  static KOKKOS_FUNCTION type of(const multiply_op& /*op*/, type total,
                                 const pack<Value, Count>& some) {
    // No product of so few floats is too large or too small for a double.
    constexpr bool are_few = std::same_as<Value, float> && Count <= 4;
    double product = 1;
    TOPOS_UNROLLED
    for (int k = 0; k < Count; ++k) {
      const auto x = static_cast<double>(some.value[k]);
      if constexpr (are_few)
        product *= x;
      else
        total.multiply_by(x);
    }
    if constexpr (are_few) total.multiply_by(product);
    return total;
  }
  static KOKKOS_FUNCTION type join(const multiply_op& /*op*/, type a, const type& b) {
    a.multiply_by(b);
    return a;
  }
  static KOKKOS_FUNCTION double value(const type& total) { return total.value(); }
  template <class Row>
  static type of(const multiply_op& op, const Row& row, index_t first, index_t last) {
    // By lanes, four times as fast: what went too far on the way shows in the end.
    const double quick = host_rows::reduce(op, row, first, last);
    type total;
    if (0x1p-1000 <= std::abs(quick) && std::abs(quick) <= 0x1p1000) {
      total.multiply_by(quick);
    } else {
      for (; first < last; ++first) total.multiply_by(row[first]);
    }
    return total;
  }
};

}  // namespace topos::detail
