// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Extents of a tensor, row-major: the last axis is contiguous.

#include <array>
#include <cstddef>
#include <limits>
#include <source_location>
#include <span>
#include <string>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>

namespace topos {

/// The extents of a tensor of `Rank` axes, in elements.
template <std::size_t Rank>
using shape = std::array<index_t, Rank>;

/// The number of elements of a shape; throws `shape_mismatch` if an extent is negative or the
/// product of those that are not 0 does not fit: strides are such products.
[[nodiscard]] inline index_t size_of_shape(
    std::span<const index_t> extents,
    std::source_location where = std::source_location::current()) {
  index_t size = 1;
  bool wraps = false;
  bool empty = false;
  for (const index_t extent : extents) {
    if (extent < 0) {
      throw shape_mismatch(detail::concat("shape: extent ", extent, " is negative"), where);
    }
    empty |= extent == 0;
    wraps |= extent != 0 && size > std::numeric_limits<index_t>::max() / extent;
    size *= wraps || extent == 0 ? 1 : extent;
  }
  if (wraps) throw shape_mismatch("shape: the number of elements does not fit 63 bits", where);
  return empty ? 0 : size;
}

/// "(2, 3)", "(5,)", "()": a shape as NumPy prints it.
[[nodiscard]] inline std::string to_string(std::span<const index_t> extents) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis != 0) text += ", ";
    text += std::to_string(extents[axis]);
  }
  return text += extents.size() == 1 ? ",)" : ")";
}

}  // namespace topos
