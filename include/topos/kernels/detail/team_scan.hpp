// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the threads of a device's team have before them.

#include <topos/core/config.hpp>

namespace topos::detail::device_rows {

/// The most threads of a team.
inline constexpr int most_threads = 256;

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

}  // namespace topos::detail::device_rows
