// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products by topos' own kernels: on every backend, where no library is.

#include <algorithm>
#include <concepts>
#include <string_view>
#include <topos/kernels/tile.hpp>
#include <topos/linalg/detail/blocked_product.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/memory/buffer.hpp>

namespace topos::detail {

/// Rows and columns of what one item transposes, or computes on a device.
inline constexpr index_t item_rows = 64;
inline constexpr index_t item_columns = 64;

/// Multiply-adds that cost as much as touching one element.
inline constexpr index_t terms_per_cost = 32;

/// Item i transposes one block of item_columns rows of w.
struct transpose_weights_kernel {
  const float* w;  // (n, k)
  float* to;       // (k, n)
  index_t n;
  index_t k;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t first = i * item_columns;
    const index_t rows = n - first < item_columns ? n - first : item_columns;
    transpose_tile(team, to + first, n, w + first * k, k, rows, k, rows);
  }
};

/// Item i clears one row of c.
template <class T>
struct zero_kernel {
  T* c;
  index_t columns;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    assign(team, c + i * columns, constant_row<T>{T{}}, 0, columns);
  }
};

/// Item i computes one block of one product, on the host.
template <class T>
struct host_product_kernel {
  matrix_product<T> p;
  host_product::cut by;

  template <class Team>
  void operator()(const Team& team, index_t i) const {
    host_product::multiply_item(p, by, i, team.scratch());
  }
};

/// Item i computes one tile of one product, on a device: each thread some elements.
template <class T>
struct device_product_kernel {
  matrix_product<T> p;
  index_t down;
  index_t across;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t item) const {
    const matrix_product<T> one = p.at(item / (down * across));
    const index_t row = item / across % down * item_rows;
    const index_t column = item % across * item_columns;
    const index_t rows = p.m - row < item_rows ? p.m - row : item_rows;
    const index_t columns = p.n - column < item_columns ? p.n - column : item_columns;
    for (index_t element = team.rank(); element < rows * columns; element += team.threads()) {
      const index_t i = row + element / columns;
      const index_t j = column + element % columns;
      T total{};
      for (index_t q = 0; q < one.k; ++q) {
        total = multiply_add(one.a[i * one.a_row + q * one.a_column],
                             one.b[q * one.b_row + j * one.b_column], total);
      }
      one.c[i * one.n + j] = total;
    }
  }
};

/// topos' own products. An element's bits depend on its row, column and k alone.
struct builtin_provider {
  static constexpr std::string_view name = "built-in";

  struct weights {
    buffer transposed;  // (k, n)
  };

  template <class Stream>
  static weights prepare(const Stream& stream, const buffer& w, index_t n, index_t k) {
    weights made{buffer(w.where(), static_cast<std::size_t>(n * k) * sizeof(float))};
    stream.for_each("topos::matmul::prepare", (n + item_columns - 1) / item_columns,
                    item_columns * k, 0,
                    transpose_weights_kernel{static_cast<const float*>(w.data()),
                                             static_cast<float*>(made.transposed.data()), n, k});
    return made;
  }

  template <class Stream>
  static void run(const Stream& stream, const weights& w, const product& p) {
    if (p.m == 0 || p.n == 0) return;
    if (p.k == 0) {
      stream.for_each("topos::matmul::zero", p.m, p.n, 0, zero_kernel<float>{p.y, p.n});
    } else {
      multiply(stream, matrix_product<float>{.a = p.x,
                                             .b = static_cast<const float*>(w.transposed.data()),
                                             .c = p.y,
                                             .m = p.m,
                                             .n = p.n,
                                             .k = p.k,
                                             .a_row = p.k,
                                             .a_column = 1,
                                             .b_row = p.n,
                                             .b_column = 1});
    }
    run_epilogue(stream, p);
  }

  /// All types but the sixteen-bit ones: those are multiplied as float.
  template <class T>
  static constexpr bool multiplies = !is_half<T>;
  template <class T>
  [[nodiscard]] static constexpr bool works() {
    return true;
  }

  template <class Stream, class T>
  static void multiply(const Stream& stream, const matrix_product<T>& p) {
    if constexpr (std::same_as<typename Stream::backend, backend::host>) {
      // As many threads as find work enough.
      const index_t work = p.batch() * p.m * p.n * p.k * host_product::parts<T> / terms_per_cost;
      const index_t threads = stream.crew().size();
      const host_product::cut by =
          host_product::cut_of(p, std::clamp<index_t>(2 * work / Stream::small_work, 1, threads));
      const index_t cost = std::max<index_t>(
          1, by.rows * by.columns / host_product::parts<T> * p.k / terms_per_cost);
      stream.for_each("topos::matmul", p.batch() * by.down * by.across, cost,
                      host_product::scratch_bytes(p, by), host_product_kernel<T>{p, by});
    } else {
      const index_t down = (p.m + item_rows - 1) / item_rows;
      const index_t across = (p.n + item_columns - 1) / item_columns;
      stream.for_each("topos::matmul", p.batch() * down * across, item_rows * item_columns * p.k, 0,
                      device_product_kernel<T>{p, down, across});
    }
  }
};

}  // namespace topos::detail
