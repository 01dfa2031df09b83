// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals: each element combined with all before it along an axis.
///
/// Rows are cut into chunks, and these into segments. Totals of segments are made first, so that
/// segments can be scanned independently; they are added up in a wider type. What is added up in
/// which order depends on the length of a row alone.

#include <cstdint>
#include <topos/kernels/detail/scan_total.hpp>
#include <topos/kernels/detail/team_scan.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// The type in which totals are added up.
template <class T>
using running_t = std::conditional_t<std::same_as<T, float>, double, T>;

/// Which part of a scan a launch is. On a device rows of several chunks are not whole ones: their
/// bits would depend on it.
enum class scan_part : std::uint8_t { whole_rows, totals, starts, chunks };

/// The kernel of a scan along rows. Item i is some whole rows; or the total of a chunk; or what
/// each chunk of row i starts with; or a chunk, started with that.
template <class Target, class Op, class Rows>
struct row_scan_kernel {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;
  using running = running_t<value_type>;
  using kept = scan_total<Op, running>;
  using total_type = typename kept::type;

  /// Segments of a chunk: on the host as many as hide the latency of an operation. On a device one
  /// for each thread that works on a row alone.
  static constexpr index_t host_segments = 8;
  /// On the host shorter rows of what is quick to compute are scanned straight away.
  static constexpr index_t segmented = 128;

  Target target;
  Rows rows;
  Op op;
  total_type neutral;
  index_t count;
  index_t columns;
  total_type* totals;  // of all chunks, and then what they start with
  scan_part part;

  [[nodiscard]] KOKKOS_FUNCTION index_t chunks() const {
    return (columns + map_chunk - 1) / map_chunk;
  }
  [[nodiscard]] KOKKOS_FUNCTION index_t together() const {
    return columns < map_chunk ? map_chunk / columns : 1;
  }
  [[nodiscard]] index_t items() const {
    if (part == scan_part::whole_rows) return (count + together() - 1) / together();
    return part == scan_part::starts ? count : count * chunks();
  }
  [[nodiscard]] index_t cost() const {
    if (part == scan_part::whole_rows) return std::min(together(), count) * columns;
    return part == scan_part::starts ? chunks() : map_chunk;
  }
  /// On a device; the host needs none.
  [[nodiscard]] static std::size_t scratch() {
    return backend::most_threads * sizeof(total_type) +
           static_cast<std::size_t>(place_of(map_chunk)) * sizeof(value_type);
  }
  [[nodiscard]] row_scan_kernel as(scan_part p) const {
    row_scan_kernel other = *this;
    other.part = p;
    return other;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (part == scan_part::whole_rows) {
      const index_t last = (i + 1) * together() < count ? (i + 1) * together() : count;
      for (index_t r = i * together(); r < last; ++r) {
        total_type start = neutral;
        for (index_t chunk = 0; chunk < chunks(); ++chunk) {
          start = kept::join(op, start, scan(team, r, chunk, start, true));
        }
      }
    } else if (part == scan_part::totals) {
      const total_type total = total_of(team, i / chunks(), i % chunks());
      if (team.rank() == 0) totals[i] = total;
    } else if (part == scan_part::starts) {
      // As whole rows do it.
      scan_before(team, totals + i * chunks(), chunks(), team.scratch(), neutral, joins());
    } else {
      scan(team, i / chunks(), i % chunks(), totals[i], true);
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION auto joins() const {
    return [this](const total_type& a, const total_type& b) { return kept::join(op, a, b); };
  }

  // A short row, whose neighbours hide the latency of its operations.
  template <class Row, class To>
  void scan_straight(const Row& row, To* out) const {
    running so_far = kept::value(neutral);
    for (index_t k = 0; k < columns; ++k) {
      so_far = op(so_far, static_cast<running>(row[k]));
      out[k * target.step] = convert_op<result_type>{}(static_cast<value_type>(so_far));
    }
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
    auto* out = target.elements.data + target.start(r) + c * target.step;
    if constexpr (Team::on_host) {
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
      // In the team's memory, to and from which neighbours go together.
      auto* const room = static_cast<total_type*>(team.scratch());
      auto* const values = reinterpret_cast<value_type*>(room + backend::most_threads);
      const auto row = rows.row(r);
      const auto some = static_cast<int>(n);
      const int segments = Team::threads_of(columns < map_chunk ? columns : map_chunk);
      const int length = (some + segments - 1) / segments;
      const int first = team.rank() * length;
      const int last = first + length < some ? first + length : some;
      team.barrier();
      for (int k = team.rank(); k < some; k += team.threads()) values[place_of(k)] = row[c + k];
      team.barrier();
      total_type mine = neutral;
      for (int k = first; k < last; ++k)
        kept::add(op, mine, static_cast<running>(values[place_of(k)]));
      const auto found = device_rows::scan_threads(team, mine, room, neutral, joins());
      if (!writes) return found.all;
      running so_far = kept::value(kept::join(op, start, found.before));
      for (int k = first; k < last; ++k) {
        value_type& value = values[place_of(k)];
        so_far = op(so_far, static_cast<running>(value));
        value = static_cast<value_type>(so_far);
      }
      team.barrier();
      for (int k = team.rank(); k < some; k += team.threads())
        out[k * target.step] = convert_op<result_type>{}(values[place_of(k)]);
      return found.all;
    }
  }

  // Where value k of a chunk lies in a team's memory: apart from those that other threads ask for
  // at the same time, in another bank.
  [[nodiscard]] static constexpr KOKKOS_FUNCTION int place_of(int k) { return k + k / 16; }
};

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
