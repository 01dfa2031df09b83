// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the items of a kernel share what it computes.

#include <algorithm>
#include <topos/core/config.hpp>

namespace topos::detail {

/// Elements that one item of a map computes: enough to hide the launch, few enough to share.
inline constexpr index_t map_chunk = 4096;

/// The same of a map past the caches, which waits for the memory at the end of each item.
inline constexpr index_t streamed_chunk = 8 * map_chunk;

/// How a kernel's items share rows of columns: as tiles.
struct tiling {
  static constexpr index_t side = 64;  ///< Rows and columns of a square tile.
  index_t rows;                        // in all
  index_t columns;                     // in all
  index_t tile_rows;
  index_t tile_columns;

  /// Long rows are cut, short ones go together; where rows of one array are columns of another,
  /// among `crossed` rows, tiles are square, or as square as these let them be, so that both are
  /// read by the cache line: some times as many rows where they are short.
  [[nodiscard]] static tiling of(index_t rows, index_t columns, index_t crossed, index_t chunk) {
    tiling t{rows, columns, 1, chunk};
    if (crossed != 0) {
      t.tile_rows = std::clamp<index_t>(crossed, 1, side);
      t.tile_columns = side * (side / t.tile_rows);
      if (columns != 0) t.tile_rows *= std::max<index_t>(t.tile_columns / columns, 1);
    } else if (t.columns < chunk) {
      t.tile_columns = std::max<index_t>(t.columns, 1);
      t.tile_rows = chunk / t.tile_columns;
    }
    return t;
  }
  [[nodiscard]] KOKKOS_FUNCTION index_t across() const {
    return (columns + tile_columns - 1) / tile_columns;
  }
  /// `function(r, past_r, c, past_c)` with the rows and the columns of tile i.
  template <class Function>
  KOKKOS_FUNCTION void with_tile(index_t i, const Function& function) const {
    if (rows == 1) {  // as most have: without divisions
      const index_t c = i * tile_columns;
      const index_t rest = columns - c;
      return function(0, 1, c, c + (rest < tile_columns ? rest : tile_columns));
    }
    const index_t r = i / across() * tile_rows;
    const index_t c = i % across() * tile_columns;
    function(r, r + tile_rows < rows ? r + tile_rows : rows, c,
             c + tile_columns < columns ? c + tile_columns : columns);
  }
  [[nodiscard]] index_t count() const { return (rows + tile_rows - 1) / tile_rows * across(); }
  [[nodiscard]] index_t cost() const {
    return std::min(tile_rows, rows) * std::min(tile_columns, columns);
  }
  friend bool operator==(const tiling&, const tiling&) = default;
};

}  // namespace topos::detail
