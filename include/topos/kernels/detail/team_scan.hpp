// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the threads of a device's team have before them, and what values in memory have.

#include <topos/backend/backend.hpp>

namespace topos::detail {

namespace device_rows {

using backend::scanned;

/// Combines what each warp of a team has, as `mine` of its lane 0 says, with what those before it
/// have. `room` is memory of the team's for a value of each warp: the team is done with what was
/// there, and reads it until its next barrier. All threads call it.
template <class Team, class T, class Join>
KOKKOS_FUNCTION scanned<T> scan_warps(const Team& team, const T& mine, T* room, const T& neutral,
                                      const Join& join) {
  if (team.lane() == 0) room[team.warp()] = mine;
  team.barrier();
  scanned<T> result{neutral, neutral};
  for (int w = 0; w < team.warps(); ++w) {
    if (w == team.warp()) result.before = result.all;
    result.all = join(result.all, room[w]);
  }
  return result;
}

/// The same of what each thread has.
template <class Team, class T, class Join>
KOKKOS_FUNCTION scanned<T> scan_threads(const Team& team, const T& mine, T* room, const T& neutral,
                                        const Join& join) {
  const auto of_warp = team.scan_lanes(mine, neutral, join);
  const auto found = scan_warps(team, of_warp.all, room, neutral, join);
  team.barrier();
  return {join(found.before, of_warp.before), found.all};
}

}  // namespace device_rows

/// Each of n values becomes what those before it come to, the first `neutral`; returns what all do.
/// `room` is memory of a device's team for a value of each of its warps. There a thread takes
/// `Some` neighbours at a time, for which it asks at once.
TOPOS_HOST_BRANCH
template <int Some = 8, class Team, class T, class Join>
KOKKOS_FUNCTION T scan_before(const Team& team, T* values, index_t n, void* room, const T& neutral,
                              const Join& join) {
  T so_far = neutral;
  if constexpr (Team::on_host) {
    for (index_t i = 0; i < n; ++i) {
      const T value = values[i];
      values[i] = so_far;
      so_far = join(so_far, value);
    }
  } else {
    for (index_t from = 0; from < n; from += index_t{Some} * team.threads()) {
      const index_t first = from + team.rank() * Some;
      T own[Some];
      T mine = neutral;
      TOPOS_UNROLLED
      for (int k = 0; k < Some; ++k) {
        if (first + k < n) own[k] = values[first + k];
      }
      TOPOS_UNROLLED
      for (int k = 0; k < Some; ++k) {
        if (first + k < n) mine = join(mine, own[k]);
      }
      const auto found =
          device_rows::scan_threads(team, mine, static_cast<T*>(room), neutral, join);
      T before = join(so_far, found.before);
      TOPOS_UNROLLED
      for (int k = 0; k < Some; ++k) {
        if (first + k < n) {
          values[first + k] = before;
          before = join(before, own[k]);
        }
      }
      so_far = join(so_far, found.all);
    }
  }
  return so_far;
}

}  // namespace topos::detail
