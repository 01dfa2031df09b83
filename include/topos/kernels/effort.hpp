// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How much work a kernel is, before it is launched.

#include <topos/core/config.hpp>

namespace topos::detail {

/// The work of computing `size` elements of rows of `columns`, in elements that are computed one by
/// one: where they are neighbours and their lanes take no more than to load them, four lanes count
/// as one.
template <class Rows>
[[nodiscard]] index_t effort_of(const Rows& rows, index_t columns, index_t size) {
  using row = decltype(rows.row(0));
  if constexpr (row::is_quick && row::width > 4) {
    if (size != 0 && columns >= 4 * row::width && rows.row(0).is_dense())
      return size / (row::width / 4);
  }
  return size;
}

}  // namespace topos::detail
