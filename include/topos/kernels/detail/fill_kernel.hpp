// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One value in all elements, as a kernel.

#include <topos/kernels/map.hpp>

namespace topos::detail {

/// Writes one value everywhere: the results of a reduction of nothing, or counts before any.
template <class T>
struct fill_kernel {
  T* out;
  index_t size;
  T value;

  [[nodiscard]] index_t items() const { return (size + map_chunk - 1) / map_chunk; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t first = i * map_chunk;
    assign(team, out + first, constant_row<T>{value}, first,
           first + map_chunk < size ? first + map_chunk : size);
  }
};

}  // namespace topos::detail
