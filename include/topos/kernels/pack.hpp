// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements that are chosen by truths, moved next to each other in their order.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// What is packed, where it is not elements in memory: their numbers.
struct packed_numbers {
  using value_type = std::int64_t;
  KOKKOS_FUNCTION std::int64_t operator()(index_t i) const { return i; }
};

namespace host_rows {

/// Truths that one item looks at.
inline constexpr index_t packed_piece = index_t{1} << 15;

/// Eight truths, of which each is a byte, 0 or 1.
[[nodiscard]] inline std::uint64_t eight_truths(const bool* from) {
  std::uint64_t eight;
  std::memcpy(&eight, from, sizeof eight);
  return eight;
}

/// How many of some truths are true.
[[nodiscard]] inline index_t count_true(const bool* from, index_t n) {
  index_t count = 0;
  index_t i = 0;
  for (; i + 8 <= n; i += 8) count += std::popcount(eight_truths(from + i));
  for (; i < n; ++i) count += from[i] ? 1 : 0;
  return count;
}

/// Item i counts what is true in a piece.
struct count_true_kernel {
  const bool* truths;
  index_t size;
  index_t* counts;

  [[nodiscard]] index_t items() const { return (size + packed_piece - 1) / packed_piece; }
  [[nodiscard]] index_t cost() const { return packed_piece / 16; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    if constexpr (Team::on_host) {
      const index_t first = i * packed_piece;
      counts[i] = count_true(truths + first, std::min(packed_piece, size - first));
    }
  }
};

/// Item i packs what a piece of truths chooses, to where `starts` says.
template <class Source>
struct pack_kernel {
  using value_type = typename Source::value_type;

  const bool* truths;
  index_t size;
  Source from;
  const index_t* starts;
  index_t count;  // of all that is chosen
  value_type* out;

  [[nodiscard]] index_t items() const { return (size + packed_piece - 1) / packed_piece; }
  [[nodiscard]] index_t cost() const { return packed_piece; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    if constexpr (Team::on_host) {
      const index_t past = std::min((i + 1) * packed_piece, size);
      value_type* to = out + starts[i];
      value_type* const end = out + (i + 1 == items() ? count : starts[i + 1]);
      for (index_t first = i * packed_piece; first < past && to != end; first += some) {
        const index_t n = std::min(some, past - first);
        if (n == some && !has_any(first)) continue;
        if (end - to >= some) {  // there is room for what is not chosen, too
          to = pack(first, n, to);
        } else {
          value_type few[some];
          to = std::copy(few, pack(first, n, few), to);
        }
      }
    }
  }

 private:
  static constexpr index_t some = 64;

  [[nodiscard]] bool has_any(index_t first) const {
    std::uint64_t any = 0;
    for (index_t k = 0; k < some; k += 8) any |= eight_truths(truths + first + k);
    return any != 0;
  }

  // Writes each, and goes on behind those that are chosen: no branch, which could not be foretold.
  value_type* pack(index_t first, index_t n, value_type* to) const {
    for (index_t k = first; k < first + n; ++k) {
      *to = from(k);
      to += truths[k] ? 1 : 0;
    }
    return to;
  }
};

}  // namespace host_rows

/// On a device: item i moves some elements to their places, which the running count of what is
/// chosen is one beyond.
template <class Source>
struct place_kernel {
  using value_type = typename Source::value_type;
  static constexpr index_t some = 2048;

  const bool* truths;
  index_t size;
  Source from;
  const std::int64_t* running;
  value_type* out;

  [[nodiscard]] index_t items() const { return (size + some - 1) / some; }
  [[nodiscard]] index_t cost() const { return some; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t past = (i + 1) * some < size ? (i + 1) * some : size;
    for (index_t k = i * some + team.rank(); k < past; k += team.threads()) {
      if (truths[k]) out[running[k] - 1] = from(k);
    }
  }
};

}  // namespace topos::detail
