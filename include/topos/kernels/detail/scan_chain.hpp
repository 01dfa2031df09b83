// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows scanned by a device: short ones by a thread or a warp, others chunk by chunk by teams,
/// which tell each other what their chunks come to, so that a launch reads and writes once: Merrill
/// and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016. But each adds up
/// the same totals whoever was how fast: those before it in its group of chunks, and what the group
/// starts with. So the bits are the same each time.

#include <algorithm>
#include <cstddef>
#include <topos/kernels/detail/fill_kernel.hpp>
#include <topos/kernels/detail/row_scan.hpp>
#include <topos/kernels/detail/told_value.hpp>
#include <topos/kernels/detail/warp_scan.hpp>

namespace topos::detail::device_rows {

/// Elements of a chunk.
inline constexpr index_t chained_chunk = index_t{backend::cuda::warps_of(map_chunk)} * scanned_part;
/// Chunks of a group: the last of them waits for the totals of all others, and for what the group
/// starts with, by one thread for each.
inline constexpr index_t chained_group = backend::most_threads;
/// Rows of up to so many elements are one thread's each.
inline constexpr index_t for_one_thread = 16;
/// Rows from which each of them is one warp's work.
inline constexpr index_t many_rows_of_warps = 1024;

/// Item i is some rows, each of a thread or a warp; or a chunk.
template <class Scan, bool IsShort>
struct scan_kernel {
  using value_type = typename Scan::value_type;
  using kept = typename Scan::kept;
  using total_type = typename Scan::total_type;
  using told_total = told_value<total_type>;

  /// A place of a number, and a total and a part of each warp.
  static constexpr std::size_t place_bytes = 16;
  static constexpr std::size_t scratch_bytes =
      place_bytes + backend::most_warps * (scanned_part * sizeof(value_type) + sizeof(total_type));

  Scan scan;
  index_t* told;  // a ticket, totals of chunks and starts of groups; null where rows are of a chunk

  [[nodiscard]] KOKKOS_FUNCTION index_t chunks() const {
    return (scan.columns + chained_chunk - 1) / chained_chunk;
  }
  [[nodiscard]] KOKKOS_FUNCTION index_t groups() const {
    return (chunks() + chained_group - 1) / chained_group;
  }
  /// Numbers of what teams tell each other.
  [[nodiscard]] index_t told_count() const {
    return 1 + scan.count * (chunks() + groups()) * told_total::words;
  }
  /// Short rows of an item: as many as it has warps, at least.
  [[nodiscard]] KOKKOS_FUNCTION index_t together() const {
    const index_t of_chunk = map_chunk / scan.columns;
    return of_chunk > backend::most_warps ? of_chunk : backend::most_warps;
  }
  [[nodiscard]] index_t items() const {
    return IsShort ? (scan.count + together() - 1) / together() : scan.count * chunks();
  }
  [[nodiscard]] index_t cost() const {
    return IsShort ? std::min(together(), scan.count) * scan.columns : map_chunk;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if constexpr (IsShort) {
      const index_t last = (i + 1) * together();
      scan_short_rows(team, i * together(), last < scan.count ? last : scan.count);
    } else {
      if (told != nullptr) i = in_turn(team, told, static_cast<index_t*>(team.scratch()));
      scan_chunk(team, i / chunks(), i % chunks());
    }
  }

 private:
  // A warp takes the parts of a row one after the other: the sums are the same as if each were
  // another's.
  template <class Team>
  KOKKOS_FUNCTION void scan_short_rows(const Team& team, index_t r, index_t last) const {
    if (scan.columns <= for_one_thread) {
      for (r += team.rank(); r < last; r += team.threads())
        scan.scan_straight(scan.rows.row(r), scan.out_of(r, 0));
    } else {
      for (r += team.warp(); r < last; r += team.warps()) {
        total_type so_far = scan.neutral;
        for (index_t c = 0; c < scan.columns; c += scanned_part) {
          auto own = part_of(team, r, c, scan.columns);
          own.write(so_far, scan.out_of(r, c), scan.target.step);
          so_far = kept::join(scan.op, so_far, own.total());
        }
      }
    }
    team.barrier();
  }

  template <class Team>
  KOKKOS_FUNCTION void scan_chunk(const Team& team, index_t r, index_t chunk) const {
    const index_t c = chunk * chained_chunk + index_t{team.warp()} * scanned_part;
    auto own = part_of(team, r, c, scan.columns);
    const auto join = scan.joins();
    const auto found = scan_warps(team, own.total(), totals_of(team), scan.neutral, join);
    total_type start = scan.neutral;
    if (told != nullptr) start = start_of(team, r, chunk, found.all);
    own.write(join(start, found.before), scan.out_of(r, c), scan.target.step);
  }

  // What the chunks before one come to; tells the others what this one does.
  template <class Team>
  KOKKOS_FUNCTION total_type start_of(const Team& team, index_t r, index_t chunk,
                                      const total_type& all) const {
    constexpr index_t words = told_total::words;
    const auto join = scan.joins();
    const index_t group = chunk / chained_group;
    index_t* const totals = told + 1 + r * chunks() * words;
    index_t* const starts = told + 1 + (scan.count * chunks() + r * groups()) * words;
    if (team.rank() == 0) told_total::template tell<Team>(totals + chunk * words, all);
    // Place 0 is the start of the group, place k its chunk k - 1.
    const index_t share = (chained_group + team.threads() - 1) / team.threads();
    const index_t first = group * chained_group - 1;
    total_type mine = scan.neutral;
    for (index_t k = team.rank() * share; k < (team.rank() + 1) * share && first + k < chunk; ++k) {
      if (k > 0)
        mine = join(mine, told_total::template wait<Team>(totals + (first + k) * words));
      else if (group > 0)
        mine = told_total::template wait<Team>(starts + group * words);
    }
    const total_type start = team.combine(mine, join);
    if (team.rank() == 0 && (chunk + 1) % chained_group == 0 && chunk + 1 < chunks())
      told_total::template tell<Team>(starts + (group + 1) * words, join(start, all));
    return start;
  }

  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION total_type* totals_of(const Team& team) const {
    return reinterpret_cast<total_type*>(static_cast<std::byte*>(team.scratch()) + place_bytes);
  }

  // What a warp scans of a row from c on.
  template <class Team>
  KOKKOS_FUNCTION auto part_of(const Team& team, index_t r, index_t c, index_t past) const {
    using packed = pack<value_type, pack_size<value_type>>;
    static_assert((place_bytes + backend::most_warps * sizeof(total_type)) % alignof(packed) == 0);
    auto* const parts = reinterpret_cast<value_type*>(totals_of(team) + backend::most_warps);
    return warp_scan<Team, decltype(scan.op), typename Scan::running, value_type>(
        team, scan.op, scan.rows.row(r), c < past ? c : past, past, scan.neutral,
        parts + team.warp() * scanned_part);
  }
};

/// Whether rows are a thread's or a warp's each.
template <class Scan>
[[nodiscard]] bool is_short(const Scan& scan) {
  return scan.columns <= scanned_part ||
         (scan.columns <= chained_chunk && scan.count >= many_rows_of_warps);
}

/// How many bytes scan_rows needs, 0 where it needs none.
template <class Scan>
[[nodiscard]] std::size_t scan_bytes(const Scan& scan) {
  if (scan.columns <= chained_chunk) return 0;
  return static_cast<std::size_t>(scan_kernel<Scan, false>{scan, nullptr}.told_count()) *
         sizeof(index_t);
}

/// Scans the rows.
template <class Stream, class Scan>
void scan_rows(const Stream& stream, const Scan& scan, index_t* told) {
  const auto launch = [&](const auto& kernel, std::size_t scratch) {
    stream.for_each("topos::scan", kernel.items(), kernel.cost(), scratch, kernel);
  };
  if (is_short(scan)) {
    const scan_kernel<Scan, true> kernel{scan, nullptr};
    return launch(kernel, kernel.scratch_bytes);
  }
  const scan_kernel<Scan, false> kernel{scan, told};
  if (told != nullptr) {
    const fill_kernel<index_t> clear{told, kernel.told_count(), 0};
    stream.for_each("topos::scan", clear.items(), map_chunk, 0, clear);
  }
  launch(kernel, kernel.scratch_bytes);
}

}  // namespace topos::detail::device_rows
