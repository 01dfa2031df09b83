// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Joining tensors.

#include <initializer_list>
#include <optional>
#include <span>
#include <topos/core/promotion.hpp>
#include <topos/device/common_device.hpp>
#include <topos/kernels/parts.hpp>
#include <topos/tensor/tensor.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

// What is joined: expressions of one type in a vector, or of several in a tuple. The latter have
// one element type all the same, that which theirs promote to.
template <class Nodes>
struct joined_nodes;
template <expression E>
struct joined_nodes<std::vector<E>> {
  using value_type = typename E::value_type;
  static constexpr std::size_t rank = E::rank;
};
template <expression E, expression... More>
struct joined_nodes<std::tuple<E, More...>> : joined_nodes<std::vector<E>> {
  static_assert(((More::rank == E::rank) && ...), "topos: joined tensors have one rank");
};

template <class... T>
struct promoted;
template <class T>
struct promoted<T> : std::type_identity<T> {};
template <class A, class B, class... More>
struct promoted<A, B, More...> : promoted<promote_t<A, B>, More...> {};

template <operand X>
[[nodiscard]] std::vector<node_t<X>> nodes_of(std::span<const X> parts) {
  std::vector<node_t<X>> nodes;
  nodes.reserve(parts.size());
  for (const X& part : parts) nodes.push_back(as_node(part));
  return nodes;
}
template <class... X>
[[nodiscard]] auto nodes_of(const std::tuple<X...>& parts) {
  using T = typename promoted<value_of_t<std::decay_t<X>>...>::type;
  return std::apply([](const auto&... part) { return std::tuple{node_as<T>(part)...}; }, parts);
}

/// An operand among others of other types.
template <std::size_t LeastRank>
struct any_part {
  template <operand X>
    requires(node_t<X>::rank >= LeastRank)
  any_part(const X& /*part*/) {}
};

/// Throws unless expressions are on one device and of one shape, but for axis `but`. Returns the
/// shape of the first, and the device.
template <class Nodes>
auto require_alike(const char* name, const Nodes& nodes, std::size_t but,
                   std::source_location where) {
  constexpr std::size_t rank = joined_nodes<Nodes>::rank;
  std::optional<shape<rank>> first;
  fit<rank> placed{};  // the last that is on a device
  for_each_part(nodes, [&](const auto& node) {
    if (!first) first = node.shape();
    shape<rank> expected = *first;
    if (but < rank) expected[but] = node.shape()[but];
    if (node.shape() != expected) {
      throw shape_mismatch(
          concat(name, ": ", to_string(*first), " and ", to_string(node.shape()), " differ",
                 but < rank ? concat(" beyond axis ", but) : std::string()),
          where);
    }
    const fit<rank> here{node.shape(), node.device()};
    common_device(name, "one part", placed, "another", here, where);
    if (here.place) placed = here;
  });
  if (!first) throw invalid_argument(concat(name, ": no tensors"), where);
  return std::pair(*first, placed.place.value_or(default_device::current()));
}

/// The elements of the axes before one, and of it and those after it.
template <std::size_t Rank>
[[nodiscard]] std::pair<index_t, index_t> cut_before(const shape<Rank>& extents, std::size_t axis) {
  index_t rows = 1;
  index_t columns = 1;
  for (std::size_t i = 0; i != Rank; ++i) (i < axis ? rows : columns) *= extents[i];
  return {rows, columns};
}

template <class Nodes>
[[nodiscard]] auto concatenated(const Nodes& nodes, index_t axis, std::source_location where) {
  constexpr std::size_t rank = joined_nodes<Nodes>::rank;
  const std::size_t along = checked_axis("concatenate", axis, rank, where);
  auto [extents, d] = require_alike("concatenate", nodes, along, where);
  extents[along] = 0;
  for_each_part(nodes, [&, &whole = extents](const auto& node) {
    if (__builtin_add_overflow(whole[along], node.shape()[along], &whole[along])) {
      throw shape_mismatch(
          concat("concatenate: axis ", axis, " of the result does not fit 63 bits"), where);
    }
  });
  auto result = tensor<typename joined_nodes<Nodes>::value_type, rank>::for_work(extents, d, where);
  if (result.size() == 0) return result;
  layout<rank> next = layout<rank>::dense(extents);
  const auto place = [&](const auto& node) {
    layout<rank> here = next;
    here.extents = node.shape();
    next.offset += here.extents[along] * here.strides[along];
    return here;
  };
  const auto [rows, columns] = cut_before(extents, along);
  map_parts(nodes, result.memory(), rows, columns, rank - along, place, where);
  return result;
}

template <class Nodes>
[[nodiscard]] auto stacked(const Nodes& nodes, index_t axis, std::source_location where) {
  constexpr std::size_t rank = joined_nodes<Nodes>::rank;
  const std::size_t along = checked_axis("stack", axis, rank + 1, where);
  const auto [part_extents, d] = require_alike("stack", nodes, rank, where);
  index_t count = 0;
  for_each_part(nodes, [&](const auto& /*node*/) { ++count; });
  shape<rank + 1> extents{};
  for (std::size_t i = 0; i <= rank; ++i) {
    extents[i] = i == along ? count : part_extents[i - (i > along ? 1 : 0)];
  }
  auto result =
      tensor<typename joined_nodes<Nodes>::value_type, rank + 1>::for_work(extents, d, where);
  if (result.size() == 0) return result;
  const layout<rank + 1> whole = layout<rank + 1>::dense(extents);
  const auto place = [&, number = index_t{0}](const auto& /*node*/) mutable {
    return pick_view<rank>{along, number++}(whole);
  };
  const auto [rows, columns] = cut_before(extents, along);
  map_parts(nodes, result.memory(), rows, columns, rank - along, place, where);
  return result;
}

}  // namespace detail

/// Operands, tensors or expressions, one after the other along an axis, as a new tensor; returns at
/// once. Those of one type come in braces or in a vector, those of several in a tuple,
/// `concatenate(std::tuple{x, x * 2})`; their elements promote as in an operation. Throws
/// `invalid_argument` without any, `shape_mismatch` where the other axes differ, `out_of_range` for
/// the axis, and `device_mismatch`.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto concatenate(std::initializer_list<X> parts, index_t axis = 0,
                               std::source_location where = std::source_location::current()) {
  return detail::concatenated(detail::nodes_of(std::span<const X>(parts)), axis, where);
}
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto concatenate(const std::vector<X>& parts, index_t axis = 0,
                               std::source_location where = std::source_location::current()) {
  return detail::concatenated(detail::nodes_of(std::span<const X>(parts)), axis, where);
}
template <class... X>
  requires((operand<std::decay_t<X>> && detail::node_t<std::decay_t<X>>::rank > 0) && ...)
[[nodiscard]] auto concatenate(const std::tuple<X...>& parts, index_t axis = 0,
                               std::source_location where = std::source_location::current()) {
  return detail::concatenated(detail::nodes_of(parts), axis, where);
}
/// Operands come in braces.
template <operand X, operand Y, class... More>
void concatenate(const X& /*x*/, const Y& /*y*/, const More&... /*more*/) {
  static_assert(detail::is_never<X>,
                "topos: concatenate takes its operands in braces: concatenate({x, y}, axis)");
}
// What else comes in braces.
template <int None = 0>
void concatenate(std::initializer_list<detail::any_part<1>> /*parts*/, index_t /*axis*/ = 0,
                 std::source_location /*where*/ = {}) {
  static_assert(None != 0,
                "topos: concatenate takes operands of one type in braces; write those of several "
                "as a tuple, concatenate(std::tuple{x, x + 1}), or make them tensors by eval");
}

/// Operands of one shape beside each other along a new axis, which is axis `axis` of the result;
/// given, and throws, as those of `concatenate`; returns at once.
template <operand X>
[[nodiscard]] auto stack(std::initializer_list<X> parts, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  return detail::stacked(detail::nodes_of(std::span<const X>(parts)), axis, where);
}
template <operand X>
[[nodiscard]] auto stack(const std::vector<X>& parts, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  return detail::stacked(detail::nodes_of(std::span<const X>(parts)), axis, where);
}
template <class... X>
  requires(operand<std::decay_t<X>>&&...)
[[nodiscard]] auto stack(const std::tuple<X...>& parts, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  return detail::stacked(detail::nodes_of(parts), axis, where);
}
/// Operands come in braces.
template <operand X, operand Y, class... More>
void stack(const X& /*x*/, const Y& /*y*/, const More&... /*more*/) {
  static_assert(detail::is_never<X>,
                "topos: stack takes its operands in braces: stack({x, y}, axis)");
}
// What else comes in braces.
template <int None = 0>
void stack(std::initializer_list<detail::any_part<0>> /*parts*/, index_t /*axis*/ = 0,
           std::source_location /*where*/ = {}) {
  static_assert(None != 0,
                "topos: stack takes operands of one type in braces; write those of several as a "
                "tuple, stack(std::tuple{x, x + 1}), or make them tensors by eval");
}

}  // namespace topos
