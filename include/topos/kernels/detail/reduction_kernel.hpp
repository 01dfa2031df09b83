// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kernel of a reduction: pieces of an expression's rows, combined along rows or down columns.

#include <algorithm>
#include <concepts>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/joint_reduction.hpp>
#include <topos/kernels/map.hpp>
#include <utility>

namespace topos::detail {

/// Results of pieces as rows of an array.
template <class T>
struct partial_rows {
  const T* data;
  index_t columns;
  KOKKOS_FUNCTION memory_row<T> row(index_t r) const { return {{data}, r * columns}; }
};

/// The kernel of a reduction: item i is a piece of one output, or several outputs.
///
/// The rows of the walk are `outer` groups of `reduced` times `inner` rows. By rows, a group is one
/// output, and `inner` is 1; else each column of it is, for each of the inner rows.
template <class Target, class Op, class Finish, class Rows>
struct reduction_kernel {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;

  Target target;        // of the walk before any pieces
  index_t target_rows;  // rows of a group there
  Rows rows;
  Op op;
  Finish finish;
  bool by_rows;
  bool whole;  // results are final; if not, pieces leave theirs
  index_t outer;
  index_t reduced;
  index_t inner;
  index_t columns;
  index_t piece_rows;
  index_t piece_columns;
  value_type* partials;  // where the results of pieces go; unused where they are final

  /// Sets how groups are cut into pieces.
  void cut(bool crossing) {
    piece_rows = 1;
    piece_columns = map_chunk;
    if (!by_rows) {
      piece_rows = rows_of_piece;
      piece_columns = columns_of_piece;
    } else if (crossing && reduced > 1) {
      piece_rows = piece_columns = 64;
    } else if (columns < map_chunk) {
      piece_columns = columns;
      piece_rows = map_chunk / columns;
    }
    whole = pieces() == 1;
  }

  KOKKOS_FUNCTION index_t pieces_down() const { return (reduced + piece_rows - 1) / piece_rows; }
  KOKKOS_FUNCTION index_t pieces_across() const {
    return (columns + piece_columns - 1) / piece_columns;
  }
  /// Pieces of one output.
  KOKKOS_FUNCTION index_t pieces() const {
    return by_rows ? pieces_down() * pieces_across() : pieces_down();
  }
  [[nodiscard]] index_t outputs() const { return by_rows ? outer : outer * inner * columns; }
  /// Outputs by rows that one item computes.
  KOKKOS_FUNCTION index_t together() const {
    const index_t size = reduced * columns;
    return size < map_chunk ? map_chunk / size : 1;
  }
  [[nodiscard]] index_t count() const {
    if (!by_rows) return outer * pieces_down() * inner * pieces_across();
    return pieces() > 1 ? outer * pieces() : (outer + together() - 1) / together();
  }
  [[nodiscard]] index_t cost() const {
    const index_t piece = std::min(piece_rows, reduced) * std::min(piece_columns, columns);
    return by_rows && pieces() == 1 ? std::min(together(), outer) * piece : piece;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (!by_rows) {
      down_columns(team, i);
    } else if (!whole) {
      const value_type value = piece(team, i / pieces(), i % pieces());
      partials[i] = value;
    } else {
      const index_t first = i * together();
      whole_outputs(team, first, first + together() < outer ? first + together() : outer);
    }
  }

  /// Whether another kernel reduces the same elements in the same order, and the host gains by
  /// doing both at once.
  template <class OtherTarget, class OtherOp, class OtherFinish>
    requires(host_rows::same_order<Op, OtherOp, Rows>() && std::equality_comparable<Rows>)
  [[nodiscard]] bool shares(
      const reduction_kernel<OtherTarget, OtherOp, OtherFinish, Rows>& other) const {
    return by_rows && other.by_rows && rows == other.rows && outer == other.outer &&
           reduced == other.reduced && columns == other.columns && piece_rows == other.piece_rows &&
           piece_columns == other.piece_columns;
  }

  /// Item i of this kernel and of others that share its elements.
  template <class... Others>
  void run_with(index_t i, const Others&... others) const {
    const joint_op ops(op, others.op...);
    const joint_rows<Rows, 1 + sizeof...(others)> from{rows};
    if (pieces() > 1) {
      const auto all = combined(ops, from, i / pieces(), i % pieces());
      std::size_t n = 0;
      partials[i] = all.of[n++];
      ((others.partials[i] = all.of[n++]), ...);
      return;
    }
    const index_t last = std::min((i + 1) * together(), outer);
    for (index_t o = i * together(); o < last; ++o) {
      const auto all = combined(ops, from, o, 0);
      std::size_t n = 0;
      write(o, all.of[n++]);
      (others.write(o, all.of[n++]), ...);
    }
  }

  /// Writes what output o is combined to.
  KOKKOS_FUNCTION void write(index_t o, const value_type& value) const {
    target.elements.data[target.start(o * target_rows)] = finish(value);
  }

 private:
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void whole_outputs(const Team& team, index_t first, index_t last) const {
    if constexpr (Team::on_host) {
      for (; first < last; ++first) write(first, piece(team, first, 0));
    } else if (reduced * columns > 64) {
      for (; first < last; ++first) write(first, piece(team, first, 0));
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), first, last), [&](index_t o) {
        value_type value{};
        for (index_t r = 0; r < reduced; ++r) {
          const auto row = rows.row(o * reduced + r);
          for (index_t j = 0; j < columns; ++j) value = r + j == 0 ? row[j] : op(value, row[j]);
        }
        write(o, value);
      });
    }
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION value_type piece(const Team& team, index_t output, index_t p) const {
    if constexpr (Team::on_host) {
      return combined(op, rows, output, p);
    } else {
      const index_t r = p / pieces_across() * piece_rows;
      const index_t c = p % pieces_across() * piece_columns;
      const index_t past_r = r + piece_rows < reduced ? r + piece_rows : reduced;
      const index_t past_c = c + piece_columns < columns ? c + piece_columns : columns;
      const index_t group = output * reduced;
      const index_t width = past_c - c;
      partial_result<value_type> result{};
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team.member(), (past_r - r) * width),
          [&](index_t e, partial_result<value_type>& so_far) {
            const value_type value = rows.row(group + r + e / width)[c + e % width];
            so_far.value = so_far.some ? op(so_far.value, value) : value;
            so_far.some = true;
          },
          partial_reducer<value_type, Op>(op, &result));
      team.barrier();
      return result.value;
    }
  }

  // Piece p of an output on the host, by an operation and of rows that stand for this kernel's.
  template <class With, class From>
  auto combined(const With& with, const From& from, index_t output, index_t p) const {
    const index_t r = p / pieces_across() * piece_rows;
    const index_t c = p % pieces_across() * piece_columns;
    const index_t first = output * reduced;
    return rows_combined(with, from, first + r, first + std::min(r + piece_rows, reduced), c,
                         std::min(c + piece_columns, columns));
  }

  // Short rows, by halves.
  template <class With, class From>
  static auto rows_combined(const With& with, const From& from, index_t r, index_t past_r,
                            index_t c, index_t past_c) {
    using T = typename std::decay_t<decltype(from.row(r))>::value_type;
    if (past_r - r == 1) return T(host_rows::reduce(with, from.row(r), c, past_c));
    const index_t middle = r + (past_r - r + 1) / 2;
    const T left = rows_combined(with, from, r, middle, c, past_c);
    return T(with(left, rows_combined(with, from, middle, past_r, c, past_c)));
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void down_columns(const Team& team, index_t i) const {
    // Neighbours in a row come after each other.
    const index_t c = i % pieces_across() * piece_columns;
    const index_t t = i / pieces_across() % inner;
    const index_t block = i / pieces_across() / inner % pieces_down();
    const index_t group = i / pieces_across() / inner / pieces_down();
    const index_t past_c = c + piece_columns < columns ? c + piece_columns : columns;
    const index_t k = block * piece_rows;
    const index_t count = k + piece_rows < reduced ? piece_rows : reduced - k;
    const index_t r = (group * reduced + k) * inner + t;
    auto* to = target.elements.data + (whole ? target.start(group * target_rows + t) : 0);
    value_type* partial =
        partials + (whole ? 0 : ((group * pieces_down() + block) * inner + t) * columns);
    if constexpr (Team::on_host) {
      value_type values[columns_of_piece + most_lanes];
      host_rows::column_reducer(op, rows, values).run(r, inner, count, c, past_c);
      if (whole) {
        for (index_t j = c; j < past_c; ++j) to[j * target.step] = finish(values[j - c]);
      } else {
        std::copy_n(values, past_c - c, partial + c);
      }
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), c, past_c), [&](index_t j) {
        value_type value = rows.row(r)[j];
        for (index_t n = 1; n < count; ++n) value = op(value, rows.row(r + n * inner)[j]);
        if (whole) {
          to[j * target.step] = finish(value);
        } else {
          partial[j] = value;
        }
      });
      team.barrier();
    }
  }
};

}  // namespace topos::detail
