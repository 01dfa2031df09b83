// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running an expression into memory: one fused kernel, one pass.

#include <topos/async/queue.hpp>
#include <topos/expr/expression.hpp>
#include <topos/kernels/rows.hpp>

namespace topos::detail {

/// Columns that one item of a map computes: long enough to hide the launch, short enough to share.
inline constexpr index_t map_chunk = 4096;

/// The kernel of a map: item i is one chunk of one row.
template <class T, class Rows>
struct map_kernel {
  T* out;
  Rows rows;
  index_t columns;
  index_t chunks;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t r = i / chunks;
    const index_t first = i % chunks * map_chunk;
    const index_t last = first + map_chunk < columns ? first + map_chunk : columns;
    assign(team, out + r * columns, rows.row(r), first, last);
  }
};

/// Enqueues `e` into `out` (row-major, of e's shape, from element `offset` on).
template <expression E>
void map(const E& e, const buffer& out, index_t offset, std::source_location where) {
  using T = typename E::value_type;
  const auto w = walk_of(e);
  const index_t columns = w.columns();
  const index_t rows = w.rows();
  if (columns == 0 || rows == 0) return;
  std::vector<buffer> reads;
  e.collect(reads);
  queue_of(out.where(), where)
      .submit(std::move(reads), {out}, rows * columns,
              [kernel = map_kernel<T, decltype(e.rows(w))>{static_cast<T*>(out.data()) + offset,
                                                           e.rows(w), columns,
                                                           (columns + map_chunk - 1) / map_chunk},
               rows](const auto& stream) {
                stream.for_each("topos::map", rows * kernel.chunks,
                                std::min(kernel.columns, map_chunk), 0, kernel);
              });
}

}  // namespace topos::detail
