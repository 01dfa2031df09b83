// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements picked by index along an axis: an embedding look-up that fuses with what follows.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <topos/core/broadcast.hpp>
#include <topos/device/common_device.hpp>
#include <topos/expr/detail/gather_row.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/reshape.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

/// Picked elements, as two layouts of the result's shape: of the table at index 0, and of the index
/// to be taken.
template <class Table, class Indices, std::size_t Rank>
struct [[nodiscard]] gather_node : lazy, operand_base<gather_node<Table, Indices, Rank>> {
  using value_type = typename Table::value_type;
  static constexpr std::size_t rank = Rank;
  Table table;
  Indices indices;
  layout<Rank> in_table;
  layout<Rank> in_indices;
  index_t count;
  index_t stride;

  gather_node(Table t, Indices i, const layout<Rank>& table_layout,
              const layout<Rank>& index_layout, index_t extent, index_t distance)
      : table(std::move(t)),
        indices(std::move(i)),
        in_table(table_layout),
        in_indices(index_layout),
        count(extent),
        stride(distance) {}

  using operand_base<gather_node>::shape;
  [[nodiscard]] const topos::shape<Rank>& shape() const { return in_table.extents; }
  [[nodiscard]] std::optional<topos::device> device() const {
    return table.device() ? table.device() : indices.device();
  }
  void collect(std::vector<buffer>& reads) const {
    collect_source(table, in_table.extents, reads);
    collect_source(indices, in_table.extents, reads);
  }
  template <class Layouts>
  void leaves(Layouts& layouts) const {
    layouts.add(in_table);
    layouts.add(in_indices);
  }
  void traffic(std::vector<memory_read>& all) const {
    strided_node<Table, Rank>(table, layout<Rank>::dense(in_table.extents)).traffic(all);
    strided_node<Indices, Rank>(indices, in_indices).traffic(all);
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    const auto t = rows_of(table.elements(), in_table, w);
    const auto i = rows_of(indices.elements(), in_indices, w);
    return gather_rows<decltype(t), decltype(i)>{t, i, {count}, stride};
  }
  template <std::size_t N, class View>
  [[nodiscard]] auto viewed(const topos::shape<N>& whole, const View& view) const {
    return gather_node<Table, Indices, View::rank>(
        table, indices, view(broadcast_layout(in_table, whole)),
        view(broadcast_layout(in_indices, whole)), count, stride);
  }
};

/// An expression as a leaf: itself, or its elements by number.
template <class Source, std::size_t Rank>
[[nodiscard]] const strided_node<Source, Rank>& as_leaf(const strided_node<Source, Rank>& leaf) {
  return leaf;
}
template <expression E>
[[nodiscard]] auto as_leaf(const E& e) {
  return strided_node<numbered_source<E>, E::rank>(numbered_source<E>{e},
                                                   layout<E::rank>::dense(e.shape()));
}

/// Elements of an expression, from memory if they are there already.
template <class Elements>
struct table_elements {
  using value_type = typename Elements::value_type;
  Elements lazy;
  const value_type* made;  // null where they are not

  KOKKOS_FUNCTION value_type operator()(index_t o) const {
    return made != nullptr ? made[o] : lazy(o);
  }
  template <class Count>
    requires(lane::element<lane::made_of<value_type>>&& width_of_elements<Elements>() != 0)
  [[nodiscard]] auto lanes(index_t o, Count count) const {
    return made != nullptr ? memory_elements<value_type>{made}.lanes(o, count)
                           : lanes_of(lazy, o, count);
  }
};

/// An expression that elements are picked from. Where no fewer are picked than it has, it is
/// computed once, else each of them as it is picked.
template <expression E>
struct table_source {
  using value_type = typename E::value_type;
  numbered_source<E> lazy;
  std::optional<memory_source<value_type>> made;

  [[nodiscard]] std::optional<topos::device> device() const { return lazy.device(); }
  void collect(std::vector<buffer>& reads) const {
    made ? made->collect(reads) : lazy.collect(reads);
  }
  void traffic(std::vector<memory_read>& all) const {
    if (made)
      all.push_back({made->memory.data(),
                     static_cast<std::size_t>(size_of_shape(lazy.e.shape())) * sizeof(value_type)});
    else
      lazy.traffic(all);
  }
  [[nodiscard]] auto elements() const {
    const auto one_by_one = lazy.elements();
    return table_elements<std::decay_t<decltype(one_by_one)>>{
        one_by_one, made ? static_cast<const value_type*>(made->memory.data()) : nullptr};
  }
};

/// A table as a leaf; `often`: no fewer elements are picked than it has.
template <class Source, std::size_t Rank>
[[nodiscard]] const strided_node<Source, Rank>& as_table(const strided_node<Source, Rank>& leaf,
                                                         bool /*often*/,
                                                         std::source_location /*where*/) {
  return leaf;
}
template <expression E>
[[nodiscard]] auto as_table(const E& e, bool often, std::source_location where) {
  table_source<E> source{{e}, {}};
  if (often) source.made = computed(e, where).source;
  return strided_node<table_source<E>, E::rank>(source, layout<E::rank>::dense(e.shape()));
}

/// Throws unless indices on one device may pick from a table on another, along an axis of `count`
/// elements.
template <class Table, class Index>
void require_pickable(const char* name, const Table& table, const Index& index, index_t axis,
                      index_t count, std::source_location where) {
  common_device(name, "the table", table, "the indices", index, where);
  if (count == 0 && size_of_shape(index.shape(), where) != 0) {
    throw invalid_argument(
        concat(name, ": axis ", axis, " of ", to_string(table.shape()), " is empty"), where);
  }
}

template <class Table, class Index, std::size_t Rank>
[[nodiscard]] auto make_gather(const Table& table, const Index& index, const layout<Rank>& in_table,
                               const layout<Rank>& in_indices, std::size_t axis) {
  return gather_node<std::decay_t<decltype(table.source)>, std::decay_t<decltype(index.source)>,
                     Rank>(table.source, index.source, in_table, in_indices, table.shape()[axis],
                           table.where.strides[axis]);
}

}  // namespace detail

/// The elements of x that integer `indices` name along an axis: an expression of x's shape with
/// that axis replaced by the shape of the indices. Negative indices count from the end; those
/// outside are clamped. Throws `out_of_range` for the axis, `invalid_argument` if it is empty and
/// indices are not, and `device_mismatch`.
template <operand X, operand I>
  requires detail::is_integer<detail::value_of_t<I>>
[[nodiscard]] auto take(const X& x, const I& indices, index_t axis = 0,
                        std::source_location where = std::source_location::current()) {
  const auto index = detail::as_leaf(detail::as_node(indices));
  constexpr std::size_t before = detail::node_t<X>::rank;
  constexpr std::size_t own = decltype(index)::rank;
  constexpr std::size_t rank = before - 1 + own;
  decltype(auto) e = detail::as_node(x);
  const std::size_t at = detail::checked_axis("take", axis, before, where);
  const bool often = size_of_shape(index.shape()) >= shape<before>(e.shape())[at];
  const auto table = detail::as_table(e, often, where);
  detail::require_pickable("take", table, index, axis, table.shape()[at], where);
  detail::layout<rank> in_table{table.where.offset, {}, {}};
  detail::layout<rank> in_indices{index.where.offset, {}, {}};
  for (std::size_t to = 0; to < rank; ++to) {
    if (to >= at && to < at + own) {
      in_table.extents[to] = in_indices.extents[to] = index.where.extents[to - at];
      in_indices.strides[to] = index.where.strides[to - at];
    } else {
      const std::size_t from = to < at ? to : to - own + 1;
      in_table.extents[to] = in_indices.extents[to] = table.where.extents[from];
      in_table.strides[to] = table.where.strides[from];
    }
  }
  return detail::make_gather(table, index, in_table, in_indices, at);
}

/// Indices have a device, as x has.
template <operand X>
void take(const X& /*x*/, std::initializer_list<index_t> /*indices*/, index_t /*axis*/ = 0) {
  static_assert(
      detail::is_never<X>,
      "topos: take has its indices in a tensor: take(x, array({0, 2}), axis); of some that "
      "are equally far apart write slice(x, {0, {}, 2})");
}

/// For each place of the indices the element of x that they name along an axis there, at the same
/// place of the other axes, which broadcast: numpy.take_along_axis and torch.gather, an expression.
/// `gather(x, argsort(x, 1), 1)` is x with sorted rows. Negative indices count from the end; those
/// outside are clamped. Throws as `take`, and `shape_mismatch` where the other axes do not
/// broadcast.
template <operand X, operand I>
  requires(detail::is_integer<detail::value_of_t<I>>&& detail::node_t<X>::rank ==
               detail::node_t<I>::rank &&
           detail::node_t<X>::rank > 0)
[[nodiscard]] auto gather(const X& x, const I& indices, index_t axis,
                          std::source_location where = std::source_location::current()) {
  const auto index = detail::as_leaf(detail::as_node(indices));
  decltype(auto) e = detail::as_node(x);
  const bool often = size_of_shape(index.shape()) >= size_of_shape(e.shape());
  const auto table = detail::as_table(e, often, where);
  constexpr std::size_t rank = decltype(table)::rank;
  const std::size_t at = detail::checked_axis("gather", axis, rank, where);
  detail::require_pickable("gather", table, index, axis, table.shape()[at], where);
  shape<rank> beside = table.where.extents;
  beside[at] = 1;
  const shape<rank> all = broadcast("gather", beside, index.where.extents, where);
  detail::layout<rank> in_table = detail::broadcast_layout(table.where, all);
  in_table.strides[at] = 0;
  return detail::make_gather(table, index, in_table, detail::broadcast_layout(index.where, all),
                             at);
}

}  // namespace topos
