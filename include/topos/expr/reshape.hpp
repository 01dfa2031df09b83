// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The elements of an expression in row-major order under another shape.

#include <algorithm>
#include <array>
#include <topos/expr/expression.hpp>

namespace topos {

namespace detail {

/// The elements of an expression by their number in row-major order.
template <class Rows>
struct numbered_elements {
  using row_type = decltype(std::declval<const Rows&>().row(0));
  using value_type = typename row_type::value_type;
  Rows rows;
  index_t columns;
  bool one_row;

  KOKKOS_FUNCTION value_type operator()(index_t o) const {
    if (one_row) return rows.row(0)[o];
    return rows.row(o / columns)[o % columns];
  }
  template <class Count>
    requires(lane::element<lane::made_of<value_type>>&& row_type::width != 0)
  [[nodiscard]] auto lanes(index_t o, Count count) const {
    constexpr index_t width = row_type::width;
    const auto at = [&](index_t i) { return (*this)(o + i); };
    if (one_row) return rows.row(0).lanes(o, count);
    if constexpr (std::is_same_v<Count, lane::all>) {
      const index_t j = o % columns;
      if (j + width <= columns) return rows.row(o / columns).lanes(j, count);
      return lane::generate<value_type>(at);
    } else {
      return lane::generate<value_type>(
          [&](index_t i) { return i < count ? at(i) : value_type{}; });
    }
  }

  /// Those of one row that cost less together.
  [[nodiscard]] index_t partner() const requires(row_type::has_pairs) {
    return one_row && rows.row(0).is_dense() ? rows.row(0).dense().partner() : 0;
  }
  [[nodiscard]] auto paired() const requires(row_type::has_pairs) {
    return rows.row(0).dense().paired(partner());
  }
};

/// An expression as a source: element o is its o-th in row-major order.
template <expression E>
struct numbered_source {
  using value_type = typename E::value_type;
  E e;

  [[nodiscard]] std::optional<topos::device> device() const { return e.device(); }
  void collect(std::vector<buffer>& reads) const { e.collect(reads); }
  void traffic(std::vector<memory_read>& all) const { e.traffic(all); }
  [[nodiscard]] auto elements() const {
    const auto w = walk_of(e);
    return numbered_elements<decltype(e.rows(w))>{e.rows(w), w.columns(), w.axes == 1};
  }
};

// The shape with its -1, if there is one, replaced by what is left for it.
template <std::size_t N>
[[nodiscard]] shape<N> completed_shape(const shape<N>& wanted, index_t size,
                                       std::span<const index_t> from, std::source_location where) {
  std::size_t known = 1;  // which may wrap: then it is not the size either
  index_t* open = nullptr;
  bool fits = true;
  shape<N> result = wanted;
  for (index_t& extent : result) {
    if (extent == -1 && open == nullptr) {
      open = &extent;
    } else {
      fits &= extent >= 0;
      known *= static_cast<std::size_t>(extent);
    }
  }
  if (fits && open != nullptr) {
    // Beside an extent of 0, any would do.
    const auto whole = static_cast<std::size_t>(size);
    fits = known != 0 && whole % known == 0;
    *open = fits ? static_cast<index_t>(whole / known) : 0;
  }
  if (!fits || size_of_shape(result, where) != size) {
    const char* why = "";
    if (std::ranges::count(wanted, -1) > 1)
      why = ": one extent at most may be -1";
    else if (open != nullptr && known == 0)
      why = ": beside an extent of 0, -1 could be any";
    throw shape_mismatch(concat("reshape: ", to_string(from), " of ", size,
                                " elements does not fit ", to_string(wanted), why),
                         where);
  }
  return result;
}

}  // namespace detail

/// The elements of an operand in row-major order under another shape, one of whose extents may be
/// -1: what is left. Throws `shape_mismatch` if the number of elements differs, or -1 could be any.
template <std::size_t N, operand X>
[[nodiscard]] auto reshape(const X& x, shape<N> extents,
                           std::source_location where = std::source_location::current()) {
  using node_type = detail::node_t<X>;
  decltype(auto) node = detail::as_node(x);
  const shape<node_type::rank> from = node.shape();
  const shape<N> to = detail::completed_shape(extents, size_of_shape(from, where), from, where);
  if constexpr (requires { x.memory(); }) {  // a tensor, which is dense
    using source = std::decay_t<decltype(node.source)>;
    return detail::strided_node<source, N>(node.source,
                                           detail::layout<N>::dense(to, node.where.offset));
  } else {
    using source = detail::numbered_source<node_type>;
    return detail::strided_node<source, N>(source{node}, detail::layout<N>::dense(to));
  }
}
template <std::size_t N, operand X>
[[nodiscard]] auto reshape(const X& x, const index_t (&extents)[N],
                           std::source_location where = std::source_location::current()) {
  return reshape(x, std::to_array(extents), where);
}
/// The elements along one axis: of so many, or -1.
template <operand X, std::integral I>
[[nodiscard]] auto reshape(const X& x, I extent,
                           std::source_location where = std::source_location::current()) {
  return reshape(x, shape<1>{static_cast<index_t>(extent)}, where);
}

namespace detail {

/// The elements of an operand along one axis.
template <operand X>
[[nodiscard]] auto flattened(const X& x) {
  if constexpr (node_t<X>::rank == 1)
    return as_node(x);
  else
    return reshape(x, shape<1>{-1});
}

}  // namespace detail

}  // namespace topos
