// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products by topos' own kernel: on every backend, where no library is.

#include <algorithm>
#include <topos/kernels/tile.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/memory/buffer.hpp>

namespace topos::detail {

/// Rows and columns of y that one item computes.
inline constexpr index_t tile_rows = 64;
inline constexpr index_t tile_columns = 64;

/// Item i transposes one block of tile_columns rows of w.
struct transpose_weights_kernel {
  const float* w;  // (n, k)
  float* to;       // (k, n)
  index_t n;
  index_t k;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t first = i * tile_columns;
    const index_t rows = n - first < tile_columns ? n - first : tile_columns;
    transpose(team, to + first, n, w + first * k, k, rows, k, rows);
  }
};

/// Item i computes one tile of y.
struct product_kernel {
  product p;
  const float* w;  // (k, n)
  index_t across;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t row = i / across * tile_rows;
    const index_t column = i % across * tile_columns;
    const index_t rows = p.m - row < tile_rows ? p.m - row : tile_rows;
    const index_t columns = p.n - column < tile_columns ? p.n - column : tile_columns;
    multiply(team, p.y + row * p.n + column, p.n, p.x + row * p.k, p.k, w + column, p.n, rows,
             columns, p.k);
  }
};

/// topos' own products. An element's bits depend on its row, column and k alone.
struct builtin_provider {
  struct weights {
    buffer transposed;  // (k, n)
  };

  template <class Stream>
  static weights prepare(const Stream& stream, const buffer& w, index_t n, index_t k) {
    weights made{buffer(w.where(), static_cast<std::size_t>(n * k) * sizeof(float))};
    stream.for_each("topos::matmul::prepare", (n + tile_columns - 1) / tile_columns,
                    tile_columns * k, 0,
                    transpose_weights_kernel{static_cast<const float*>(w.data()),
                                             static_cast<float*>(made.transposed.data()), n, k});
    return made;
  }

  template <class Stream>
  static void run(const Stream& stream, const weights& w, const product& p) {
    const index_t down = (p.m + tile_rows - 1) / tile_rows;
    const index_t across = (p.n + tile_columns - 1) / tile_columns;
    stream.for_each("topos::matmul", down * across, tile_rows * tile_columns * p.k, 0,
                    product_kernel{p, static_cast<const float*>(w.transposed.data()), across});
    run_epilogue(stream, p);
  }
};

}  // namespace topos::detail
