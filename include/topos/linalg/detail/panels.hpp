// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operands of a product copied into the order in which its innermost loop reads them.
///
/// A complex matrix is packed as a real one of twice the rows and columns, so that one real product
/// computes it: see Van Zee, Smith: "Implementing High-Performance Complex Matrix Multiplication
/// via the 1m Method", SIAM J. Sci. Comput. 42 (2020).

#include <algorithm>
#include <concepts>
#include <topos/core/promotion.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/kernels/register_block.hpp>

namespace topos::detail::host_product {

/// Numbers of T that make one element of S: a complex one is two.
template <class S>
inline constexpr index_t parts = is_complex<S> ? 2 : 1;

/// to (depth x width) = columns [0, count) of b, which are apart, the rest of the width 0. The
/// steps of b's axes are in elements; depth, width and count in numbers.
template <class S, class T>
inline void transpose_columns(T* to, index_t width, const S* b, index_t row, index_t column,
                              index_t depth, index_t count) {
  if constexpr (is_complex<S>) {
    // Each row of b becomes two: b, for the real parts of a, and i b, for the imaginary ones.
    for (index_t p = 0; p < depth / 2; ++p, to += 2 * width) {
      for (index_t j = 0; j < count / 2; ++j) {
        const S value = b[p * row + j * column];
        to[2 * j] = value.real();
        to[2 * j + 1] = value.imag();
        to[width + 2 * j] = -value.imag();
        to[width + 2 * j + 1] = value.real();
      }
      std::fill(to + count, to + width, T(0));
      std::fill(to + width + count, to + 2 * width, T(0));
    }
  } else {
    turn_rows(to, width, b, {column, row}, count, depth);
    for (index_t p = 0; p < depth; ++p)
      std::fill(to + p * width + count, to + (p + 1) * width, T(0));
  }
}

/// Copies numbers by registers, the last of which is filled up with 0: rows are too short for
/// memcpy to pay.
template <class T>
inline void copy_numbers(T* to, const T* from, index_t count) {
  constexpr index_t width = host_tile::block_width<T>;
  index_t i = 0;
  for (; i + width <= count; i += width)
    host_tile::lanes_t<T>::load_unaligned(from + i).store_unaligned(to + i);
  if (i < count) host_tile::load_some(from + i, count - i).store_unaligned(to + i);
}

/// to = columns [0, columns) of b as blocks (depth x width), each after the other, with 0 up to
/// whole registers. The steps of b's axes are in elements; depth and columns in numbers.
template <class S, class T>
inline void pack_panel(T* to, const S* b, index_t row, index_t column, index_t depth,
                       index_t columns) {
  constexpr index_t register_width = host_tile::block_width<T>;
  if (std::same_as<S, T> && column == 1) {
    // Along whole rows, which processors fetch ahead.
    const T* from = reinterpret_cast<const T*>(b);
    for (index_t p = 0; p < depth; ++p, from += row) {
      host_tile::each_block<T>(columns, [&](index_t j, int batches) {
        const index_t width = batches * register_width;
        const index_t count = std::min(width, columns - j);
        copy_numbers(to + j * depth + p * width, from + j, count);
      });
    }
  } else {
    host_tile::each_block<T>(columns, [&](index_t j, int batches) {
      const index_t width = batches * register_width;
      transpose_columns(to + j * depth, width, b + j / parts<S> * column, row, column, depth,
                        std::min(width, columns - j));
    });
  }
}

/// Numbers between the copies of two rows of a, so that they do not want the same places of the
/// first-level cache.
template <class T>
inline constexpr index_t row_gap = 32 / static_cast<index_t>(sizeof(T));

/// to (rows x depth, with row_gap after each) = rows of a, `row` apart, whose numbers lie side by
/// side.
template <class T>
inline void copy_rows(T* to, const T* a, index_t row, int rows, index_t depth) {
  for (int i = 0; i < rows; ++i, to += depth + row_gap<T>, a += row) copy_numbers(to, a, depth);
}

/// to (depth x Rows) = rows of a, which are not side by side, transposed. The steps are in
/// elements, depth in numbers.
template <int Rows, class S, class T>
inline void pack_rows(T* to, const S* a, index_t row, index_t column, index_t depth) {
  if constexpr (is_complex<S>) {
    for (index_t p = 0; p < depth / 2; ++p, to += 2 * Rows) {
      for (index_t i = 0; i < Rows; ++i) {
        const S value = a[i * row + p * column];
        to[i] = value.real();
        to[Rows + i] = value.imag();
      }
    }
  } else if (row == 1) {
    for (index_t p = 0; p < depth; ++p, to += Rows) std::copy_n(a + p * column, Rows, to);
  } else {
    for (index_t p = 0; p < depth; ++p, to += Rows) {
      for (index_t i = 0; i < Rows; ++i) to[i] = a[i * row + p * column];
    }
  }
}

}  // namespace topos::detail::host_product
