// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals down columns: each row combined with what those before it come to.

#include <algorithm>
#include <cstdint>
#include <topos/device/device.hpp>
#include <topos/kernels/detail/narrow_rows.hpp>
#include <topos/kernels/detail/row_scan.hpp>
#include <topos/kernels/detail/running_columns.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// A scan down columns, of groups of rows: row n of group g is row
/// (g / inner * length + n) * inner + g % inner.
template <class Target, class Op, class Rows>
struct column_scan {
  using row_type = decltype(std::declval<const Rows&>().row(0));
  using value_type = typename row_type::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;
  using running = running_t<value_type>;
  using op_type = Op;
  /// Whether what some rows come to is made without those before: not of products, which may be too
  /// large or too small by themselves.
  static constexpr bool cuts_rows = !std::same_as<Op, multiply_op>;

  Target target;
  Rows rows;
  Op op;
  index_t outer;
  index_t length;
  index_t inner;
  index_t columns;

  [[nodiscard]] index_t groups() const { return outer * inner; }
  [[nodiscard]] KOKKOS_FUNCTION index_t row_of(index_t group, index_t n) const {
    return (group / inner * length + n) * inner + group % inner;
  }
  /// Where the first column's element of a row goes.
  [[nodiscard]] KOKKOS_FUNCTION result_type* out_of(index_t r) const {
    return target.elements.data + target.start(r);
  }
};

/// The widest panel of columns that is scanned at once.
inline constexpr index_t widest_panel = 512;

/// Columns of a panel, of so many: narrow enough to share, and whole cache lines.
[[nodiscard]] inline index_t panel_of(index_t columns) {
  return std::min(columns, std::clamp<index_t>(columns / 32 / 64 * 64, 64, widest_panel));
}

namespace host_rows {

/// How the host cuts a scan into parts that are one thread's each: panels of columns, and where
/// those are few, chunks of their rows, whose totals it makes first.
struct scan_cut {
  index_t panel;
  index_t chunks = 1;

  template <class Scan>
  explicit scan_cut(const Scan& scan) : panel(panel_of(scan.columns)) {
    if constexpr (Scan::cuts_rows) {
      constexpr index_t enough = 16;             // parts
      constexpr index_t least = 16 * map_chunk;  // elements of a chunk
      const index_t parts = scan.groups() * ((scan.columns + widest_panel - 1) / widest_panel);
      const index_t most = scan.length * scan.groups() * scan.columns / least;
      if (parts >= enough || most < 4 * parts) return;
      panel = std::min(scan.columns, widest_panel);
      chunks = std::min(most, 4 * enough) / parts;
    }
  }
};

/// A part of a scan down columns: item i is a chunk of rows of a panel of columns of a group. Of
/// the last chunk no total is made.
template <class Scan, bool MakesTotals>
struct column_scan_kernel {
  using value_type = typename Scan::value_type;
  using result_type = typename Scan::result_type;
  using running = typename Scan::running;
  using columns_type = running_columns<typename Scan::op_type, running>;
  /// What is not written to where it goes at once: halves are rounded once.
  using made_type = std::conditional_t<std::same_as<value_type, result_type>, value_type, running>;

  Scan scan;
  scan_cut cut;
  short_rows together;
  running* totals;  // a row for each chunk of a group; null where there is but one

  [[nodiscard]] index_t across() const { return (scan.columns + cut.panel - 1) / cut.panel; }
  [[nodiscard]] index_t down() const { return MakesTotals ? cut.chunks - 1 : cut.chunks; }
  [[nodiscard]] index_t chunk_rows() const { return (scan.length + cut.chunks - 1) / cut.chunks; }
  [[nodiscard]] index_t items() const { return scan.groups() * across() * down(); }
  [[nodiscard]] index_t cost() const { return chunk_rows() * cut.panel; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    static_assert(Team::on_host);
    const index_t chunk = i % down();
    const index_t c = i / down() % across() * cut.panel;
    const part p{i / down() / across(), chunk, c, std::min(cut.panel, scan.columns - c)};
    index_t n = chunk * chunk_rows();
    const index_t past = std::min(n + chunk_rows(), scan.length);
    if (n >= past) return;
    alignas(flat_block::alignment) running so_far[widest_panel + most_lanes];
    if (MakesTotals || chunk == 0)
      begin(p, n++, so_far);
    else
      add_up_before(p, so_far);
    add_rows(p, n, past, so_far);
    if constexpr (MakesTotals) std::copy_n(so_far, p.columns, totals_of(p.group, chunk) + c);
  }

 private:
  /// Some columns from c on of a chunk.
  struct part {
    index_t group;
    index_t chunk;
    index_t c;
    index_t columns;
  };

  [[nodiscard]] running* totals_of(index_t group, index_t chunk) const {
    return totals + (group * cut.chunks + chunk) * scan.columns;
  }

  // The first row is what it comes to.
  void begin(const part& p, index_t n, running* so_far) const {
    value_type values[widest_panel];
    const index_t r = scan.row_of(p.group, n);
    assign(values, 1, scan.rows.row(r), p.c, p.c + p.columns);
    std::copy_n(values, p.columns, so_far);
    if constexpr (!MakesTotals) put(p, n, 1, values);
  }

  void add_up_before(const part& p, running* so_far) const {
    const spaced_rows<const running> of_chunks{totals_of(p.group, 0) + p.c, scan.columns};
    std::copy_n(of_chunks.at, p.columns, so_far);
    for (index_t k = 1; k < p.chunk; ++k) {
      for (index_t j = 0; j < p.columns; ++j)
        so_far[j] = scan.op(so_far[j], of_chunks.from(k).at[j]);
    }
  }

  // Rows [n, past), some at a time: where they lie, if they can be read and written there, else
  // written down one after the other. So are the last ones, past which whole batches would go.
  void add_rows(const part& p, index_t n, index_t past, running* so_far) const {
    constexpr index_t bytes = index_t{1} << 14;  // of what is written down: half a first cache
    constexpr index_t room = bytes / static_cast<index_t>(sizeof(value_type));
    static_assert(room >= widest_panel);
    alignas(flat_block::alignment) value_type values[room + most_lanes];
    alignas(flat_block::alignment) made_type made[MakesTotals ? 1 : room + most_lanes];
    const auto source = source_of(p);
    const auto target = target_of(p, source.at);
    const index_t past_columns = columns_type::template past_columns<value_type>(p.columns);
    const index_t last = (past_columns + p.columns - 1) / p.columns;
    for (index_t count = 0; n < past; n += count) {
      const index_t left = past - n;
      count = std::min(left > last ? left - last : left, room / p.columns);
      const bool reads = left > last && source.at != nullptr;
      const bool writes = left > last && target.at != nullptr;
      if (!reads) write_down(p, n, count, values);
      const auto add_to = [&](auto to) {
        if (reads)
          columns_type::add(scan.op, so_far, source.from(n), to, count, p.columns);
        else
          columns_type::add(scan.op, so_far, spaced_rows<const value_type>{values, p.columns}, to,
                            count, p.columns);
      };
      if constexpr (MakesTotals) {
        add_to(no_rows{});
      } else {
        add_to(writes ? target.from(n) : spaced_rows<made_type>{made, p.columns});
        if (!writes) put(p, n, count, made);
      }
    }
  }

  // Whether whole batches of each of a part's rows may be taken: but for the last ones.
  [[nodiscard]] static bool takes_batches(const part& p, index_t step) {
    return step == p.columns || columns_type::template past_columns<value_type>(p.columns) == 0;
  }

  // The rows of a group in memory, or null.
  [[nodiscard]] auto source_of(const part& p) const {
    using T = in_memory_t<typename Scan::row_type>;
    const auto at = [&](index_t n) { return memory_of<T>(scan.rows.row(scan.row_of(p.group, n))); };
    spaced_rows<const T> rows{nullptr, 0};
    if (scan.inner == 1 && lie_evenly<T>(scan.rows, scan.row_of(p.group, 0), scan.length)) {
      const index_t step = at(1) - at(0);
      if (takes_batches(p, step)) rows = {at(0) + p.c, step};
    }
    return rows;
  }

  // Those that are written, if not over what is read: whole batches would be over the next ones.
  [[nodiscard]] spaced_rows<made_type> target_of(const part& p, const void* source) const {
    if constexpr (std::same_as<value_type, result_type>) {
      result_type* const at = out_of(p, 0);
      const index_t step = out_of(p, 1) - at;
      const bool is_apart = at != source || takes_batches(p, 0);
      if (scan.target.step == 1 && takes_batches(p, step) && is_apart) return {at, step};
    }
    return {nullptr, 0};
  }

  [[nodiscard]] result_type* out_of(const part& p, index_t n) const {
    return scan.out_of(scan.row_of(p.group, n)) + p.c * scan.target.step;
  }

  void write_down(const part& p, index_t n, index_t count, value_type* values) const {
    const index_t r = scan.row_of(p.group, n);
    if (together.any()) {
      together.for_each(scan.rows, r, r + count, [&](const auto& row, flat_block& block) {
        assign(values + (block.first - r) * p.columns, 1, row, 0, block.size());
      });
    } else {
      for (index_t i = 0; i < count; ++i)
        assign(values + i * p.columns, 1, scan.rows.row(r + i * scan.inner), p.c, p.c + p.columns);
    }
  }

  template <class T>
  void put(const part& p, index_t n, index_t count, const T* values) const {
    const auto row = make_row(convert_op<result_type>{}, memory_row<T>{{values}});
    result_type* const at = out_of(p, n);
    const index_t step = out_of(p, 1) - out_of(p, 0);
    if (scan.target.step == 1 && step == p.columns) return assign(at, 1, row, 0, count * p.columns);
    for (index_t i = 0; i < count; ++i)
      assign(at + i * step, scan.target.step,
             make_row(convert_op<result_type>{}, memory_row<T>{{values}, i * p.columns}), 0,
             p.columns);
  }
};

template <class Stream, class Scan>
void scan_columns(const Stream& stream, const Scan& scan, typename Scan::running* totals) {
  const scan_cut cut(scan);
  short_rows together;
  if (scan.inner == 1 && scan.columns <= cut.panel)
    together = {cpu(), scan.rows, scan.outer * scan.length, scan.columns};
  const auto launch = [&](const auto& kernel) {
    stream.for_each("topos::scan", kernel.items(), kernel.cost(), 0, kernel);
  };
  if (cut.chunks > 1) launch(column_scan_kernel<Scan, true>{scan, cut, together, totals});
  launch(column_scan_kernel<Scan, false>{scan, cut, together, totals});
}

}  // namespace host_rows

namespace device_rows {

/// Item i is a panel of columns of a group.
template <class Scan>
struct column_scan_kernel {
  using running = typename Scan::running;
  using result_type = typename Scan::result_type;

  Scan scan;
  index_t panel;

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const {
    return (scan.columns + panel - 1) / panel;
  }
  [[nodiscard]] index_t items() const { return scan.groups() * across(); }
  [[nodiscard]] index_t cost() const { return scan.length * panel; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t c = i % across() * panel;
    const index_t past = c + panel < scan.columns ? c + panel : scan.columns;
    for (index_t j = c + team.rank(); j < past; j += team.threads()) scan_column(i / across(), j);
    team.barrier();
  }

 private:
  // Some are asked for at once, so that the thread does not wait for each.
  KOKKOS_FUNCTION void scan_column(index_t group, index_t j) const {
    constexpr index_t some = 8;
    running so_far{};
    for (index_t n = 0; n < scan.length; n += some) {
      running values[some];
      for (index_t k = 0; k < some; ++k) {
        if (n + k < scan.length)
          values[k] = static_cast<running>(scan.rows.row(scan.row_of(group, n + k))[j]);
      }
      for (index_t k = 0; k < some && n + k < scan.length; ++k) {
        so_far = n + k == 0 ? values[k] : scan.op(so_far, values[k]);
        scan.out_of(scan.row_of(group, n + k))[j * scan.target.step] =
            convert_op<result_type>{}(so_far);
      }
    }
  }
};

}  // namespace device_rows

/// How many bytes launch_scan needs, 0 where it needs none.
template <class Target, class Op, class Rows>
[[nodiscard]] std::size_t scan_bytes(const device& d, const column_scan<Target, Op, Rows>& scan) {
  using running = typename column_scan<Target, Op, Rows>::running;
  const index_t chunks = d.kind() == device_kind::cpu ? host_rows::scan_cut(scan).chunks : 1;
  if (chunks == 1) return 0;
  return static_cast<std::size_t>(scan.groups() * chunks * scan.columns) * sizeof(running);
}

/// Scans the columns. `room` has as many bytes as scan_bytes says, and is null where that is 0.
template <class Stream, class Target, class Op, class Rows>
void launch_scan(const Stream& stream, const column_scan<Target, Op, Rows>& scan, void* room) {
  using scan_type = column_scan<Target, Op, Rows>;
  if constexpr (Stream::backend::kind == device_kind::cpu) {
    host_rows::scan_columns(stream, scan, static_cast<typename scan_type::running*>(room));
  } else {
    const device_rows::column_scan_kernel<scan_type> kernel{scan, panel_of(scan.columns)};
    stream.for_each("topos::scan", kernel.items(), kernel.cost(), 0, kernel);
  }
}

}  // namespace topos::detail
