// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kernel of a reduction: pieces of an expression's rows, combined along rows or down columns.

#include <algorithm>
#include <concepts>
#include <topos/kernels/detail/centred_teams.hpp>
#include <topos/kernels/detail/host_outputs.hpp>
#include <topos/kernels/detail/joint_reduction.hpp>
#include <topos/kernels/detail/paired_runs.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/map.hpp>
#include <utility>

namespace topos::detail {

/// The kernel of a reduction: item i is a piece of one output, or several outputs.
template <class Target, class Op, class Finish, class Rows>
struct reduction_kernel : reduction_pieces {
  using row_type = decltype(std::declval<const Rows&>().row(0));
  using element_type = typename row_type::value_type;
  using value_type = combined_t<Op, element_type>;
  using result_type = std::decay_t<decltype(std::declval<const Finish&>()(value_type{}))>;
  static constexpr bool is_quick = row_type::is_quick;
  /// Whether short rows take longer to compute than to be written down, or have no lanes until they
  /// are: so, each is a part of one long row, of which no lanes are computed in vain. Their order,
  /// if that is of any importance, and the bits are the same. What is combined about a centre is
  /// read twice.
  static constexpr bool writes_down =
      centring<Op> ? !has_elements<row_type>
      : host_rows::reduces_lanes<Op, row_type>()
          ? !is_quick
          : host_rows::gains_lanes<row_type> || host_rows::makes_integers<row_type> ||
                (std::is_integral_v<element_type> && !host_rows::converts_memory<row_type> &&
                 host_rows::reduces_lanes<Op, memory_row<element_type>>());
  using drawn = host_rows::drawn_row<row_type>;
  using drawn_type = typename drawn::type;

  Target target;        // of the walk before any pieces
  index_t target_rows;  // rows of a group there
  Rows rows;
  Op op;
  Finish finish;
  bool whole = true;  // results are final; if not, pieces leave theirs
  index_t least_together = 1;
  value_type* partials = nullptr;  // where the results of pieces go; unused where they are final
  short_rows short_on_host;        // that are combined with each other, or turned; none elsewhere
  short_rows written_on_host;      // that are written down before; none elsewhere
  host_rows::paired_runs paired_on_host;  // of all rows as one; none elsewhere

  reduction_kernel(const reduction_pieces& groups, const Target& to, index_t rows_of_group,
                   const Rows& from, const Op& combine, const Finish& last)
      : reduction_pieces(groups),
        target(to),
        target_rows(rows_of_group),
        rows(from),
        op(combine),
        finish(last) {}

  /// Sets how groups are cut into pieces; what goes down the columns takes as many of them as it
  /// can for `threads` of the host to have some pieces each. That changes no bits.
  void cut(bool crossing, bool on_device, int threads) {
    const index_t most = on_device ? device_piece() : map_chunk;
    if (on_device) least_together = backend::most_warps;
    if (!by_rows && threads > 0) {
      cut_down(threads);
    } else if (!by_rows) {
      cut_into(rows_of_piece, on_device ? device_columns : columns_of_piece);
    } else if (crossing && reduced > 1) {
      cut_into(64, 64);
    } else {
      cut_into(std::max<index_t>(1, most / columns), std::min(most, columns));
    }
    whole = pieces() == 1;
  }

  /// Whether short rows are worth writing down: not what is gathered as it lies in memory.
  [[nodiscard]] bool is_computed() const {
    if constexpr (requires(const row_type& row, value_type* to) { row.copy(to, 0, 0); })
      return !rows.row(0).is_dense();
    else
      return true;
  }

  /// Outputs by rows that one item computes: on a device, as many as it has warps, at least.
  KOKKOS_FUNCTION index_t together() const {
    const index_t size = reduced * columns;
    if (size >= map_chunk) return 1;
    const index_t of_chunk = map_chunk / size;
    return of_chunk < least_together ? least_together : of_chunk;
  }
  [[nodiscard]] index_t count() const {
    if (!by_rows) return count_down();
    if (paired_on_host.any()) return paired_on_host.count();
    return pieces() > 1 ? outer * pieces() : (outer + together() - 1) / together();
  }
  [[nodiscard]] index_t cost() const {
    if (paired_on_host.any()) return paired_on_host.cost();
    const index_t piece = std::min(piece_rows, reduced) * std::min(piece_columns, columns);
    return by_rows && pieces() == 1 ? std::min(together(), outer) * piece : piece;
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if constexpr (Team::on_host && pairing_row<drawn_type>) {
      if (paired_on_host.any()) return take_runs(i);
    }
    if (!by_rows) {
      down_columns(team, i);
    } else if (!whole) {
      const auto at = piece_number(i);
      const value_type value = piece(team, at.output, at.piece);
      partials[i] = value;
    } else {
      const index_t first = i * together();
      whole_outputs(team, first, first + together() < outer ? first + together() : outer);
    }
  }

  /// Whether other kernels reduce the same elements in the same order, and it gains to do all at
  /// once.
  template <class... OtherTarget, class... OtherOp, class... OtherFinish>
    requires(!centring<Op> && !(centring<OtherOp> || ...) &&
             (host_rows::same_order<Op, OtherOp, Rows>() && ...) && std::equality_comparable<Rows>)
  [[nodiscard]] bool shares(
      const reduction_kernel<OtherTarget, OtherOp, OtherFinish, Rows>&... others) const {
    return by_rows && !short_on_host.any() && (reduces_as(others) && ...);
  }

  /// Item i of this kernel and of others that share its elements.
  TOPOS_HOST_BRANCH
  template <class Team, class... Others>
  KOKKOS_FUNCTION void run_with(const Team& team, index_t i, const Others&... others) const {
    if constexpr (Team::on_host && pairing_row<drawn_type>) {
      if (paired_on_host.any()) return take_runs(i, others...);
    }
    if (!whole) {
      const auto at = piece_number(i);
      const auto all = joint_piece(team, at.output, at.piece, others...);
      int n = 0;
      partials[i] = all.of[n++];
      ((others.partials[i] = all.of[n++]), ...);
      return;
    }
    if constexpr (!Team::on_host) {
      if (reduced * columns < device_rows::for_one_warp) {  // they are in a cache
        (*this)(team, i);
        (others(team, i), ...);
        return;
      }
    }
    const index_t last = (i + 1) * together() < outer ? (i + 1) * together() : outer;
    for (index_t o = i * together(); o < last; ++o) {
      const auto all = joint_piece(team, o, 0, others...);
      int n = 0;
      write(o, all.of[n++]);
      (others.write(o, all.of[n++]), ...);
    }
  }

  /// On the host: combines the elements of a run, which are several outputs or a piece of one.
  void take_run(index_t first, const typename drawn_type::value_type* values, index_t size) const {
    const auto combine = [&](index_t j, index_t count) {
      if constexpr (host_rows::makes_integers<row_type>)
        return host_rows::reduce(op, drawn::in(values), j, j + count);
      else
        return host_rows::reduce_values(op, values + j, count);
    };
    if (!whole) {
      partials[paired_on_host.number_of(first)] = combine(0, size);
      return;
    }
    for (index_t j = 0; j < size; j += columns) write((first + j) / columns, combine(j, columns));
  }

  /// Outputs that are one item's where its rows are blocks of them; 0 if they are not.
  [[nodiscard]] index_t outputs_of_block() const {
    return by_rows && !short_on_host.any() ? together() : 0;
  }
  /// On the host: combines the elements of a block.
  void take_block(const block& at, const element_type* values) const {
    const value_type value =
        host_rows::combine_rows(op, partial_rows<element_type>{values, at.width()}, 0,
                                at.of.past_r - at.of.r, 0, at.width());
    if (whole)
      write(at.output, value);
    else
      partials[at.item] = value;
  }
  /// Whether what is written down of elements is combined as they are.
  static constexpr bool may_take_blocks = host_rows::combines_as_written<Op, row_type>();
  static constexpr bool writes_rows_down = false;

  /// Writes what output o is combined to.
  KOKKOS_FUNCTION void write(index_t o, const value_type& value) const {
    *place_of(o) = finish(value);
  }
  /// Where that is.
  [[nodiscard]] KOKKOS_FUNCTION auto* place_of(index_t o) const {
    return target.elements.data + target.start(o * target_rows);
  }
  /// On the host: what piece p of an output is combined to.
  [[nodiscard]] value_type combined(index_t output, index_t p) const {
    return combined_by(op, rows, output, p);
  }

 private:
  void cut_down(int threads) {
    using namespace host_rows;
    if (inner == 1 && are_narrow<Op, Rows>(reduced, columns))
      return cut_into(rows_of_narrow_piece<element_type>(columns), columns);
    index_t most_wide = most_columns<Op, Rows, value_type>();
    if constexpr (centring<Op>) {
      cut_into(rows_of_centred_piece, least_centred_columns);
      most_wide = centred_columns<element_type>;
    } else {
      cut_into(rows_of_piece, columns_of_piece);
    }
    while (piece_columns < most_wide && count_down() >= 12 * threads)
      cut_into(piece_rows, piece_columns * 2);
  }

  template <class Other>
  [[nodiscard]] bool reduces_as(const Other& other) const {
    const reduction_pieces& own = *this;
    const reduction_pieces& others = other;
    return own == others && rows == other.rows;
  }

  // Those of item i, for this kernel and others that share its elements.
  template <class... Others>
  void take_runs(index_t i, const Others&... others) const {
    const auto row = rows.row(0);
    paired_on_host.compute(drawn::of(row), i, [&](index_t first, const auto* values, index_t size) {
      take_run(first, values, size);
      (others.take_run(first, values, size), ...);
    });
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void whole_outputs(const Team& team, index_t first, index_t last) const {
    if constexpr (Team::on_host) {
      host_rows::combine_outputs(*this, first, last);
    } else if (reduced == 1 && columns >= device_rows::for_one_warp && last - first > 1) {
      for (index_t o = first + team.warp(); o < last; o += team.warps()) {
        const value_type value = device_rows::combine_row_by_warp(team, op, rows.row(o), columns);
        if (team.lane() == 0) write(o, value);
      }
    } else if (reduced * columns >= device_rows::for_one_warp) {
      for (; first < last; ++first) write(first, piece(team, first, 0));
    } else if (reduced * columns > 64) {
      // A warp for each.
      for (index_t o = first + team.warp(); o < last; o += team.warps()) {
        const piece_values values = values_of(o, 0);
        const value_type value =
            device_rows::combine_by_warp<is_quick>(team, op, values.all.size, values);
        if (team.lane() == 0) write(o, value);
      }
    } else {
      for (index_t o = first + team.rank(); o < last; o += team.threads()) {
        const piece_values values = values_of(o, 0);
        write(o, device_rows::combine_alone(op, values.all.size, values));
      }
    }
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION value_type piece(const Team& team, index_t output, index_t p) const {
    if constexpr (Team::on_host) {
      return combined(output, p);
    } else {
      return combined_by_team(team, op, output, p, [](const element_type& value) { return value; });
    }
  }

  // What each of several kernels makes of a piece.
  TOPOS_HOST_BRANCH
  template <class Team, class... Others>
  KOKKOS_FUNCTION auto joint_piece(const Team& team, index_t output, index_t p,
                                   const Others&... others) const {
    constexpr std::size_t count = 1 + sizeof...(others);
    const auto ops = joint_op(op, others.op...);
    if constexpr (Team::on_host) {
      return combined_by(ops, joint_rows<Rows, count>{rows}, output, p);
    } else {
      return combined_by_team(team, ops, output, p, spread_out<count>{});
    }
  }

  // On a device: of what `make` makes of each element.
  template <class Team, class With, class Make>
  KOKKOS_FUNCTION auto combined_by_team(const Team& team, const With& with, index_t output,
                                        index_t p, const Make& make) const {
    const range of = piece_of(p);
    combined_t<With, std::decay_t<decltype(make(element_type{}))>> result;
    if (of.past_r - of.r == 1) {
      result = device_rows::combine_row(
          team, with, rows.row(output * reduced + of.r), of.c, of.past_c - of.c,
          [&](const element_type& value, index_t) { return make(value); });
    } else {
      const piece_values values = values_of(output, p);
      result = device_rows::combine<is_quick>(team, with, values.all.size,
                                              [&](index_t i) { return make(values(i)); });
    }
    team.barrier();
    return result;
  }

  // The values of a piece on a device, one after the other.
  struct piece_values {
    const Rows& rows;
    index_t first;  // row of the output
    places all;

    KOKKOS_FUNCTION element_type operator()(index_t i) const {
      const auto at = all(i);
      return rows.row(first + at.r)[at.c];
    }
  };
  [[nodiscard]] KOKKOS_FUNCTION piece_values values_of(index_t output, index_t p) const {
    return {rows, output * reduced, places(piece_of(p))};
  }

  // Piece p of an output on the host, by an operation and of rows that stand for this kernel's.
  template <class With, class From>
  auto combined_by(const With& with, const From& from, index_t output, index_t p) const {
    const range of = piece_of(p);
    const index_t first = output * reduced;
    return host_rows::combine_rows(with, from, first + of.r, first + of.past_r, of.c, of.past_c);
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void down_columns(const Team& team, index_t i) const {
    const down at = down_of(i);
    const range of = at.of;
    const index_t r = row_of(at.group, of.r, at.t);
    const index_t count = of.past_r - of.r;
    auto* to = target.elements.data + (whole ? target.start(at.group * target_rows + at.t) : 0);
    value_type* partial = partials + (whole ? 0 : at.first);
    if constexpr (Team::on_host) {
      host_rows::combine_down(*this, r, count, of, to, partial);
    } else {
      for (index_t j = of.c + team.rank(); j < of.past_c; j += team.threads()) {
        const value_type value = device_rows::combine_alone(
            op, count, [&](index_t n) { return element_type(rows.row(r + n * inner)[j]); });
        if (whole) {
          to[j * target.step] = finish(value);
        } else {
          partial[j] = value;
        }
      }
      team.barrier();
    }
  }
};

}  // namespace topos::detail
