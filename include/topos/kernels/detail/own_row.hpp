// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows that a loop along them has to itself: what the loop stores could change any other, which
/// would then be loaded again for each batch.
///
/// A dense row is copied number by number. Compilers copy several at once else, in other parts than
/// they were stored in a moment ago, and a processor waits then until those have reached the cache:
/// as long as a row of a hundred elements takes.

#include <topos/expr/memory_elements.hpp>
#include <topos/expr/operation_row.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// A number, or an address, that is loaded by itself.
template <class T>
[[nodiscard, gnu::always_inline]] inline T loaded_alone(T value) {
  asm("" : "+r"(value));
  return value;
}

template <class X>
[[nodiscard, gnu::always_inline]] inline X copied_apart(const X& x) {
  return x;
}
template <class T>
[[nodiscard, gnu::always_inline]] inline auto copied_apart(const memory_elements<T>& e) {
  return memory_elements<T>{loaded_alone(e.data)};
}
template <class T>
[[nodiscard, gnu::always_inline]] inline auto copied_apart(const fetched_elements<T>& e) {
  return fetched_elements<T>{{loaded_alone(e.data)}, loaded_alone(e.ahead)};
}
template <class Elements, class To>
[[nodiscard, gnu::always_inline]] inline auto copied_apart(
    const widened_elements<Elements, To>& e) {
  return widened_elements<Elements, To>{copied_apart(e.elements)};
}
template <class Elements>
[[nodiscard, gnu::always_inline]] inline auto copied_apart(const dense_row<Elements>& row) {
  return dense_row<Elements>{copied_apart(row.elements), loaded_alone(row.base)};
}
template <std::size_t... I, class Op, class... Rows>
[[nodiscard, gnu::always_inline]] inline auto copied_apart(
    const operation_row_of<std::index_sequence<I...>, Op, Rows...>& row) {
  return operation_row<Op, Rows...>{{copied_apart(static_cast<const part<I, Rows>&>(row).value)}...,
                                    row.op};
}

/// A loop's own row, of one that lives as long. What is not dense is looked at in memory in any
/// case.
template <class Row>
[[nodiscard, gnu::always_inline]] inline decltype(auto) own(const Row& row) {
  if constexpr (is_dense_row<Row>)
    return copied_apart(row);
  else
    return (row);
}
template <class Row>
void own(const Row&& row) = delete;
template <class Row>
using own_row = std::conditional_t<is_dense_row<Row>, const Row, const Row&>;

}  // namespace topos::detail
