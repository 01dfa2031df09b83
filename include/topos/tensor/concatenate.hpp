// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Joining tensors.

#include <initializer_list>
#include <span>
#include <topos/tensor/tensor.hpp>
#include <vector>

namespace topos {

namespace detail {

/// Throws unless tensors are on one device and of one shape, but for axis `but`.
template <element T, std::size_t Rank>
void require_alike(const char* name, std::span<const tensor<T, Rank>> parts, std::size_t but,
                   std::source_location where) {
  if (parts.empty()) throw invalid_argument(concat(name, ": no tensors"), where);
  const tensor<T, Rank>& first = parts[0];
  for (const tensor<T, Rank>& part : parts) {
    shape<Rank> expected = first.shape();
    if (but < Rank) expected[but] = part.shape()[but];
    if (part.shape() != expected) {
      throw shape_mismatch(
          concat(name, ": ", to_string(first.shape()), " and ", to_string(part.shape()), " differ",
                 but < Rank ? concat(" beyond axis ", but) : std::string()),
          where);
    }
    if (part.device() != first.device()) {
      throw device_mismatch(concat(name, ": one tensor is on ", first.device(), ", another on ",
                                   part.device(), "; move one of them with device_put first"),
                            where);
    }
  }
}

template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> concatenated(std::span<const tensor<T, Rank>> parts, index_t axis,
                                           std::source_location where) {
  const std::size_t along = checked_axis("concatenate", axis, Rank, where);
  require_alike("concatenate", parts, along, where);
  shape<Rank> extents = parts[0].shape();
  extents[along] = 0;
  for (const tensor<T, Rank>& part : parts) extents[along] += part.shape()[along];
  tensor<T, Rank> result(extents, parts[0].device(), where);
  layout<Rank> place = layout<Rank>::dense(extents);
  for (const tensor<T, Rank>& part : parts) {
    place.extents = part.shape();
    map(part.node(), result.memory(), place, where);
    place.offset += part.shape()[along] * place.strides[along];
  }
  return result;
}

template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank + 1> stacked(std::span<const tensor<T, Rank>> parts, index_t axis,
                                          std::source_location where) {
  const std::size_t along = checked_axis("stack", axis, Rank + 1, where);
  require_alike("stack", parts, Rank, where);
  shape<Rank + 1> extents{};
  for (std::size_t i = 0; i <= Rank; ++i) {
    extents[i] =
        i == along ? static_cast<index_t>(parts.size()) : parts[0].shape()[i - (i > along ? 1 : 0)];
  }
  tensor<T, Rank + 1> result(extents, parts[0].device(), where);
  const layout<Rank + 1> whole = layout<Rank + 1>::dense(extents);
  index_t number = 0;
  for (const tensor<T, Rank>& part : parts) {
    map(part.node(), result.memory(), pick_view<Rank>{along, number++}(whole), where);
  }
  return result;
}

}  // namespace detail

/// The tensors one after the other along an axis, as a new tensor; returns at once. Throws
/// `invalid_argument` without tensors, `shape_mismatch` where the other axes differ,
/// `out_of_range` for the axis, and `device_mismatch`.
template <element T, std::size_t Rank>
  requires(Rank > 0)
[[nodiscard]] tensor<T, Rank> concatenate(
    std::initializer_list<tensor<T, Rank>> parts, index_t axis = 0,
    std::source_location where = std::source_location::current()) {
  return detail::concatenated<T, Rank>({parts.begin(), parts.size()}, axis, where);
}
template <element T, std::size_t Rank>
  requires(Rank > 0)
[[nodiscard]] tensor<T, Rank> concatenate(
    const std::vector<tensor<T, Rank>>& parts, index_t axis = 0,
    std::source_location where = std::source_location::current()) {
  return detail::concatenated<T, Rank>(parts, axis, where);
}

/// The tensors, of one shape, beside each other along a new axis, which is axis `axis` of the
/// result; returns at once. Throws as `concatenate`.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank + 1> stack(
    std::initializer_list<tensor<T, Rank>> parts, index_t axis = 0,
    std::source_location where = std::source_location::current()) {
  return detail::stacked<T, Rank>({parts.begin(), parts.size()}, axis, where);
}
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank + 1> stack(
    const std::vector<tensor<T, Rank>>& parts, index_t axis = 0,
    std::source_location where = std::source_location::current()) {
  return detail::stacked<T, Rank>(parts, axis, where);
}

}  // namespace topos
