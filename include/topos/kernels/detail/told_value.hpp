// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the teams of one launch on a device go one after the other, and tell each other values.

#include <cstdint>
#include <cstring>
#include <topos/backend/backend.hpp>

namespace topos::detail::device_rows {

/// A value that one team tells the others of a launch, in words that are 0 before: each says that
/// it has been told, and has a part of the value.
template <class T>
struct told_value {
  static constexpr int words = (sizeof(T) + 3) / 4;

  /// By one thread.
  template <class Team>
  static KOKKOS_FUNCTION void tell(index_t* at, const T& value) {
    std::uint32_t parts[words] = {};
    std::memcpy(parts, &value, sizeof(T));
    TOPOS_UNROLLED
    for (int k = 0; k < words; ++k) Team::tell(at + k, has_been_told | index_t{parts[k]});
  }

  /// Blocks the thread until it has been told. By a team that begins later than the one that tells
  /// it: see in_turn.
  template <class Team>
  [[nodiscard]] static KOKKOS_FUNCTION T wait(const index_t* at) {
    std::uint32_t parts[words];
    index_t all = 0;
    do {
      all = has_been_told;
      TOPOS_UNROLLED
      for (int k = 0; k < words; ++k) {
        const index_t word = Team::told(at + k);
        all &= word;
        parts[k] = static_cast<std::uint32_t>(word);
      }
    } while (all == 0);
    T value;
    std::memcpy(&value, parts, sizeof(T));
    return value;
  }

 private:
  static constexpr index_t has_been_told = index_t{1} << 32;
};

/// How many teams of a launch have called this before, as `ticket` counts, which is 0 at first. Who
/// takes that for its item waits, where it waits for an earlier one, for a team that is at work.
/// `place` is in memory that the team shares: nobody may write there before the team's next
/// barrier.
template <class Team>
[[nodiscard]] KOKKOS_FUNCTION index_t in_turn(const Team& team, index_t* ticket, index_t* place) {
  if (team.rank() == 0) *place = Kokkos::atomic_fetch_inc(ticket);
  team.barrier();
  return *place;
}

}  // namespace topos::detail::device_rows
