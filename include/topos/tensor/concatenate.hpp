// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Joining tensors.

#include <initializer_list>
#include <topos/tensor/tensor.hpp>

namespace topos {

/// The tensors one after the other along the first axis, as a new tensor; returns at once. Throws
/// `invalid_argument` without tensors, `shape_mismatch` where the other axes differ, and
/// `device_mismatch`.
template <element T, std::size_t Rank>
  requires(Rank > 0)
[[nodiscard]] tensor<T, Rank> concatenate(
    std::initializer_list<tensor<T, Rank>> parts,
    std::source_location where = std::source_location::current()) {
  if (parts.size() == 0) throw invalid_argument("concatenate: no tensors", where);
  const tensor<T, Rank>& first = *parts.begin();
  shape<Rank> extents = first.shape();
  extents[0] = 0;
  for (const tensor<T, Rank>& part : parts) {
    shape<Rank> expected = first.shape();
    expected[0] = part.shape()[0];
    if (part.shape() != expected) {
      throw shape_mismatch(detail::concat("concatenate: ", to_string(first.shape()), " and ",
                                          to_string(part.shape()), " differ beyond the first axis"),
                           where);
    }
    if (part.device() != first.device()) {
      throw device_mismatch(detail::concat("concatenate: one tensor is on ", first.device(),
                                           ", another on ", part.device()),
                            where);
    }
    extents[0] += part.shape()[0];
  }
  tensor<T, Rank> result(extents, first.device(), where);
  index_t offset = 0;
  for (const tensor<T, Rank>& part : parts) {
    detail::map(part.node(), result.memory(), detail::layout<Rank>::dense(part.shape(), offset),
                where);
    offset += part.size();
  }
  return result;
}

}  // namespace topos
