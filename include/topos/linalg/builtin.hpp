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

/// Item i adds what some chains of terms of row i of c have come to, one chain after the other.
template <class T>
struct add_chains_kernel {
  T* c;
  const T* sums;  // chains x rows x columns
  index_t chains;
  index_t rows;
  index_t columns;
  bool add;  // to what c has

  template <class Team>
  void operator()(const Team& /*team*/, index_t i) const {
    T* const to = c + i * columns;
    const T* from = sums + i * columns;
    if (!add) std::copy_n(from, columns, to);
    for (index_t chain = add ? 0 : 1; chain < chains; ++chain) {
      const T* const next = from + chain * rows * columns;
      for (index_t j = 0; j < columns; ++j) {
        if constexpr (is_complex<T>)
          to[j] += next[j];
        else
          to[j] = multiply_add(next[j], T(1), to[j]);
      }
    }
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
      if (host_product::chains_apart(p, threads_for(stream, p)))
        multiply_chains(stream, p);
      else
        multiply_at_once(stream, p);
    } else {
      const index_t down = (p.m + item_rows - 1) / item_rows;
      const index_t across = (p.n + item_columns - 1) / item_columns;
      stream.for_each("topos::matmul", p.batch() * down * across, item_rows * item_columns * p.k, 0,
                      device_product_kernel<T>{p, down, across});
    }
  }

 private:
  // As many threads as find work enough.
  template <class Stream, class T>
  static index_t threads_for(const Stream& stream, const matrix_product<T>& p) {
    const index_t work = p.batch() * p.m * p.n * p.k * host_product::parts<T> / terms_per_cost;
    return std::clamp<index_t>(2 * work / Stream::small_work, 1, stream.crew().size());
  }

  template <class Stream, class T>
  static void multiply_at_once(const Stream& stream, const matrix_product<T>& p) {
    const host_product::cut by = host_product::cut_of(p, threads_for(stream, p));
    const index_t cost =
        std::max<index_t>(1, by.rows * by.columns / host_product::parts<T> * p.k / terms_per_cost);
    stream.for_each("topos::matmul", p.batch() * by.down * by.across, cost,
                    host_product::scratch_bytes(p, by), host_product_kernel<T>{p, by});
  }

  // A product of few elements and many terms: its chains as a batch of products, some at a time,
  // whose results are added in the order of the chains.
  template <class Stream, class T>
  static void multiply_chains(const Stream& stream, const matrix_product<T>& p) {
    constexpr index_t terms = host_product::chain_terms<T>;
    const index_t size = p.m * p.n;
    const index_t most = std::max<index_t>(64, (index_t{1} << 18) / size);  // chains at a time
    const index_t chains = (p.k + terms - 1) / terms;
    const buffer memory(cpu(), static_cast<std::size_t>(std::min(most, chains) * size) * sizeof(T));
    T* const sums = static_cast<T*>(memory.data());
    for (index_t first = 0; first < chains; first += most) {
      const index_t count = std::min(most, chains - first);
      const index_t whole = std::min(count, p.k / terms - first);
      matrix_product<T> some = p;
      some.c = sums;
      some.k = terms;
      some.a += first * terms * p.a_column;
      some.b += first * terms * p.b_row;
      matrix_product<T> last = some;  // of fewer terms
      some.axes = 1;
      some.extents[0] = whole;
      some.a_steps[0] = terms * p.a_column;
      some.b_steps[0] = terms * p.b_row;
      if (whole > 0) multiply_at_once(stream, some);
      if (whole < count) {
        last.a += whole * some.a_steps[0];
        last.b += whole * some.b_steps[0];
        last.c += whole * size;
        last.k = p.k % terms;
        multiply_at_once(stream, last);
      }
      stream.for_each("topos::matmul", p.m, p.n * count, 0,
                      add_chains_kernel<T>{p.c, sums, count, p.m, p.n, first > 0});
    }
  }
};

}  // namespace topos::detail
