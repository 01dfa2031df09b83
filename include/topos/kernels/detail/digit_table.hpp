// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How often digits occur among the keys of a device's team, and where each key of one goes.

#include <cstddef>
#include <topos/core/config.hpp>
#include <topos/kernels/detail/team_scan.hpp>

namespace topos::detail {

/// Values that a digit has.
inline constexpr index_t digits = 256;

template <class Key>
KOKKOS_FUNCTION index_t digit_of(const Key& k, int pass) {
  return static_cast<index_t>((k >> (8 * static_cast<unsigned>(pass))) & Key(digits - 1));
}

namespace device_rows {

/// The most warps of a team.
inline constexpr int most_warps = backend::most_threads / backend::warp_size;

/// The keys of each digit that each warp of a team has, of which warp w has the w-th part.
template <class Team, class Key>
class digit_table {
 public:
  /// In `digit_bytes` of the team's memory.
  KOKKOS_FUNCTION digit_table(const Team& team, const Key* keys, index_t n, int pass, void* memory)
      : team_(team), keys_(keys), pass_(pass), counts_(static_cast<index_t*>(memory)) {
    const index_t of_warp = (n + team.warps() - 1) / team.warps();
    const index_t first = team.warp() * of_warp;
    first_ = first < n ? first : n;
    past_ = first_ + of_warp < n ? first_ + of_warp : n;
    team.barrier();
    for (index_t i = team.rank(); i < team.warps() * digits; i += team.threads()) counts_[i] = 0;
    team.barrier();
    for_each_key([](index_t, index_t) {});
    team.barrier();
  }

  /// How many keys of a digit there are.
  [[nodiscard]] KOKKOS_FUNCTION index_t total(index_t d) const {
    index_t sum = 0;
    for (int w = 0; w < team_.warps(); ++w) sum += counts_[w * digits + d];
    return sum;
  }

  /// Has the keys of a digit begin at a place.
  KOKKOS_FUNCTION void begin(index_t d, index_t at) const {
    for (int w = 0; w < team_.warps(); ++w) {
      const index_t some = counts_[w * digits + d];
      counts_[w * digits + d] = at;
      at += some;
    }
  }

  /// Calls put(number of the key, its place) for each key of this thread, after `begin` of all.
  template <class Put>
  KOKKOS_FUNCTION void place(const Put& put) const {
    team_.barrier();
    for_each_key(put);
    team_.barrier();
  }

 private:
  // Calls function(number of a key, what is counted of its digit before it).
  template <class Function>
  KOKKOS_FUNCTION void for_each_key(const Function& function) const {
    index_t* const own = counts_ + team_.warp() * digits;
    for (index_t from = first_; from < past_; from += Team::lanes) {
      const index_t j = from + team_.lane();
      const bool is_key = j < past_;
      const index_t digit = is_key ? digit_of(keys_[j], pass_) : digits;  // which is none
      const auto equal = team_.equal_lanes(static_cast<unsigned>(digit));
      const index_t before = is_key ? own[digit] : 0;
      if (is_key) function(j, before + equal.before);
      team_.warp_barrier();
      if (is_key && equal.before == 0) own[digit] = before + equal.all;
      team_.warp_barrier();
    }
  }

  const Team& team_;
  const Key* keys_;
  int pass_;
  index_t* counts_;  // (warps, digits)
  index_t first_;
  index_t past_;
};

}  // namespace device_rows

/// Bytes of a team's memory with which it counts digits on a device.
inline constexpr std::size_t digit_bytes =
    static_cast<std::size_t>(device_rows::most_warps * digits) * sizeof(index_t);

}  // namespace topos::detail
