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
#include <limits>
#include <topos/backend/host.hpp>
#include <topos/linalg/detail/panels.hpp>
#include <topos/linalg/product.hpp>

namespace topos::detail::host_product {

/// Terms that an element sums in one chain; the chains of one element are added one after the
/// other. The same on every machine, for an element's bits depend on it.
template <class T>
inline constexpr index_t chain = 2048 / static_cast<index_t>(sizeof(T));

/// Bytes of the second-level cache of one core, or a guess.
[[nodiscard]] inline index_t second_level_cache() {
  static const index_t bytes = [] {
    index_t known = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    known = static_cast<index_t>(::sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
    return known > 0 ? known : index_t{1} << 20;
  }();
  return bytes;
}

/// Columns of a panel of b, of `chain` rows, that take a good half of the second-level cache.
[[nodiscard]] inline index_t panel_columns() {
  return std::clamp<index_t>(second_level_cache() * 9 / 16 / 2048 / 48 * 48, 96, 1152);
}

/// How a batch of products is cut into items.
struct cut {
  index_t rows;         ///< of one item
  index_t columns;      ///< of one item, in numbers
  index_t down;         ///< items along m
  index_t across;       ///< items along n
  bool turned = false;  ///< lanes are those of rows of a, not of columns of b
};

/// Columns of a strip: as many as a register block has.
template <class T>
inline constexpr index_t strip = host_tile::most_batches<T>* host_tile::block_width<T>;

/// Whether to compute the transpose of a product takes less time: where rows of a lie side by side,
/// and b has too few columns for lanes. No bits depend on it.
template <class S>
[[nodiscard]] bool turning_pays(const matrix_product<S>& p) {
  if constexpr (is_complex<S> || !host_tile::has_simd<real_t<S>>) {
    return false;
  } else {
    constexpr index_t width = host_tile::block_width<S>;
    // In multiply-adds of a batch, but for what turns the result back.
    const auto batches = [](index_t count) { return (count + width - 1) / width; };
    return p.a_row == 1 && batches(p.m) * p.n + p.m * p.n * 2 / p.k < p.m * batches(p.n);
  }
}

/// Whether blocks may read b where it lies: in numbers of T, in rows, and small enough for the
/// second-level cache however its rows are spread.
template <class S>
[[nodiscard]] bool reads_in_place(const matrix_product<S>& p, index_t rows) {
  if constexpr (is_complex<S>) return false;
  if (p.b_column != 1) return false;
  return rows <= 2 * host_tile::most_rows<S> ||
         p.k * p.b_row * static_cast<index_t>(sizeof(S)) <= second_level_cache() * 3 / 16;
}

/// The cut that takes so many threads the least time, as far as can be told: each item packs its
/// panel of b for itself, for which many rows pay, and its rows of a, for which many columns do;
/// and some items for each thread make up for a core that is busy otherwise. No bits depend on it.
template <class S>
[[nodiscard]] cut cut_of(const matrix_product<S>& p, index_t threads) {
  using T = real_t<S>;
  // What packing costs, in rows or columns that are multiplied in the same time: measured.
  constexpr index_t rows_of_packing = 40;
  constexpr index_t columns_of_packing = 4;
  const auto ceil = [](index_t x, index_t by) { return (x + by - 1) / by; };
  const auto round = [&](index_t x, index_t to) { return ceil(x, to) * to; };
  const index_t numbers = p.n * parts<S>;
  const index_t least_across = ceil(numbers, panel_columns());
  const auto cut_into = [&](index_t down, index_t across) {
    cut c{round(ceil(p.m, down), host_tile::most_rows<T>),
          round(ceil(numbers, across), host_tile::block_width<T>), 1, 1};
    c.down = ceil(p.m, c.rows);
    c.across = ceil(numbers, c.columns);
    return c;
  };
  if (turning_pays(p)) {
    const index_t each = ceil(p.m * p.batch(), 4 * threads);  // of rows, for an item
    cut c{std::min(round(each, strip<T>), p.m), numbers, 1, 1, true};
    c.down = ceil(p.m, c.rows);
    return c;
  }
  cut best = cut_into(1, least_across);
  if (threads == 1) return best;
  const index_t packed = reads_in_place(p, p.m) ? 0 : rows_of_packing;
  double least_time = std::numeric_limits<double>::max();
  for (index_t more = 0; more < std::min<index_t>(threads, 16); ++more) {
    for (index_t each = 1; each <= 4; each *= 2) {  // items for each thread
      const index_t across = least_across + more;
      const cut c = cut_into(ceil(each * threads, p.batch() * across), across);
      const auto rounds = static_cast<double>(ceil(p.batch() * c.down * c.across, threads));
      const double time = (rounds + 1. / 16) * static_cast<double>(c.rows + packed) *
                          static_cast<double>(c.columns + columns_of_packing);
      if (time < least_time) best = c;
      least_time = std::min(least_time, time);
    }
  }
  return best;
}

/// Elements along k that make one chain.
template <class S>
inline constexpr index_t chain_terms = chain<real_t<S>> / parts<S>;

/// Whether several threads take the chains of a product apart, not its rows or columns, of which
/// it has few: each of them would have to pack the other operand whole. No bits depend on it.
template <class S>
[[nodiscard]] bool chains_apart(const matrix_product<S>& p, index_t threads) {
  constexpr index_t few = 128 * 128;
  return threads > 1 && p.axes == 0 && p.m * p.n <= few && p.k >= 8 * chain_terms<S>;
}

/// Bytes of scratch memory of one item: a panel of b and some rows of a; or strips of the turned
/// product.
template <class S>
[[nodiscard]] std::size_t scratch_bytes(const matrix_product<S>& p, const cut& c) {
  using T = real_t<S>;
  const index_t depth = std::min(p.k * parts<S>, chain<T>);
  const index_t columns = (c.turned ? strip<T> : c.columns) + host_tile::block_width<T>;
  const index_t rows = host_tile::most_rows<T>;
  const index_t last = host_tile::block_width<T>;  // of a row, filled up
  const index_t turned = c.turned ? p.n * strip<T> : 0;
  return static_cast<std::size_t>(depth * columns + rows * (depth + row_gap<T>)+last + turned) *
         sizeof(T);
}

/// A panel of b: blocks of columns, each with its own start, as each_block gives them.
template <class T>
struct panel {
  const T* in_place;  ///< null: all is packed
  index_t row;        ///< the distance of rows in place
  const T* packed;
  index_t columns;
  index_t depth;
};

/// From how many columns on a copy of the rows of a pays.
template <class T>
inline constexpr index_t least_columns_of_copy = 12 * host_tile::block_width<T>;

/// Some rows of c against a panel of b.
template <int Rows, int Step, class T>
inline void multiply_rows(T* c, index_t c_row, const T* a, index_t a_row, const panel<T>& b,
                          bool add) {
  constexpr index_t width = host_tile::block_width<T>;
  host_tile::each_block<T>(b.columns, [&](index_t j, int batches) {
    const index_t before = (batches - 1) * width;
    const index_t last = std::min(width, b.columns - j - before);
    const bool packed = b.in_place == nullptr || last < width;
    host_tile::block_arguments<T> of{c + j,
                                     c_row,
                                     a,
                                     a_row,
                                     packed ? b.packed + j * b.depth : b.in_place + j,
                                     packed ? batches * width : b.row,
                                     b.depth,
                                     last,
                                     add};
    if constexpr (lane::has_halves<T>) {
      if (last <= width / 2) {
        of.last = width;
        if (batches > 1) host_tile::block_of<Rows, Step>(batches - 1, of);
        of.c += before;
        of.b += before;
        of.last = last;
        return host_tile::block<Rows, 1, Step, lane::half_batch<T>>(of);
      }
    }
    host_tile::block_of<Rows, Step>(batches, of);
  });
}

/// The same for as many rows as one block has.
template <int Rows, class S, class T>
inline void multiply_some(int rows, const matrix_product<S>& p, T* c, index_t c_row, index_t first,
                          index_t from, const panel<T>& b, T* sliver, bool add) {
  if (rows != Rows) {
    if constexpr (Rows > 1) {
      multiply_some<host_tile::fewer_rows(Rows)>(rows, p, c, c_row, first, from, b, sliver, add);
    }
    return;
  }
  const S* a = p.a + first * p.a_row + from / parts<S> * p.a_column;
  if (p.a_column == 1) {
    const T* const numbers = reinterpret_cast<const T*>(a);
    const index_t row = p.a_row * parts<S>;
    // Rows at the distance of a power of two would want the same places of the first-level cache.
    if (b.columns < least_columns_of_copy<T>)
      return multiply_rows<Rows, 1>(c, c_row, numbers, row, b, add);
    copy_rows(sliver, numbers, row, Rows, b.depth);
    multiply_rows<Rows, 1>(c, c_row, sliver, b.depth + row_gap<T>, b, add);
  } else {
    pack_rows<Rows>(sliver, a, p.a_row, p.a_column, b.depth);
    multiply_rows<Rows, Rows>(c, c_row, sliver, index_t{1}, b, add);
  }
}

/// Rows [top, top + rows) of a against columns [column, column + columns) of b, in numbers, to c.
template <class S, class T>
inline void multiply_part(const matrix_product<S>& p, index_t top, index_t rows, index_t column,
                          index_t columns, T* c, index_t c_row, T* scratch) {
  constexpr index_t width = host_tile::block_width<T>;
  const index_t depth = p.k * parts<S>;
  const bool in_place = reads_in_place(p, rows);
  T* const packed = scratch;
  const index_t whole = (columns + width - 1) / width * width;
  for (index_t from = 0; from < depth; from += chain<T>) {
    const index_t terms = std::min(chain<T>, depth - from);
    const S* const b = p.b + from / parts<S> * p.b_row + column / parts<S> * p.b_column;
    if (!in_place) {
      pack_panel(packed, b, p.b_row, p.b_column, terms, columns);
    } else if (columns < whole) {
      host_tile::each_block<T>(columns, [&](index_t j, int batches) {
        if (j + batches * width > columns)
          pack_panel(packed + j * terms, b + j, p.b_row, p.b_column, terms, columns - j);
      });
    }
    panel<T> panel{nullptr, p.b_row, packed, columns, terms};
    if constexpr (!is_complex<S>) {
      if (in_place) panel.in_place = b;
    }
    T* const sliver = packed + whole * terms;
    for (index_t i = 0; i < rows;) {
      const int some = host_tile::next_rows<T>(rows - i);
      multiply_some<host_tile::most_rows<T>>(some, p, c + i * c_row, c_row, top + i, from, panel,
                                             sliver, from > 0);
      i += some;
    }
  }
}

/// Rows [top, past) of a product, by strips of the transpose of it.
template <class T>
inline void multiply_turned(const matrix_product<T>& p, index_t top, index_t past, T* scratch) {
  const matrix_product<T> turned{.a = p.b,
                                 .b = p.a,
                                 .m = p.n,
                                 .n = p.m,
                                 .k = p.k,
                                 .a_row = p.b_column,
                                 .a_column = p.b_row,
                                 .b_row = p.a_column,
                                 .b_column = p.a_row};
  for (; top < past; top += strip<T>) {
    const index_t rows = std::min(strip<T>, past - top);
    multiply_part(turned, 0, p.n, top, rows, scratch, strip<T>, scratch + p.n * strip<T>);
    detail::copy_rows(p.c + top * p.n, {p.n, 1}, scratch, {1, strip<T>}, rows, p.n);
  }
}

/// Item `index` of a batch of products.
template <class S>
inline void multiply_item(const matrix_product<S>& all, const cut& by, index_t index,
                          void* scratch) {
  using T = real_t<S>;
  const matrix_product<S> p = all.at(index / (by.down * by.across));
  const index_t top = index / by.across % by.down * by.rows;
  const index_t past = std::min(top + by.rows, p.m);
  if constexpr (!is_complex<S> && host_tile::has_simd<T>) {
    if (by.turned) return multiply_turned(p, top, past, static_cast<T*>(scratch));
  }
  const index_t numbers = p.n * parts<S>;
  const index_t column = index % by.across * by.columns;
  T* const c = reinterpret_cast<T*>(p.c) + top * numbers + column;
  multiply_part(p, top, past - top, column, std::min(by.columns, numbers - column), c, numbers,
                static_cast<T*>(scratch));
}

}  // namespace topos::detail::host_product
