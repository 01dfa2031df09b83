// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows: what an expression is inside a kernel. A row is indexed by column; it is bare (pointers
/// and scalars), so it may be copied to a device, and combines with other rows lazily.

#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/expr/operations.hpp>

namespace topos::detail {

/// A row in memory: element j lies at data[j * step]; step 0 repeats one element.
template <class T>
struct memory_row {
  using value_type = T;
  const T* data;
  index_t step = 1;

  KOKKOS_FUNCTION T operator[](index_t j) const { return data[j * step]; }

  /// `count` lanes from column j on; the others are 0 (or the repeated element).
  [[nodiscard]] auto lanes(index_t j, index_t count) const {
    if (count == lane::width<T> && step == 1) return lane::load(data + j);
    return apart(j, count);
  }

 private:
  // Out of line, so that the common case stays small enough to be inlined.
  [[gnu::noinline]] auto apart(index_t j, index_t count) const {
    if (step == 0) return lane::splat(*data);
    if (step == 1) return lane::load_partial(data + j, count);
    T values[lane::width<T>] = {};
    for (index_t i = 0; i < count; ++i) values[i] = data[(j + i) * step];
    return lane::load(values);
  }
};

/// One value in every column.
template <class T>
struct constant_row {
  using value_type = T;
  T value;

  KOKKOS_FUNCTION T operator[](index_t /*j*/) const { return value; }
  [[nodiscard]] auto lanes(index_t /*j*/, index_t /*count*/) const { return lane::splat(value); }
};

/// An operation on one row.
template <class Op, class A>
struct unary_row {
  using value_type = typename A::value_type;
  A a;

  KOKKOS_FUNCTION value_type operator[](index_t j) const { return Op{}(a[j]); }
  [[nodiscard]] auto lanes(index_t j, index_t count) const { return Op{}.lanes(a.lanes(j, count)); }
};

/// An operation on two rows.
template <class Op, class A, class B>
struct binary_row {
  using value_type = typename A::value_type;
  A a;
  B b;

  KOKKOS_FUNCTION value_type operator[](index_t j) const { return Op{}(a[j], b[j]); }
  [[nodiscard]] auto lanes(index_t j, index_t count) const {
    return Op{}.lanes(a.lanes(j, count), b.lanes(j, count));
  }
};

}  // namespace topos::detail
