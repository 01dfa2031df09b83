// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The different elements of a tensor.

#include <topos/expr/elementwise.hpp>
#include <topos/expr/slice.hpp>
#include <topos/tensor/nonzero.hpp>
#include <topos/tensor/sort.hpp>
#include <type_traits>
#include <utility>

namespace topos {

namespace detail {

/// Whether a number is another than the one before it in their order; NaN equals NaN.
struct begins_run_op {
  template <class T>
  KOKKOS_FUNCTION bool operator()(T before, T x) const {
    return before != x && (before == before || x == x);
  }
};

/// Where runs of equal elements begin in a vector.
template <element T>
[[nodiscard]] tensor<bool, 1> begins_of_runs(const tensor<T, 1>& ordered,
                                             std::source_location where) {
  using truth = std::invoke_result_t<begins_run_op, T, T>;  // bool, when T is known
  tensor<truth, 1> begins(ordered.shape(), ordered.device(), where);
  if (begins.size() == 0) return begins;
  begins.slice(range{0, 1}) = true;
  begins.slice(range{1, {}}) =
      make_node("unique", where, begins_run_op{}, topos::slice(ordered, range{0, -1}),
                topos::slice(ordered, range{1, {}}));
  return begins;
}

/// The elements of an operand in ascending order.
template <operand X>
[[nodiscard]] tensor<value_of_t<X>, 1> all_ordered(const X& x, std::source_location where) {
  static_assert(!is_complex<value_of_t<X>>, "topos: complex numbers have no order");
  return sort(eval(x, where).reshape({-1}, where), 0, ascending, where);
}

}  // namespace detail

/// The different elements, in ascending order: numpy.unique. NaN, of which there is one then, comes
/// last. Sorts all elements, and waits until the different ones are counted.
template <operand X>
[[nodiscard]] tensor<detail::value_of_t<X>, 1> unique(
    const X& x, std::source_location where = std::source_location::current()) {
  const auto ordered = detail::all_ordered(x, where);
  return extract(detail::begins_of_runs(ordered, where), ordered, where);
}

/// The same, and how often each comes: `auto [values, counts] = unique_counts(x)`.
template <operand X>
[[nodiscard]] std::pair<tensor<detail::value_of_t<X>, 1>, tensor<std::int64_t, 1>> unique_counts(
    const X& x, std::source_location where = std::source_location::current()) {
  const auto ordered = detail::all_ordered(x, where);
  const auto begins = flatnonzero(detail::begins_of_runs(ordered, where), where);
  std::decay_t<decltype(begins)> counts(begins.shape(), begins.device(), where);
  if (counts.size() != 0) {
    counts.slice(-1) = ordered.size();
    counts.slice(range{0, -1}) = topos::slice(begins, range{1, {}});
    counts -= begins;
  }
  return {eval(take(ordered, begins, 0, where), where), counts};
}

}  // namespace topos
