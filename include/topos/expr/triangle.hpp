// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The triangles of matrices.

#include <algorithm>
#include <topos/expr/generators.hpp>
#include <topos/expr/where.hpp>

namespace topos {

namespace detail {

/// 1 from a number on, 0 before it: in lanes of T, beside those of what is chosen by it.
template <class T>
struct step_elements {
  using value_type = T;
  using counting = T;
  index_t from;

  KOKKOS_FUNCTION T operator()(index_t o) const { return static_cast<T>(o >= from ? 1 : 0); }
  template <class Count>
    requires lane::element<lane::made_of<T>>
  [[nodiscard]] auto lanes(index_t o, Count /*count*/) const {
    if (o >= from) return lane::splat(static_cast<T>(1));
    if (o + lane::width<lane::made_of<T>> <= from) return lane::splat(static_cast<T>(0));
    return lane::generate<T>([&](index_t i) { return (*this)(o + i); });
  }
};

/// Whether elements of the last two axes of x are right of a diagonal by so many columns or more.
template <operand X>
[[nodiscard]] auto right_of_diagonal(const X& x, index_t diagonal, index_t columns_from_it) {
  constexpr std::size_t rank = node_t<X>::rank;
  static_assert(rank >= 2, "topos: a triangle is of a matrix");
  using number = real_t<value_of_t<X>>;
  const shape<rank> extents = x.shape();
  const index_t rows = extents[rank - 2];
  const index_t columns = extents[rank - 1];
  const device d = as_node(x).device().value_or(default_device::current());
  // An element's number is by how many columns it is right of the main diagonal.
  return strided_node<generated_source<step_elements<number>>, 2>(
      {{std::clamp(diagonal, -rows, columns) + columns_from_it}, d}, {0, {rows, columns}, {-1, 1}});
}

}  // namespace detail

/// Matrices, the last two axes of x, with zeros above a diagonal, that many above the main one: an
/// expression. `tril(ones<bool>({n, n}))` is the mask of a causal attention.
template <operand X>
[[nodiscard]] auto tril(const X& x, index_t diagonal = 0,
                        std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  return topos::where(detail::right_of_diagonal(x, diagonal, 1), T{}, x, where);
}

/// The same with zeros below it.
template <operand X>
[[nodiscard]] auto triu(const X& x, index_t diagonal = 0,
                        std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  return topos::where(detail::right_of_diagonal(x, diagonal, 0), x, T{}, where);
}

}  // namespace topos
