// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows in which what is the same in all columns is computed once, before the loop along them: on
/// the host.

#include <topos/expr/operation_row.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// Whether a row may be the same in all columns, and whether it is.
template <class Row>
inline constexpr bool may_be_same = false;
template <class Elements>
inline constexpr bool may_be_same<strided_row<Elements>> = true;
template <class Elements>
inline constexpr bool may_be_same<level_row<Elements>> = true;
template <class T>
inline constexpr bool may_be_same<constant_row<T>> = true;
template <class Indices, class Op, class... Rows>
inline constexpr bool may_be_same<operation_row_of<Indices, Op, Rows...>> = (may_be_same<Rows> &&
                                                                             ...);

/// The first element of a row, as its lanes have it: by itself it may be another number.
template <class Row>
[[nodiscard]] typename Row::value_type first_of_lanes(const Row& row) {
  typename Row::value_type values[Row::width];
  lane::store(values, row.lanes(0, lane::all{}));
  return values[0];
}

/// An operation that takes longer than to load its result, and may be the same in all columns.
template <class Row>
struct settled_row {
  using value_type = typename Row::value_type;
  static constexpr index_t width = Row::width;
  static constexpr bool has_pairs = false;
  static constexpr bool is_quick = false;
  Row row;
  bool same;
  value_type value;

  explicit settled_row(const Row& r)
      : row(r), same(r.is_same()), value(same ? first_of_lanes(r) : value_type{}) {}
  KOKKOS_FUNCTION value_type operator[](index_t j) const { return row[j]; }
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, Count count) const {
    return same ? lane::splat(value) : row.lanes(j, count);
  }
  [[nodiscard]] bool is_same() const { return same; }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const { return false; }
  [[nodiscard]] KOKKOS_FUNCTION auto dense() const { return row.dense(); }
};
template <class Row>
inline constexpr bool may_be_same<settled_row<Row>> = true;

template <class Row>
inline constexpr bool is_constant_row = false;
template <class T>
inline constexpr bool is_constant_row<constant_row<T>> = true;

/// The row with all that settled that can be.
template <class Row>
[[nodiscard]] const Row& settled(const Row& row) {
  return row;
}
template <class Elements>
[[nodiscard]] auto settled(const scalar_row<Elements>& row) {
  return constant_row<typename Elements::value_type>{row[0]};
}
template <class Row>
using settled_t = std::decay_t<decltype(settled(std::declval<const Row&>()))>;

template <std::size_t... I, class Op, class... Rows>
[[nodiscard]] decltype(auto) settled(
    const operation_row_of<std::index_sequence<I...>, Op, Rows...>& row) {
  using inner = operation_row<Op, settled_t<Rows>...>;
  const auto made = [&] {
    return inner{{settled(static_cast<const part<I, Rows>&>(row).value)}..., row.op};
  };
  // Truths without lanes would leave what is beside them without any.
  constexpr bool has_lanes = inner::width != 0 && !std::is_same_v<typename inner::value_type, bool>;
  if constexpr (has_lanes && (is_constant_row<settled_t<Rows>> && ...)) {
    return constant_row<typename inner::value_type>{first_of_lanes(made())};
  } else if constexpr (has_lanes && !std::is_base_of_v<quick, Op> && may_be_same<inner>) {
    return settled_row<inner>(made());
  } else if constexpr (std::is_same_v<inner, operation_row<Op, Rows...>>) {
    return (row);
  } else {
    return made();
  }
}

}  // namespace topos::detail
