// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <topos/kernels/rows.hpp>
#include <topos/kernels/tiling.hpp>

namespace topos::detail {

/// The kernel of a map of one row whose elements o and o + distance are computed together: item i
/// is a chunk of the first half, and that of the second; where they are neighbours, a chunk.
template <class T, class Rows>
struct pair_kernel {
  T* out;
  Rows rows;
  index_t size;
  index_t distance;
  bool past_caches;
  bool neighbours;

  [[nodiscard]] KOKKOS_FUNCTION index_t chunk() const {
    return past_caches ? streamed_chunk : map_chunk;
  }
  [[nodiscard]] KOKKOS_FUNCTION index_t columns() const { return neighbours ? size : distance; }
  [[nodiscard]] index_t count() const { return (columns() + chunk() - 1) / chunk(); }
  [[nodiscard]] index_t cost() const { return neighbours ? chunk() : 2 * chunk(); }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t first = i * chunk();
    const index_t last = first + chunk() < columns() ? first + chunk() : columns();
    if constexpr (Team::on_host) {
      T* const to = out + first;
      host_rows::assign_paired(to, to + distance, rows.row(0).dense(), first, last, size, distance,
                               past_caches);
      if (past_caches) fence();
    } else if (neighbours) {
      assign(team, out + first, rows.row(0), first, last);
    } else {
      const auto row = rows.row(0).dense();
      for (index_t j = first + team.rank(); j < last; j += team.threads()) {
        const auto both = row.two(j, distance);
        out[j] = both.value[0];
        if (j + distance < size) out[j + distance] = both.value[1];
      }
      team.barrier();
    }
  }
};

}  // namespace topos::detail
