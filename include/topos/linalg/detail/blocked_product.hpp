// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on the host, blocked for its caches.
///
/// The scheme is that of Goto, van de Geijn: "Anatomy of High-Performance Matrix Multiplication",
/// ACM Trans. Math. Softw. 34 (2008), with the roles that row-major results suggest: a panel of b
/// stays in the second-level cache while rows of a pass by. Each item does so for itself, which
/// needs neither memory nor waiting between threads.

#include <unistd.h>

#include <algorithm>
#include <topos/backend/host.hpp>
#include <topos/linalg/detail/panels.hpp>
#include <topos/linalg/product.hpp>

namespace topos::detail::host_product {

/// Terms that an element sums in one chain; the chains of one element are added one after the
/// other. The same on every machine, for an element's bits depend on it.
template <class T>
inline constexpr index_t chain = 2048 / static_cast<index_t>(sizeof(T));

/// Columns of a panel of b, of `chain` rows, that take a good third of the second-level cache.
[[nodiscard]] inline index_t panel_columns() {
  static const index_t columns = [] {
    index_t bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = static_cast<index_t>(::sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
    if (bytes <= 0) bytes = index_t{1} << 20;
    return std::clamp<index_t>(bytes * 3 / 8 / 2048 / 48 * 48, 96, 768);
  }();
  return columns;
}

/// How a batch of products is cut into items.
struct cut {
  index_t rows;     ///< of one item
  index_t columns;  ///< of one item, in numbers
  index_t down;     ///< items along m
  index_t across;   ///< items along n
};

/// Whether blocks may read b where it lies: in numbers of T, in rows, and small enough for the
/// second-level cache however its rows are spread.
template <class S>
[[nodiscard]] bool reads_in_place(const matrix_product<S>& p, index_t rows) {
  if constexpr (is_complex<S>) return false;
  if (p.b_column != 1) return false;
  return rows <= 2 * host_tile::most_rows<S> ||
         p.k * p.b_row * static_cast<index_t>(sizeof(S)) <= panel_columns() * 1024;
}

template <class S>
[[nodiscard]] cut cut_of(const matrix_product<S>& p, index_t threads) {
  using T = real_t<S>;
  const auto ceil = [](index_t x, index_t by) { return (x + by - 1) / by; };
  const auto round = [&](index_t x, index_t to) { return ceil(x, to) * to; };
  const index_t numbers = p.n * parts<S>;
  cut c{p.m, numbers, 1, 1};
  const auto cut_columns = [&](index_t across) {
    c.columns = round(ceil(numbers, across), host_tile::block_width<T>);
    c.across = ceil(numbers, c.columns);
  };
  cut_columns(ceil(numbers, panel_columns()));
  if (threads == 1) return c;
  if (!reads_in_place(p, p.m) && p.batch() * c.across >= threads) {
    // As many panels for each thread, so that few rows need cut.
    index_t across = c.across;
    while (p.batch() * across % threads != 0) ++across;
    cut_columns(across);
  }
  // Some items for each thread, and the same number; but each packs a panel, which many rows pay.
  const index_t rest = p.batch() * c.across;
  const index_t least = reads_in_place(p, p.m) ? 32 : 128;
  const index_t most = std::max<index_t>(1, p.m / least);
  c.down = std::min(most, ceil(threads <= 8 ? 4 * threads : 2 * threads, rest));
  while (c.down < most && c.down * rest < 16 * threads && c.down * rest % threads != 0) ++c.down;
  c.rows = round(ceil(p.m, c.down), host_tile::most_rows<T>);
  c.down = ceil(p.m, c.rows);
  return c;
}

/// Bytes of scratch memory of one item: a panel of b and some rows of a.
template <class S>
[[nodiscard]] std::size_t scratch_bytes(const matrix_product<S>& p, const cut& c) {
  using T = real_t<S>;
  const index_t depth = std::min(p.k * parts<S>, chain<T>);
  const index_t columns = c.columns + host_tile::block_width<T>;
  return static_cast<std::size_t>(depth * (columns + host_tile::most_rows<T>)) * sizeof(T);
}

/// A panel of b: blocks of columns, each with its own start, in the order of next_batches.
template <class T>
struct panel {
  const T* in_place;  ///< null: all is packed
  index_t row;        ///< the distance of rows in place
  const T* packed;
  index_t columns;
  index_t depth;
};

/// Some rows of c against a panel of b.
template <int Rows, int Step, class T>
inline void multiply_rows(T* c, index_t c_row, const T* a, index_t a_row, const panel<T>& b,
                          bool add) {
  constexpr index_t width = host_tile::block_width<T>;
  index_t left = (b.columns + width - 1) / width;
  for (index_t j = 0; left > 0;) {
    const int batches = host_tile::next_batches(left);
    const index_t last = std::min(width, b.columns - j - (batches - 1) * width);
    const bool packed = b.in_place == nullptr || last < width;
    host_tile::block_of<Rows, Step>(
        batches, host_tile::block_arguments<T>{
                     c + j, c_row, a, a_row, packed ? b.packed + j * b.depth : b.in_place + j,
                     packed ? batches * width : b.row, b.depth, last, add});
    j += batches * width;
    left -= batches;
  }
}

/// The same for as many rows as one block has.
template <int Rows, class S, class T>
inline void multiply_some(int rows, const matrix_product<S>& p, T* c, index_t c_row, index_t first,
                          index_t from, const panel<T>& b, T* sliver, bool add) {
  if (rows != Rows) {
    if constexpr (Rows > 1) multiply_some<Rows / 2>(rows, p, c, c_row, first, from, b, sliver, add);
    return;
  }
  const S* a = p.a + first * p.a_row + from / parts<S> * p.a_column;
  if (p.a_column == 1) {
    multiply_rows<Rows, 1>(c, c_row, reinterpret_cast<const T*>(a), p.a_row * parts<S>, b, add);
  } else {
    pack_rows<Rows>(sliver, a, p.a_row, p.a_column, b.depth);
    multiply_rows<Rows, Rows>(c, c_row, sliver, index_t{1}, b, add);
  }
}

/// Item `index` of a batch of products.
template <class S>
inline void multiply_item(const matrix_product<S>& all, const cut& by, index_t index,
                          void* scratch) {
  using T = real_t<S>;
  constexpr index_t width = host_tile::block_width<T>;
  const matrix_product<S> p = all.at(index / (by.down * by.across));
  const index_t numbers = p.n * parts<S>;
  const index_t depth = p.k * parts<S>;
  const index_t column = index % by.across * by.columns;
  const index_t columns = std::min(by.columns, numbers - column);
  const index_t top = index / by.across % by.down * by.rows;
  const index_t rows = std::min(by.rows, p.m - top);
  const bool in_place = reads_in_place(p, rows);
  T* const packed = static_cast<T*>(scratch);
  const index_t whole = (columns + width - 1) / width * width;
  for (index_t from = 0; from < depth; from += chain<T>) {
    const index_t terms = std::min(chain<T>, depth - from);
    const S* const b = p.b + from / parts<S> * p.b_row + column / parts<S> * p.b_column;
    index_t left = whole / width;
    for (index_t j = 0; left > 0;) {
      const int batches = host_tile::next_batches(left);
      const index_t count = std::min(batches * width, columns - j);
      if (!in_place || count < batches * width) {
        pack_columns(packed + j * terms, batches * width, b + j / parts<S> * p.b_column, p.b_row,
                     p.b_column, terms, count);
      }
      j += batches * width;
      left -= batches;
    }
    panel<T> panel{nullptr, p.b_row, packed, columns, terms};
    if constexpr (!is_complex<S>) {
      if (in_place) panel.in_place = b;
    }
    T* const c = reinterpret_cast<T*>(p.c) + top * numbers + column;
    T* const sliver = packed + whole * terms;
    for (index_t i = 0; i < rows;) {
      const int some = host_tile::next_rows<T>(rows - i);
      multiply_some<host_tile::most_rows<T>>(some, p, c + i * numbers, numbers, top + i, from,
                                             panel, sliver, from > 0);
      i += some;
    }
  }
}

}  // namespace topos::detail::host_product
