// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Joining tensors.

#include <initializer_list>
#include <span>
#include <topos/tensor/tensor.hpp>
#include <vector>

namespace topos {

namespace detail {

template <operand X>
[[nodiscard]] std::vector<node_t<X>> nodes_of(std::span<const X> parts) {
  std::vector<node_t<X>> nodes;
  nodes.reserve(parts.size());
  for (const X& part : parts) nodes.push_back(as_node(part));
  return nodes;
}

/// Throws unless expressions are on one device and of one shape, but for axis `but`. Returns the
/// device.
template <expression E>
device require_alike(const char* name, const std::vector<E>& parts, std::size_t but,
                     std::source_location where) {
  if (parts.empty()) throw invalid_argument(concat(name, ": no tensors"), where);
  const shape<E::rank> first = parts[0].shape();
  const device d = parts[0].device().value_or(default_device::current());
  for (const E& part : parts) {
    shape<E::rank> expected = first;
    if (but < E::rank) expected[but] = part.shape()[but];
    if (part.shape() != expected) {
      throw shape_mismatch(
          concat(name, ": ", to_string(first), " and ", to_string(part.shape()), " differ",
                 but < E::rank ? concat(" beyond axis ", but) : std::string()),
          where);
    }
    if (const device other = part.device().value_or(d); other != d) {
      throw device_mismatch(concat(name, ": one tensor is on ", d, ", another on ", other,
                                   "; move one of them with device_put first"),
                            where);
    }
  }
  return d;
}

template <operand X>
[[nodiscard]] auto concatenated(std::span<const X> all, index_t axis, std::source_location where) {
  constexpr std::size_t rank = node_t<X>::rank;
  const std::size_t along = checked_axis("concatenate", axis, rank, where);
  const auto parts = nodes_of(all);
  const device d = require_alike("concatenate", parts, along, where);
  shape<rank> extents = parts[0].shape();
  extents[along] = 0;
  for (const auto& part : parts) {
    if (__builtin_add_overflow(extents[along], part.shape()[along], &extents[along])) {
      throw shape_mismatch(
          concat("concatenate: axis ", axis, " of the result does not fit 63 bits"), where);
    }
  }
  tensor<value_of_t<X>, rank> result(extents, d, where);
  layout<rank> place = layout<rank>::dense(extents);
  for (const auto& part : parts) {
    place.extents = part.shape();
    map(part, result.memory(), place, where);
    place.offset += part.shape()[along] * place.strides[along];
  }
  return result;
}

template <operand X>
[[nodiscard]] auto stacked(std::span<const X> all, index_t axis, std::source_location where) {
  constexpr std::size_t rank = node_t<X>::rank;
  const std::size_t along = checked_axis("stack", axis, rank + 1, where);
  const auto parts = nodes_of(all);
  const device d = require_alike("stack", parts, rank, where);
  const shape<rank> part_extents = parts[0].shape();
  shape<rank + 1> extents{};
  for (std::size_t i = 0; i <= rank; ++i) {
    extents[i] =
        i == along ? static_cast<index_t>(parts.size()) : part_extents[i - (i > along ? 1 : 0)];
  }
  tensor<value_of_t<X>, rank + 1> result(extents, d, where);
  const layout<rank + 1> whole = layout<rank + 1>::dense(extents);
  index_t number = 0;
  for (const auto& part : parts)
    map(part, result.memory(), pick_view<rank>{along, number++}(whole), where);
  return result;
}

}  // namespace detail

/// Operands of one type, tensors or expressions, one after the other along an axis, as a new
/// tensor; returns at once. Throws `invalid_argument` without any, `shape_mismatch` where the other
/// axes differ, `out_of_range` for the axis, and `device_mismatch`.
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto concatenate(std::initializer_list<X> parts, index_t axis = 0,
                               std::source_location where = std::source_location::current()) {
  return detail::concatenated<X>({parts.begin(), parts.size()}, axis, where);
}
template <operand X>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto concatenate(const std::vector<X>& parts, index_t axis = 0,
                               std::source_location where = std::source_location::current()) {
  return detail::concatenated<X>(parts, axis, where);
}

/// Operands of one type and shape beside each other along a new axis, which is axis `axis` of the
/// result; returns at once. Throws as `concatenate`.
template <operand X>
[[nodiscard]] auto stack(std::initializer_list<X> parts, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  return detail::stacked<X>({parts.begin(), parts.size()}, axis, where);
}
template <operand X>
[[nodiscard]] auto stack(const std::vector<X>& parts, index_t axis = 0,
                         std::source_location where = std::source_location::current()) {
  return detail::stacked<X>(parts, axis, where);
}

}  // namespace topos
