// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the elements of a reduction are cut into pieces, one for each item of its kernel.

#include <algorithm>
#include <cstdint>
#include <topos/backend/kind.hpp>
#include <topos/core/config.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/row.hpp>

namespace topos::detail {

/// The rows of a walk in `outer` groups of `reduced` times `inner`, and how they are cut.
///
/// By rows, a group is one output, and `inner` is 1; else each column of it is, for each of the
/// inner rows.
struct reduction_pieces {
  bool by_rows;
  index_t outer;
  index_t reduced;
  index_t inner;
  index_t columns;
  index_t piece_rows = 1;
  index_t piece_columns = 1;
  index_t pieces_down = 1;  // these two are noted, since GPUs take long to divide
  index_t pieces_across = 1;

  friend bool operator==(const reduction_pieces&, const reduction_pieces&) = default;

  /// Cuts groups into pieces of so many rows and columns.
  void cut_into(index_t rows_of_one, index_t columns_of_one) {
    piece_rows = rows_of_one;
    piece_columns = columns_of_one;
    pieces_down = (reduced + piece_rows - 1) / piece_rows;
    pieces_across = (columns + piece_columns - 1) / piece_columns;
  }

  /// Columns of a piece that goes down them on a device: one for each thread of a team.
  static constexpr index_t device_columns = backend::most_threads;

  /// Rows [r, past_r) of a group, and columns [c, past_c) of each.
  struct range {
    index_t r;
    index_t past_r;
    index_t c;
    index_t past_c;
  };
  /// Rows of an output by rows, as rows of the walk: all of it, or a piece, which is that of item i
  /// then.
  struct block {
    range of;
    index_t output;
    index_t item;
    [[nodiscard]] index_t width() const { return of.past_c - of.c; }
  };
  /// The elements of a piece, one after the other, for a device's threads.
  struct places {
    range of;
    std::uint32_t width;
    index_t size;

    struct place {
      index_t r;
      index_t c;
    };
    KOKKOS_FUNCTION explicit places(const range& piece)
        : of(piece),
          width(static_cast<std::uint32_t>(piece.past_c - piece.c)),
          size((piece.past_r - piece.r) * (piece.past_c - piece.c)) {}
    KOKKOS_FUNCTION place operator()(index_t i) const {
      // Divided as what they fit: 64 bits take a GPU longer than to load the element.
      const auto e = static_cast<std::uint32_t>(i);
      const std::uint32_t down = of.past_r - of.r == 1 ? 0 : e / width;
      return {of.r + down, of.c + (e - down * width)};
    }
  };
  /// A piece that goes down the columns of inner row t of a group; `first` is the number of its
  /// column 0 among the results of all pieces.
  struct down {
    range of;
    index_t group;
    index_t t;
    index_t first;
  };

  /// Pieces of one output.
  KOKKOS_FUNCTION index_t pieces() const {
    return by_rows ? pieces_down * pieces_across : pieces_down;
  }
  /// Piece i of all by rows: the output, and the number of its piece.
  struct numbered_piece {
    index_t output;
    index_t piece;
  };
  KOKKOS_FUNCTION numbered_piece piece_number(index_t i) const {
    if (outer == 1) return {0, i};
    const index_t output = i / pieces();
    return {output, i - output * pieces()};
  }
  KOKKOS_FUNCTION index_t outputs() const { return by_rows ? outer : outer * inner * columns; }
  /// The row of the walk that is row r of inner row t of a group.
  KOKKOS_FUNCTION index_t row_of(index_t group, index_t r, index_t t) const {
    return (group * reduced + r) * inner + t;
  }

  /// Piece p of an output by rows.
  KOKKOS_FUNCTION range piece_of(index_t p) const {
    if (pieces_down == 1) return range_at(0, p);
    const index_t block = p / pieces_across;
    return range_at(block, p - block * pieces_across);
  }
  /// Calls `function(block)` with those of item i: a piece, or some outputs.
  template <class Function>
  void for_each_block(index_t i, index_t outputs_of_item, const Function& function) const {
    const index_t some = pieces() > 1 ? 1 : outputs_of_item;
    const auto at = pieces() > 1 ? piece_number(i) : numbered_piece{i * some, 0};
    const index_t last = std::min(at.output + some, outer);
    for (index_t o = at.output; o < last; ++o) {
      range of = piece_of(at.piece);
      of.r += o * reduced;
      of.past_r += o * reduced;
      function(block{of, o, i});
    }
  }
  /// Piece i of all that go down the columns: neighbours in a row come after each other.
  KOKKOS_FUNCTION down down_of(index_t i) const {
    const index_t row = i / pieces_across;
    const index_t across = i - row * pieces_across;
    if (outer * inner == 1) return {range_at(row, across), 0, 0, row * columns};
    const index_t t = row % inner;
    const index_t block = row / inner % pieces_down;
    const index_t group = row / inner / pieces_down;
    return {range_at(block, across), group, t,
            ((group * pieces_down + block) * inner + t) * columns};
  }
  /// How many those are.
  [[nodiscard]] index_t count_down() const { return outer * pieces_down * inner * pieces_across; }
  /// Elements of a piece of an output by rows on a device: all that one team combines without
  /// keeping others waiting, or so many that the results of pieces are few, and so few that there
  /// are pieces for all teams. How many outputs there are must not matter: it would change bits.
  [[nodiscard]] index_t device_piece() const {
    constexpr index_t whole = 16384;
    constexpr index_t many = 4096;
    const index_t elements = reduced * columns;
    if (elements <= whole) return whole;
    index_t size = whole / 2;
    while (size < 2 * whole && elements / size > many) size *= 2;
    return size;
  }

 private:
  KOKKOS_FUNCTION range range_at(index_t block, index_t across) const {
    const index_t r = block * piece_rows;
    const index_t c = across * piece_columns;
    return {r, r + piece_rows < reduced ? r + piece_rows : reduced, c,
            c + piece_columns < columns ? c + piece_columns : columns};
  }
};

/// Results of pieces as rows of an array.
template <class T>
struct partial_rows {
  const T* data;
  index_t columns;
  KOKKOS_FUNCTION memory_row<T> row(index_t r) const { return {{data}, r * columns}; }
  [[nodiscard]] bool is_one_run(index_t /*first*/, index_t /*count*/) const { return true; }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const { return {}; }
  [[nodiscard]] memory_row<T> flat(const flat_block& block) const { return row(block.first); }
};

}  // namespace topos::detail
