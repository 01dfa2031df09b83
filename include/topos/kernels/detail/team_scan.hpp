// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the threads of a device's team have before them, and what values in memory have.

#include <topos/backend/backend.hpp>

namespace topos::detail {

namespace device_rows {

/// What a thread's predecessors have, combined, and what all of a team have.
template <class T>
struct scanned {
  T before;
  T all;
};

/// Combines what each thread of a team has with what those before it have, by doubling (Hillis and
/// Steele, "Data parallel algorithms", 1986). `room` is memory of the team's for a value of each
/// thread, of which the team is done with what was there. All threads call it.
template <class Team, class T, class Join>
KOKKOS_FUNCTION scanned<T> scan_threads(const Team& team, const T& mine, T* room, const T& neutral,
                                        const Join& join) {
  const int rank = team.rank();
  T so_far = mine;
  room[rank] = so_far;
  for (int step = 1; step < team.threads(); step *= 2) {
    team.barrier();
    if (rank >= step) so_far = join(room[rank - step], so_far);
    team.barrier();
    room[rank] = so_far;
  }
  team.barrier();
  const scanned<T> result{rank == 0 ? neutral : room[rank - 1], room[team.threads() - 1]};
  team.barrier();
  return result;
}

}  // namespace device_rows

/// Each of n values becomes what those before it come to, the first `neutral`; returns what all do.
/// `room` is memory of a device's team for a value of each of its threads.
TOPOS_HOST_BRANCH
template <class Team, class T, class Join>
KOKKOS_FUNCTION T scan_before(const Team& team, T* values, index_t n, void* room, const T& neutral,
                              const Join& join) {
  const auto run = [&](T so_far, index_t first, index_t past) {
    for (index_t i = first; i < past; ++i) {
      const T value = values[i];
      values[i] = so_far;
      so_far = join(so_far, value);
    }
    return so_far;
  };
  if constexpr (Team::on_host) {
    return run(neutral, 0, n);
  } else {
    const index_t some = (n + team.threads() - 1) / team.threads();
    const index_t first = team.rank() * some;
    const index_t past = first + some < n ? first + some : n;
    T mine = neutral;
    for (index_t i = first; i < past; ++i) mine = join(mine, values[i]);
    const auto found = device_rows::scan_threads(team, mine, static_cast<T*>(room), neutral, join);
    run(found.before, first, past);
    return found.all;
  }
}

}  // namespace topos::detail
