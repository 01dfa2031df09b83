// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How often digits occur among the keys of a device's team, and where each key of one goes.

#include <cstddef>
#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/memory_elements.hpp>
#include <topos/kernels/detail/team_scan.hpp>

namespace topos::detail {

/// Values that a digit has.
inline constexpr int digit_bits = 8;
inline constexpr int digits = 1 << digit_bits;

template <class Key>
KOKKOS_FUNCTION int digit_of(const Key& k, int pass) {
  return static_cast<int>((k >> (digit_bits * static_cast<unsigned>(pass))) & Key(digits - 1));
}

namespace device_rows {

/// Calls function(load(first), first), ... of first + step and so on before n. Some are loaded at
/// once, so that a thread does not wait for each.
template <class Load, class Function>
KOKKOS_FUNCTION void for_each_loaded(int first, int step, int n, const Load& load,
                                     const Function& function) {
  constexpr int some = 8;
  int j = first;
  for (; j + (some - 1) * step < n; j += some * step) {
    decltype(load(j)) loaded[some];
    TOPOS_UNROLLED
    for (int k = 0; k < some; ++k) loaded[k] = load(j + k * step);
    TOPOS_UNROLLED
    for (int k = 0; k < some; ++k) function(loaded[k], j + k * step);
  }
  for (; j < n; j += step) function(load(j), j);
}

/// Keys of a team, at most, and how many of them there are of something.
inline constexpr int most_keys = 4096;
using small_count = std::uint16_t;

/// Bytes of a team's memory for a table: counts, places, and where digits begin.
inline constexpr std::size_t table_bytes =
    static_cast<std::size_t>(backend::most_warps * digits + most_keys) * sizeof(small_count) +
    static_cast<std::size_t>(digits + backend::most_warps) * sizeof(int);

/// The keys of each digit that each warp of a team has, of which warp w has the w-th part, and
/// where in its part each key comes among those of its digit.
template <class Team, class Key>
class digit_table {
 public:
  /// In `table_bytes` of the team's memory.
  KOKKOS_FUNCTION digit_table(const Team& team, const Key* keys, int n, int pass, void* memory)
      : team_(team),
        keys_(keys),
        size_(n),
        pass_(pass),
        counts_(static_cast<small_count*>(memory)),
        places_(counts_ + backend::most_warps * digits),
        starts_(reinterpret_cast<int*>(places_ + most_keys)) {
    const int of_warp = (n + team.warps() - 1) / team.warps();
    const int first = team.warp() * of_warp;
    first_ = first < n ? first : n;
    past_ = first_ + of_warp < n ? first_ + of_warp : n;
    team.barrier();
    clear();
    team.barrier();
    count();
    team.barrier();
    for (int d = team.rank(); d < digits; d += team.threads()) {
      int sum = 0;
      for (int w = 0; w < team.warps(); ++w) sum += counts_[w * digits + d];
      starts_[d] = sum;
    }
  }

  /// How many keys have a digit, before they are placed, for thread d % threads of the team.
  [[nodiscard]] KOKKOS_FUNCTION int total(int d) const { return starts_[d]; }

  /// Calls put(number of a key, its place among all), each thread for some of them.
  template <class Put>
  KOKKOS_FUNCTION void place(const Put& put) const {
    team_.barrier();
    scan_before<1>(team_, starts_, digits, starts_ + digits, 0, [](int a, int b) { return a + b; });
    team_.barrier();
    for (int d = team_.rank(); d < digits; d += team_.threads()) {
      int at = starts_[d];
      for (int w = 0; w < team_.warps(); ++w) {
        const int some = counts_[w * digits + d];
        counts_[w * digits + d] = static_cast<small_count>(at);
        at += some;
      }
    }
    team_.barrier();
    const small_count* const own = counts_ + team_.warp() * digits;
    for_each_loaded(
        first_ + team_.lane(), Team::lanes, past_, [&](int j) { return keys_[j]; },
        [&](const Key& key, int j) { put(j, own[digit_of(key, pass_)] + places_[j]); });
    team_.barrier();
  }

  /// Where the keys of a digit begin, and how many they are, once they have their places.
  [[nodiscard]] KOKKOS_FUNCTION int start(int d) const { return starts_[d]; }
  [[nodiscard]] KOKKOS_FUNCTION int placed(int d) const {
    return (d + 1 < digits ? starts_[d + 1] : size_) - starts_[d];
  }

 private:
  KOKKOS_FUNCTION void clear() const {
    constexpr int some = pack_size<small_count>;
    auto* const packs = reinterpret_cast<pack<small_count, some>*>(counts_);
    for (int i = team_.rank(); i < team_.warps() * digits / some; i += team_.threads())
      packs[i] = {};
  }

  // Some keys of each lane are asked for at once.
  static constexpr int at_once = 8;

  KOKKOS_FUNCTION void count() const {
    int from = first_;
    for (; from + at_once * Team::lanes <= past_; from += at_once * Team::lanes)
      count_some<at_once, true>(from);
    for (; from < past_; from += Team::lanes) count_some<1, false>(from);
  }

  template <int Some, bool Whole>
  KOKKOS_FUNCTION void count_some(int from) const {
    small_count* const own = counts_ + team_.warp() * digits;
    const int first = from + team_.lane();
    Key keys[Some];
    TOPOS_UNROLLED
    for (int k = 0; k < Some; ++k) {
      const int j = first + k * Team::lanes;
      keys[k] = Whole || j < past_ ? keys_[j] : Key{};
    }
    TOPOS_UNROLLED
    for (int k = 0; k < Some; ++k) {
      const int j = first + k * Team::lanes;
      const bool is_key = Whole || j < past_;
      const int digit = digit_of(keys[k], pass_);
      const auto equal =
          team_.template equal_lanes<digit_bits>(is_key, static_cast<unsigned>(digit));
      const int before = own[digit];
      if (is_key) places_[j] = static_cast<small_count>(before + equal.before);
      team_.warp_barrier();
      if (is_key && equal.is_last) own[digit] = static_cast<small_count>(before + equal.before + 1);
      team_.warp_barrier();
    }
  }

  const Team& team_;
  const Key* keys_;
  int size_;
  int pass_;
  small_count* counts_;  // (warps, digits); and then where their keys begin
  small_count* places_;  // of each key, among those of its digit and warp
  int* starts_;
  int first_;
  int past_;
};

}  // namespace device_rows
}  // namespace topos::detail
