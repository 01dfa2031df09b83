// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals: each element combined with all before it along an axis.
///
/// Rows are cut into chunks, and these into segments. Totals of segments are made first, so that
/// segments can be scanned independently; they are added up in a wider type. What is added up in
/// which order depends on the length of a row alone.

#include <cstdint>
#include <topos/kernels/detail/scan_total.hpp>
#include <topos/kernels/detail/warp_scan.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// The type in which totals are added up.
template <class T>
using running_t = std::conditional_t<std::same_as<T, float>, double, T>;

/// Which part of a scan a launch is: item i is some whole rows; or some rows that a thread or a
/// warp of a device does alone; or the total of a chunk; or what each chunk of row i starts with;
/// or a chunk, started with that. On a device rows of several chunks are not whole ones: their bits
/// would depend on it.
enum class scan_part : std::uint8_t { whole_rows, short_rows, totals, starts, chunks };

/// A scan along rows.
template <class Target, class Op, class Rows>
struct row_scan {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;
  using running = running_t<value_type>;
  using kept = scan_total<Op, running>;
  using total_type = typename kept::type;

  /// Segments of a chunk on the host: as many as hide the latency of an operation, and not a power
  /// of two, of which the places side by side would be in the same set of a cache.
  static constexpr index_t host_segments = 9;
  /// On the host shorter rows of what is quick to compute are scanned straight away.
  static constexpr index_t segmented = 128;
  /// On a device shorter rows are one thread's each.
  static constexpr index_t for_one_thread = 16;

  Target target;
  Rows rows;
  Op op;
  total_type neutral;
  index_t count;
  index_t columns;
  total_type* totals;  // of all chunks, and then what they start with

  [[nodiscard]] KOKKOS_FUNCTION index_t chunks() const {
    return (columns + map_chunk - 1) / map_chunk;
  }
  /// Rows of an item: on a device as many as it has warps, at least, where each is one's.
  [[nodiscard]] KOKKOS_FUNCTION index_t together(scan_part part) const {
    const index_t rows_of_chunk = columns < map_chunk ? map_chunk / columns : 1;
    if (part != scan_part::short_rows || rows_of_chunk > backend::most_warps) return rows_of_chunk;
    return backend::most_warps;
  }
  [[nodiscard]] index_t items(scan_part part) const {
    if (part == scan_part::starts) return count;
    return is_cut(part) ? count * chunks() : (count + together(part) - 1) / together(part);
  }
  [[nodiscard]] index_t cost(scan_part part) const {
    if (part == scan_part::starts) return chunks();
    return is_cut(part) ? map_chunk : std::min(together(part), count) * columns;
  }
  /// On a device, a total and a part of each warp; the host needs none.
  static constexpr std::size_t scratch_bytes =
      backend::most_warps * (device_rows::scanned_part * sizeof(value_type) + sizeof(total_type));

  template <scan_part Part, class Team>
  KOKKOS_FUNCTION void run(const Team& team, index_t i) const {
    if constexpr (Part == scan_part::starts) {
      scan_before(team, totals + i * chunks(), chunks(), team.scratch(), neutral, joins());
    } else if constexpr (Part == scan_part::totals) {
      const total_type total = total_of(team, i / chunks(), i % chunks());
      if (team.rank() == 0) totals[i] = total;
    } else if constexpr (Part == scan_part::chunks) {
      scan_chunk(team, i);
    } else {
      const index_t some = together(Part);
      const index_t last = (i + 1) * some < count ? (i + 1) * some : count;
      if constexpr (Part == scan_part::short_rows)
        scan_short_rows(team, i * some, last);
      else
        scan_rows(team, i * some, last);
    }
  }

 private:
  static bool is_cut(scan_part part) {
    return part == scan_part::totals || part == scan_part::chunks;
  }

  [[nodiscard]] KOKKOS_FUNCTION auto joins() const {
    return [this](const total_type& a, const total_type& b) { return kept::join(op, a, b); };
  }

  // A short row, whose neighbours hide the latency of its operations.
  template <class Row>
  KOKKOS_FUNCTION void scan_straight(const Row& row, result_type* out) const {
    running so_far = kept::value(neutral);
    for (index_t k = 0; k < columns; ++k) {
      so_far = op(so_far, static_cast<running>(row[k]));
      out[k * target.step] = convert_op<result_type>{}(static_cast<value_type>(so_far));
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void scan_rows(const Team& team, index_t r, index_t last) const {
    for (; r < last; ++r) {
      total_type start = neutral;
      for (index_t chunk = 0; chunk < chunks(); ++chunk)
        start = kept::join(op, start, scan(team, r, chunk, start, true));
    }
  }

  // On a device the last first: they may be in a cache yet.
  template <class Team>
  KOKKOS_FUNCTION void scan_chunk(const Team& team, index_t i) const {
    if constexpr (!Team::on_host) i = count * chunks() - 1 - i;
    scan(team, i / chunks(), i % chunks(), totals[i], true);
  }

  // On a device: a thread for each, or a warp, which takes its parts one after the other: the sums
  // are the same as if each were another's.
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void scan_short_rows(const Team& team, index_t r, index_t last) const {
    if constexpr (!Team::on_host) {
      if (columns <= for_one_thread) {
        for (r += team.rank(); r < last; r += team.threads())
          scan_straight(rows.row(r), out_of(r, 0));
      } else {
        for (r += team.warp(); r < last; r += team.warps()) {
          total_type so_far = neutral;
          for (index_t c = 0; c < columns; c += device_rows::scanned_part) {
            auto own = part_of(team, r, c, columns);
            own.write(so_far, out_of(r, c), target.step);
            so_far = kept::join(op, so_far, own.total());
          }
        }
      }
      team.barrier();
    }
  }

  // Where a row's element goes.
  [[nodiscard]] KOKKOS_FUNCTION result_type* out_of(index_t r, index_t c) const {
    return target.elements.data + target.start(r) + c * target.step;
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION total_type total_of(const Team& team, index_t r, index_t chunk) const {
    if constexpr (!Team::on_host && std::same_as<total_type, running>) {
      const index_t c = chunk * map_chunk;
      const index_t n = columns - c < map_chunk ? columns - c : map_chunk;
      return device_rows::combine_row(
          team, op, rows.row(r), c, n,
          [](const value_type& value, index_t) { return static_cast<running>(value); });
    } else {
      return scan(team, r, chunk, neutral, false);
    }
  }

  // The total of a chunk; writes its elements if asked to.
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION total_type scan(const Team& team, index_t r, index_t chunk, total_type start,
                                  bool writes) const {
    const index_t c = chunk * map_chunk;
    const index_t past = c + map_chunk < columns ? c + map_chunk : columns;
    const index_t n = past - c;
    if constexpr (Team::on_host) {
      auto* const out = out_of(r, c);
      if constexpr (decltype(rows.row(r))::is_quick) {
        if (columns < segmented) {
          scan_straight(rows.row(r), out);
          return neutral;  // nothing follows
        }
      }
      value_type values[map_chunk];
      host_rows::assign(values, 1, rows.row(r), c, past);
      const memory_row<value_type> row{{values}};
      // Totals are made in the type in which they are added up: the lanes of a narrower one might
      // overflow where no running total does.
      const auto summands = [&] {
        if constexpr (std::same_as<running, value_type>)
          return row;
        else if constexpr (lane::widens<value_type, running>)
          return dense_row<widened_elements<memory_elements<value_type>, running>>{{{values}}};
        else
          return make_row(convert_op<running>{}, row);
      }();
      const index_t length = (n + host_segments - 1) / host_segments;
      running chain[host_segments];
      total_type total = neutral;
      for (index_t s = 0; s < host_segments; ++s) {
        chain[s] = kept::value(kept::join(op, start, total));
        const index_t first = std::min(s * length, n);
        const index_t last = std::min(first + length, n);
        if (first < last) {
          total = kept::join(op, total, kept::of(op, summands, first, last));
        }
      }
      if (!writes) return total;
      // Whole chunks: the chains side by side.
      const index_t side_by_side = n - (host_segments - 1) * length;
      for (index_t k = 0; k < side_by_side; ++k) {
        for (index_t s = 0; s < host_segments; ++s) {
          value_type& value = values[s * length + k];
          chain[s] = op(chain[s], static_cast<running>(value));
          value = static_cast<value_type>(chain[s]);
        }
      }
      for (index_t s = 0; s < host_segments; ++s) {
        const index_t last = std::min((s + 1) * length, n);
        for (index_t k = s * length + std::max<index_t>(side_by_side, 0); k < last; ++k) {
          chain[s] = op(chain[s], static_cast<running>(values[k]));
          values[k] = static_cast<value_type>(chain[s]);
        }
      }
      host_rows::assign(out, target.step, make_row(convert_op<result_type>{}, row), 0, n);
      return total;
    } else {
      constexpr int length = device_rows::scanned_part;
      const index_t own = team.warp() * length;
      total_type all = neutral;
      for (index_t j = c; j < past; j += team.warps() * length) {
        auto of_warp = part_of(team, r, j + own, past);
        const auto found = device_rows::scan_warps(
            team, of_warp.total(), static_cast<total_type*>(team.scratch()), neutral, joins());
        if (writes) {
          of_warp.write(kept::join(op, start, kept::join(op, all, found.before)),
                        out_of(r, j + own), target.step);
        }
        all = kept::join(op, all, found.all);
      }
      return all;
    }
  }

  // What a warp scans of a row from c on.
  template <class Team>
  KOKKOS_FUNCTION auto part_of(const Team& team, index_t r, index_t c, index_t past) const {
    constexpr int length = device_rows::scanned_part;
    constexpr std::size_t of_totals = backend::most_warps * sizeof(total_type);
    static_assert(of_totals % alignof(pack<value_type, pack_size<value_type>>) == 0);
    auto* const parts =
        reinterpret_cast<value_type*>(static_cast<std::byte*>(team.scratch()) + of_totals);
    return device_rows::warp_scan<Team, Op, running, value_type>(
        team, op, rows.row(r), c, past, neutral, parts + team.warp() * length);
  }
};

/// The kernel of a part of a scan along rows.
template <class Scan, scan_part Part>
struct row_scan_kernel {
  static constexpr std::size_t scratch_bytes = Scan::scratch_bytes;
  Scan scan;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    scan.template run<Part>(team, i);
  }
};

/// Launches it.
template <scan_part Part, class Stream, class Scan>
void launch_scan(const Stream& stream, const Scan& scan) {
  stream.for_each("topos::scan", scan.items(Part), scan.cost(Part), Scan::scratch_bytes,
                  row_scan_kernel<Scan, Part>{scan});
}

/// The widest panel of columns that is scanned at once.
inline constexpr index_t widest_panel = 512;

/// Columns of a panel, of so many: narrow enough to share, and whole cache lines.
[[nodiscard]] inline index_t panel_of(index_t columns) {
  return std::min(columns, std::clamp<index_t>(columns / 32 / 64 * 64, 64, widest_panel));
}

/// The kernel of a scan down columns: item i is a panel of columns of one group of rows, of which
/// row n of the scanned axis is row (group * length + n) * inner + t.
template <class Target, class Op, class Rows>
struct column_scan_kernel {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;
  using running = running_t<value_type>;

  Target target;
  Rows rows;
  Op op;
  index_t outer;
  index_t length;
  index_t inner;
  index_t columns;
  index_t panel;

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const { return (columns + panel - 1) / panel; }
  [[nodiscard]] index_t items() const { return outer * inner * across(); }
  [[nodiscard]] index_t cost() const { return length * panel; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t c = i % across() * panel;
    const index_t past = c + panel < columns ? c + panel : columns;
    const index_t t = i / across() % inner;
    const index_t first = i / across() / inner * length * inner + t;
    if constexpr (Team::on_host) {
      running so_far[widest_panel];
      value_type values[widest_panel];
      for (index_t n = 0; n < length; ++n) {
        const index_t r = first + n * inner;
        auto* out = target.elements.data + target.start(r);
        host_rows::assign(values, 1, rows.row(r), c, past);
        TOPOS_INDEPENDENT_STEPS
        for (index_t j = 0; j < past - c; ++j) {
          const auto value = static_cast<running>(values[j]);
          so_far[j] = n == 0 ? value : op(so_far[j], value);
        }
        host_rows::assign(out + c * target.step, target.step,
                          make_row(convert_op<result_type>{}, memory_row<running>{{so_far}}), 0,
                          past - c);
      }
    } else {
      for (index_t j = c + team.rank(); j < past; j += team.threads()) scan_column(first, j);
      team.barrier();
    }
  }

 private:
  // On a device: some are asked for at once, so that the thread does not wait for each.
  KOKKOS_FUNCTION void scan_column(index_t first, index_t j) const {
    constexpr index_t some = 8;
    running so_far{};
    for (index_t n = 0; n < length; n += some) {
      running values[some];
      for (index_t k = 0; k < some; ++k) {
        if (n + k < length) values[k] = static_cast<running>(rows.row(first + (n + k) * inner)[j]);
      }
      for (index_t k = 0; k < some && n + k < length; ++k) {
        so_far = n + k == 0 ? values[k] : op(so_far, values[k]);
        target.elements.data[target.start(first + (n + k) * inner) + j * target.step] =
            convert_op<result_type>{}(so_far);
      }
    }
  }
};

}  // namespace topos::detail
