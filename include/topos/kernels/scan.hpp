// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals: each element combined with all before it along an axis.

#include <algorithm>
#include <cstdint>
#include <topos/device/device.hpp>
#include <topos/kernels/detail/row_scan.hpp>
#include <topos/kernels/detail/scan_chain.hpp>

namespace topos::detail {

namespace host_rows {

/// Which part of a scan a launch is: item i is some whole rows; or the total of a chunk; or what
/// each chunk of row i starts with; or a chunk, started with that.
enum class scan_part : std::uint8_t { rows, totals, starts, chunks };

/// A part of a scan along rows on the host. Rows are cut into chunks, and these into segments,
/// whose totals are made first, so that they can be scanned side by side.
template <class Scan, scan_part Part>
struct scan_kernel {
  using value_type = typename Scan::value_type;
  using result_type = typename Scan::result_type;
  using running = typename Scan::running;
  using kept = typename Scan::kept;
  using total_type = typename Scan::total_type;
  static constexpr bool is_of_chunks = Part == scan_part::totals || Part == scan_part::chunks;

  /// Segments of a chunk: as many as hide the latency of an operation, and not a power of two, of
  /// which the places side by side would be in the same set of a cache.
  static constexpr index_t segments = 9;
  /// Rows of up to so many elements are straight: each is combined with what those before it come
  /// to, in some rows side by side.
  static constexpr index_t straight = map_chunk / 2;
  static constexpr index_t straight_at_once = 4;

  Scan scan;
  total_type* totals;  // of all chunks, and then what they start with

  [[nodiscard]] index_t chunks() const { return (scan.columns + map_chunk - 1) / map_chunk; }
  /// Rows of an item.
  [[nodiscard]] index_t together() const {
    if (scan.columns > straight) return 1;
    return map_chunk / scan.columns / straight_at_once * straight_at_once + straight_at_once;
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
      totals[i] = scan_chunk(i / chunks(), i % chunks(), scan.neutral, false);
    } else if constexpr (Part == scan_part::chunks) {
      scan_chunk(i / chunks(), i % chunks(), totals[i], true);
    } else {
      const index_t r = i * together();
      if (scan.columns > straight)
        scan_row(r);
      else
        scan_straight_rows(r, std::min(r + together(), scan.count));
    }
  }

 private:
  void scan_row(index_t r) const {
    total_type start = scan.neutral;
    for (index_t chunk = 0; chunk < chunks(); ++chunk)
      start = kept::join(scan.op, start, scan_chunk(r, chunk, start, true));
  }

  // The rows [r, last), which are straight. The shortest ones of what is quick one by one: a CPU
  // begins with the next before it is done with one. Others side by side.
  void scan_straight_rows(index_t r, index_t last) const {
    if constexpr (Scan::row_type::is_quick) {
      constexpr index_t soon_done = 64;
      if (scan.columns <= soon_done) {
        for (; r < last; ++r) scan.scan_straight(scan.rows.row(r), scan.out_of(r, 0));
        return;
      }
    }
    for (; r + straight_at_once <= last; r += straight_at_once) scan_beside<straight_at_once>(r);
    for (; r < last; ++r) scan_beside<1>(r);
  }

  // N rows from r on.
  template <index_t N>
  void scan_beside(index_t r) const {
    running so_far[N];
    std::fill_n(so_far, N, kept::value(scan.neutral));
    if constexpr (Scan::row_type::is_quick) {
      if (scan.rows.row(r).is_dense()) {
        go_on(so_far, r, 0, scan.columns, [&](index_t i) { return scan.rows.row(r + i).dense(); });
        return;
      }
    }
    constexpr index_t most = map_chunk / 8;
    value_type values[N * most];
    for (index_t c = 0; c < scan.columns; c += most) {
      const index_t n = std::min(most, scan.columns - c);
      for (index_t i = 0; i < N; ++i) assign(values + i * n, 1, scan.rows.row(r + i), c, c + n);
      go_on(so_far, r, c, n, [&](index_t i) { return memory_row<value_type>{{values}, i * n}; });
    }
  }

  // Goes on with N rows, by n elements of row_of(i) for each, from column c on.
  template <std::size_t N, class RowOf>
  void go_on(running (&so_far)[N], index_t r, index_t c, index_t n, const RowOf& row_of) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const decltype(row_of(0)) rows[] = {row_of(I)...};
      result_type* const out[] = {scan.out_of(r + I, c)...};
      const auto step = [&](std::size_t i, index_t k) __attribute__((always_inline)) {
        so_far[i] = scan.op(so_far[i], static_cast<running>(rows[i][k]));
        out[i][k * scan.target.step] =
            convert_op<result_type>{}(static_cast<value_type>(so_far[i]));
      };
      for (index_t k = 0; k < n; ++k) (step(I, k), ...);
    }
    (std::make_index_sequence<N>{});
  }

  // The total of a chunk; writes its elements if asked to.
  total_type scan_chunk(index_t r, index_t chunk, const total_type& start, bool writes) const {
    const index_t c = chunk * map_chunk;
    const index_t past = std::min(c + map_chunk, scan.columns);
    const index_t n = past - c;
    const auto& op = scan.op;
    value_type values[map_chunk];
    assign(values, 1, scan.rows.row(r), c, past);
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
    const index_t length = (n + segments - 1) / segments;
    running chain[segments];
    total_type total = scan.neutral;
    for (index_t s = 0; s < segments; ++s) {
      chain[s] = kept::value(kept::join(op, start, total));
      const index_t first = std::min(s * length, n);
      const index_t last = std::min(first + length, n);
      if (first < last) {
        total = kept::join(op, total, kept::of(op, summands, first, last));
      }
    }
    if (!writes) return total;
    // Whole chunks: the chains side by side.
    const index_t side_by_side = n - (segments - 1) * length;
    for (index_t k = 0; k < side_by_side; ++k) {
      for (index_t s = 0; s < segments; ++s) {
        value_type& value = values[s * length + k];
        chain[s] = op(chain[s], static_cast<running>(value));
        value = static_cast<value_type>(chain[s]);
      }
    }
    for (index_t s = 0; s < segments; ++s) {
      const index_t last = std::min((s + 1) * length, n);
      for (index_t k = s * length + std::max<index_t>(side_by_side, 0); k < last; ++k) {
        chain[s] = op(chain[s], static_cast<running>(values[k]));
        values[k] = static_cast<value_type>(chain[s]);
      }
    }
    assign(scan.out_of(r, c), scan.target.step, make_row(convert_op<result_type>{}, row), 0, n);
    return total;
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
