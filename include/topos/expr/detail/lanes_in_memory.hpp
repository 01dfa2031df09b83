// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes one by one.

#include <topos/core/config.hpp>

namespace topos::lane::detail {

/// What lanes hold.
template <class T, index_t Width>
struct lanes_in_memory {
  template <class Lanes>
  explicit lanes_in_memory(const Lanes& lanes) {
    lanes.store_unaligned(values);
  }
  T values[Width];
};

}  // namespace topos::lane::detail
