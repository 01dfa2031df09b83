// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals: each element combined with all before it along an axis.

#include <algorithm>
#include <cstdint>
#include <topos/device/device.hpp>
#include <topos/kernels/detail/narrow_rows.hpp>
#include <topos/kernels/detail/row_scan.hpp>
#include <topos/kernels/detail/running_lanes.hpp>
#include <topos/kernels/detail/scan_chain.hpp>

namespace topos::detail {

namespace host_rows {

/// Which part of a scan a launch is: item i is some whole rows; or the total of a chunk; or what
/// each chunk of row i starts with; or a chunk, started with that.
enum class scan_part : std::uint8_t { rows, totals, starts, chunks };

/// A part of a scan along rows on the host. Rows are cut into chunks, each of which starts with
/// what those before it come to, whoever made that: so the bits are the same for any number of
/// threads.
template <class Scan, scan_part Part>
struct scan_kernel {
  using value_type = typename Scan::value_type;
  using result_type = typename Scan::result_type;
  using running = typename Scan::running;
  using kept = typename Scan::kept;
  using total_type = typename Scan::total_type;
  static constexpr bool is_of_chunks = Part == scan_part::totals || Part == scan_part::chunks;
  static constexpr bool is_of_products = !std::same_as<total_type, running>;
  /// Not products of doubles, of which those of neighbours may be too large or too small where no
  /// running product is.
  static constexpr bool by_lanes = runs_along_lanes<typename Scan::op_type, running, value_type> &&
                                   (!is_of_products || std::same_as<value_type, float>);

  /// Rows without lanes are combined with what is before them some side by side.
  static constexpr index_t side_by_side = by_lanes ? 1 : 4;
  /// Elements that are written down at once.
  static constexpr index_t written = map_chunk / 8;

  Scan scan;
  total_type* totals;  // of all chunks, and then what they start with

  [[nodiscard]] index_t chunks() const { return (scan.columns + map_chunk - 1) / map_chunk; }
  /// Rows of an item.
  [[nodiscard]] index_t together() const {
    if (scan.columns > map_chunk) return 1;
    return map_chunk / scan.columns / side_by_side * side_by_side + side_by_side;
  }
  [[nodiscard]] index_t items() const {
    if (Part == scan_part::starts) return scan.count;
    return is_of_chunks ? scan.count * chunks() : (scan.count + together() - 1) / together();
  }
  [[nodiscard]] index_t cost() const {
    if (Part == scan_part::starts) return chunks();
    return is_of_chunks ? map_chunk : std::min(together(), scan.count) * scan.columns;
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    static_assert(Team::on_host);
    if constexpr (Part == scan_part::starts) {
      scan_before(team, totals + i * chunks(), chunks(), nullptr, scan.neutral, scan.joins());
    } else if constexpr (Part == scan_part::totals) {
      totals[i] = total_of(i / chunks(), i % chunks());
    } else if constexpr (Part == scan_part::chunks) {
      running so_far[1] = {kept::value(totals[i])};
      go_on(so_far, i / chunks(), i % chunks() * map_chunk);
    } else {
      const index_t r = i * together();
      scan_whole_rows(r, std::min(r + together(), scan.count));
    }
  }

 private:
  // The rows [r, last). The shortest ones of what is quick one by one: a CPU begins with the next
  // before it is done with one.
  void scan_whole_rows(index_t r, index_t last) const {
    if constexpr (Scan::row_type::is_quick) {
      using T = in_memory_t<typename Scan::row_type>;
      const bool is_read_by_lanes = by_lanes && memory_of<T>(scan.rows.row(r)) != nullptr;
      const index_t soon_done = is_read_by_lanes ? 32 : 64;
      if (scan.columns <= soon_done) {
        for (; r < last; ++r) scan.scan_straight(scan.rows.row(r), scan.out_of(r, 0));
        return;
      }
    }
    for (; r + side_by_side <= last; r += side_by_side) scan_beside<side_by_side>(r);
    for (; r < last; ++r) scan_beside<1>(r);
  }

  // N rows from r on.
  template <index_t N>
  void scan_beside(index_t r) const {
    total_type start[N];
    std::fill_n(start, N, scan.neutral);
    for (index_t chunk = 0; chunk < chunks(); ++chunk) {
      running so_far[N];
      for (index_t i = 0; i < N; ++i) {
        so_far[i] = kept::value(start[i]);
        if (chunk + 1 < chunks()) start[i] = kept::join(scan.op, start[i], total_of(r + i, chunk));
      }
      go_on(so_far, r, chunk * map_chunk);
    }
  }

  // What a chunk of a row comes to.
  [[nodiscard]] total_type total_of(index_t r, index_t chunk) const {
    const index_t past = std::min((chunk + 1) * map_chunk, scan.columns);
    value_type values[written];
    total_type total = scan.neutral;
    for (index_t c = chunk * map_chunk; c < past; c += written) {
      const index_t n = std::min(written, past - c);
      assign(values, 1, scan.rows.row(r), c, c + n);
      total = kept::join(scan.op, total, kept::of(scan.op, summands(values), 0, n));
    }
    return total;
  }

  // Values in the type in which they are added up: the lanes of a narrower one might overflow where
  // no running total does.
  [[nodiscard]] static auto summands(const value_type* values) {
    const memory_row<value_type> row{{values}};
    if constexpr (std::same_as<running, value_type>)
      return row;
    else if constexpr (lane::widens<value_type, running>)
      return dense_row<widened_elements<memory_elements<value_type>, running>>{{{values}}};
    else
      return make_row(convert_op<running>{}, row);
  }

  // Goes on with N rows from r on, from column c to the end of its chunk.
  template <std::size_t N>
  void go_on(running (&so_far)[N], index_t r, index_t c) const {
    const index_t past = std::min(c + map_chunk, scan.columns);
    if constexpr (by_lanes) {
      static_assert(N == 1);
      go_on_by_lanes(so_far[0], r, c, past);
    } else {
      if constexpr (Scan::row_type::is_quick) {
        if (scan.rows.row(r).is_dense()) {
          go_on_with(
              so_far, r, c, past - c, [&](index_t i) { return scan.rows.row(r + i).dense(); }, c);
          return;
        }
      }
      value_type values[N * written];
      for (; c < past; c += written) {
        const index_t n = std::min(written, past - c);
        for (index_t i = 0; i < static_cast<index_t>(N); ++i)
          assign(values + i * n, 1, scan.rows.row(r + i), c, c + n);
        go_on_with(
            so_far, r, c, n,
            [&](index_t i) {
              return memory_row<value_type>{{values}, i * n};
            },
            0);
      }
    }
  }

  // By n elements of row_of(i) for each, from its element `first` on.
  template <std::size_t N, class RowOf>
  void go_on_with(running (&so_far)[N], index_t r, index_t c, index_t n, const RowOf& row_of,
                  index_t first) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const decltype(row_of(0)) rows[] = {row_of(I)...};
      result_type* const out[] = {scan.out_of(r + I, c)...};
      const auto step = [&](std::size_t i, index_t k) __attribute__((always_inline)) {
        so_far[i] = scan.op(so_far[i], static_cast<running>(rows[i][first + k]));
        out[i][k * scan.target.step] =
            convert_op<result_type>{}(static_cast<value_type>(so_far[i]));
      };
      for (index_t k = 0; k < n; ++k) (step(I, k), ...);
    }
    (std::make_index_sequence<N>{});
  }

  void go_on_by_lanes(running so_far, index_t r, index_t c, index_t past) const {
    using T = in_memory_t<typename Scan::row_type>;
    constexpr bool has_own_lanes = runs_by_lanes<typename Scan::op_type, running, T>;
    // Products of eight floats may be too large for a double.
    constexpr index_t most = is_of_products ? 4 : lane::width<running>;
    constexpr index_t neighbours = std::min(most, lane::width<running>);
    const auto run = [&](const auto* from, auto* to, index_t n) {
      so_far = run_along<neighbours>(scan.op, kept::value(scan.neutral), so_far, from, to, n);
    };
    const T* from = has_own_lanes ? memory_of<T>(scan.rows.row(r)) : nullptr;
    value_type values[written];
    value_type made[written];
    for (; c < past; c += written) {
      const index_t n = std::min(written, past - c);
      value_type* to = made;
      if constexpr (std::same_as<value_type, result_type>) {
        if (scan.target.step == 1) to = scan.out_of(r, c);
      }
      if (from == nullptr) {
        assign(values, 1, scan.rows.row(r), c, c + n);
        run(static_cast<const value_type*>(values), to, n);
      } else if constexpr (has_own_lanes) {
        run(from + c, to, n);
      }
      if (to == made)
        assign(scan.out_of(r, c), scan.target.step,
               make_row(convert_op<result_type>{}, memory_row<value_type>{{made}}), 0, n);
    }
  }
};

/// Scans the rows. `totals` has room for a total of each chunk, or is null where each row is one
/// thread's.
template <class Stream, class Scan>
void scan_rows(const Stream& stream, const Scan& scan, typename Scan::total_type* totals) {
  const auto launch = [&](const auto& kernel) {
    stream.for_each("topos::scan", kernel.items(), kernel.cost(), 0, kernel);
  };
  if (totals == nullptr) return launch(scan_kernel<Scan, scan_part::rows>{scan, nullptr});
  launch(scan_kernel<Scan, scan_part::totals>{scan, totals});
  launch(scan_kernel<Scan, scan_part::starts>{scan, totals});
  launch(scan_kernel<Scan, scan_part::chunks>{scan, totals});
}

/// Rows from which each of them is one thread's work.
inline constexpr index_t many_rows = 64;

/// How many bytes launch_scan needs, 0 where it needs none.
template <class Scan>
[[nodiscard]] std::size_t scan_bytes(const Scan& scan) {
  const index_t chunks = (scan.columns + map_chunk - 1) / map_chunk;
  if (chunks == 1 || scan.count >= many_rows) return 0;
  return static_cast<std::size_t>(scan.count * chunks) * sizeof(typename Scan::total_type);
}

}  // namespace host_rows

/// How many bytes launch_scan needs, 0 where it needs none.
template <class Target, class Op, class Rows>
[[nodiscard]] std::size_t scan_bytes(const device& d, const row_scan<Target, Op, Rows>& scan) {
  return d.kind() == device_kind::cpu ? host_rows::scan_bytes(scan) : device_rows::scan_bytes(scan);
}

/// Scans the rows. `room` has as many bytes as scan_bytes says, and is null where that is 0.
template <class Stream, class Target, class Op, class Rows>
void launch_scan(const Stream& stream, const row_scan<Target, Op, Rows>& scan, void* room) {
  using scan_type = row_scan<Target, Op, Rows>;
  if constexpr (Stream::backend::kind == device_kind::cpu)
    host_rows::scan_rows(stream, scan, static_cast<typename scan_type::total_type*>(room));
  else
    device_rows::scan_rows(stream, scan, static_cast<index_t*>(room));
}

}  // namespace topos::detail
