// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small matrix products inside a kernel: what one team multiplies by itself.
///
/// Each element is one chain of fused multiply-adds along k, so its bits depend neither on the
/// other rows and columns nor on how the tile is blocked.

#include <topos/backend/backend.hpp>
#include <topos/expr/lanes.hpp>

namespace topos::detail {

namespace host_tile {

/// c = a b for `Rows` rows and `Batches` batches of columns: one register block.
template <int Rows, int Batches, class T>
inline void block(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb, index_t k) {
  lane::batch<T> sums[Rows][Batches];
  for (auto& row : sums) {
    for (auto& s : row) s = lane::splat(T(0));
  }
  for (index_t p = 0; p < k; ++p) {
    lane::batch<T> columns[Batches];
    for (int v = 0; v < Batches; ++v) columns[v] = lane::load(b + p * ldb + v * lane::width<T>);
    for (int i = 0; i < Rows; ++i) {
      const lane::batch<T> value = lane::splat(a[i * lda + p]);
      for (int v = 0; v < Batches; ++v) sums[i][v] = lane::fma(value, columns[v], sums[i][v]);
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int v = 0; v < Batches; ++v) lane::store(c + i * ldc + v * lane::width<T>, sums[i][v]);
  }
}

template <int Batches, class T>
inline void columns(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb, index_t m,
                    index_t k) {
  index_t i = 0;
  for (; i + 8 <= m; i += 8) block<8, Batches>(c + i * ldc, ldc, a + i * lda, lda, b, ldb, k);
  for (; i + 4 <= m; i += 4) block<4, Batches>(c + i * ldc, ldc, a + i * lda, lda, b, ldb, k);
  for (; i < m; ++i) block<1, Batches>(c + i * ldc, ldc, a + i * lda, lda, b, ldb, k);
}

/// Columns that do not fill a batch, one by one.
template <class T>
inline void last_columns(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb,
                         index_t m, index_t n, index_t k) {
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      T total(0);
      for (index_t p = 0; p < k; ++p) {
        total = Kokkos::fma(a[i * lda + p], b[p * ldb + j], total);
      }
      c[i * ldc + j] = total;
    }
  }
}

template <class T>
inline void multiply(T* c, index_t ldc, const T* a, index_t lda, const T* b, index_t ldb, index_t m,
                     index_t n, index_t k) {
  constexpr index_t width = lane::width<T>;
  index_t j = 0;
  for (; j + 2 * width <= n; j += 2 * width) columns<2>(c + j, ldc, a, lda, b + j, ldb, m, k);
  for (; j + width <= n; j += width) columns<1>(c + j, ldc, a, lda, b + j, ldb, m, k);
  if (j < n) last_columns(c + j, ldc, a, lda, b + j, ldb, m, n - j, k);
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
