// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small matrix products inside a kernel: what one team multiplies by itself.
///
/// Each element is one chain of fused multiply-adds along k, so its bits depend neither on the
/// other rows and columns nor on how the tile is blocked.

#include <topos/backend/backend.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/kernels/register_block.hpp>
#include <type_traits>

namespace topos::detail {

namespace host_tile {

/// c = a b for `Rows` rows and `Batches` batches of columns, the last of which has so many: all, or
/// fewer.
template <int Rows, int Batches, class T, class Count>
inline void block(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb, index_t k,
                  Count last) {
  constexpr bool is_whole = std::is_same_v<Count, lane::all>;
  lane::batch<T> sums[Rows][Batches];
  for (auto& row : sums) {
    for (auto& s : row) s = lane::splat(T(0));
  }
  for (index_t p = 0; p < k; ++p) {
    lane::batch<T> columns[Batches];
    for (int v = 0; v < Batches; ++v) {
      const T* const from = b + p * ldb + v * lane::width<T>;
      if constexpr (is_whole)
        columns[v] = lane::load(from);
      else
        columns[v] = v + 1 < Batches ? lane::load(from) : lane::load_partial(from, last);
    }
    for (int i = 0; i < Rows; ++i) {
      const lane::batch<T> value = lane::splat(a[i * lda + p]);
      for (int v = 0; v < Batches; ++v) sums[i][v] = lane::fma(value, columns[v], sums[i][v]);
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int v = 0; v < Batches; ++v) {
      T* const to = c + i * ldc + v * lane::width<T>;
      if constexpr (is_whole)
        lane::store(to, sums[i][v]);
      else
        v + 1 < Batches ? lane::store(to, sums[i][v]) : lane::store_partial(to, sums[i][v], last);
    }
  }
}

template <int Batches, class T, class Count>
inline void columns(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb, index_t m,
                    index_t k, Count last) {
  constexpr int most = most_rows<T>;
  index_t i = 0;
  for (; i + most <= m; i += most)
    block<most, Batches>(c + i * ldc, ldc, a + i * lda, lda, b, ldb, k, last);
  for (; i + 4 <= m; i += 4) block<4, Batches>(c + i * ldc, ldc, a + i * lda, lda, b, ldb, k, last);
  for (; i < m; ++i) block<1, Batches>(c + i * ldc, ldc, a + i * lda, lda, b, ldb, k, last);
}

template <class T>
inline void multiply(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb, index_t m,
                     index_t n, index_t k) {
  constexpr index_t width = lane::width<T>;
  constexpr lane::all all;
  index_t j = 0;
  for (; j + 2 * width <= n; j += 2 * width) columns<2>(c + j, ldc, a, lda, b + j, ldb, m, k, all);
  if (n - j > width)
    columns<2>(c + j, ldc, a, lda, b + j, ldb, m, k, n - j - width);
  else if (n - j == width)
    columns<1>(c + j, ldc, a, lda, b + j, ldb, m, k, all);
  else if (n > j)
    columns<1>(c + j, ldc, a, lda, b + j, ldb, m, k, n - j);
}

}  // namespace host_tile

/// c = a b: c is m x n, a is m x k, b is k x n, each row-major with its own distance of rows.
TOPOS_HOST_BRANCH
template <class Team, class T>
KOKKOS_FUNCTION void multiply(const Team& team, T* c, index_t ldc, const T* a, index_t lda,
                              const T* b, index_t ldb, index_t m, index_t n, index_t k) {
  if constexpr (Team::on_host) {
    host_tile::multiply(c, ldc, a, lda, b, ldb, m, n, k);
  } else {
    for (index_t element = team.rank(); element < m * n; element += team.threads()) {
      const index_t i = element / n;
      const index_t j = element % n;
      T total(0);
      for (index_t p = 0; p < k; ++p) total = Kokkos::fma(a[i * lda + p], b[p * ldb + j], total);
      c[i * ldc + j] = total;
    }
    team.barrier();
  }
}

/// to (columns x rows) = the transpose of from (rows x columns); columns of `to` from `rows` up to
/// `padded` are set to 0.
TOPOS_HOST_BRANCH
template <class Team, class T>
KOKKOS_FUNCTION void transpose_tile(const Team& team, T* to, index_t ldt, const T* from,
                                    index_t ldf, index_t rows, index_t columns, index_t padded) {
  if constexpr (Team::on_host) {
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < columns; ++j) to[j * ldt + i] = from[i * ldf + j];
    }
    for (index_t j = 0; j < columns; ++j) {
      for (index_t i = rows; i < padded; ++i) to[j * ldt + i] = T(0);
    }
  } else {
    for (index_t element = team.rank(); element < padded * columns; element += team.threads()) {
      const index_t i = element / columns;
      const index_t j = element % columns;
      to[j * ldt + i] = i < rows ? from[i * ldf + j] : T(0);
    }
    team.barrier();
  }
}

}  // namespace topos::detail
