// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The triangles of matrices.

#include <topos/expr/generators.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>

namespace topos {

namespace detail {

// By how many columns each element of the last two axes of x is to the right of the diagonal.
template <operand X>
[[nodiscard]] auto right_of_diagonal(const X& x) {
  constexpr std::size_t rank = node_t<X>::rank;
  static_assert(rank >= 2, "topos: a triangle is of a matrix");
  const shape<rank> extents = x.shape();
  decltype(auto) node = as_node(x);
  const device d = node.device().value_or(default_device::current());
  const auto rows = arange<index_t>(extents[rank - 2], d);
  return arange<index_t>(extents[rank - 1], d) - expand_dims(rows, 1);
}

}  // namespace detail

/// Matrices, the last two axes of x, with zeros above a diagonal, that many above the main one: an
/// expression. `tril(ones<bool>({n, n}))` is the mask of a causal attention.
template <operand X>
[[nodiscard]] auto tril(const X& x, index_t diagonal = 0,
                        std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  return topos::where(detail::right_of_diagonal(x) <= diagonal, x, T{}, where);
}

/// The same with zeros below it.
template <operand X>
[[nodiscard]] auto triu(const X& x, index_t diagonal = 0,
                        std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  return topos::where(detail::right_of_diagonal(x) >= diagonal, x, T{}, where);
}

}  // namespace topos
