// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many products of matrices of a few elements, on the host: what a library needs to begin each
/// would be most of it.

#include <algorithm>
#include <topos/kernels/register_block.hpp>
#include <topos/linalg/product.hpp>

namespace topos::detail {

/// Whether products are of so few elements.
template <class T>
[[nodiscard]] bool are_small(const matrix_product<T>& p) {
  constexpr index_t most_columns = 4;
  constexpr index_t most_terms = 64;
  return p.axes > 0 && p.n <= most_columns && p.m * p.n * p.k <= most_terms;
}

/// Item i computes some of them, each element term by term in order.
template <class T>
struct small_products_kernel {
  matrix_product<T> p;
  index_t each;  // products of an item

  /// Of items of about as much work as others have.
  explicit small_products_kernel(const matrix_product<T>& all)
      : p(all), each(std::max<index_t>(1, 4096 / std::max<index_t>(1, all.m * all.n * all.k))) {}
  [[nodiscard]] index_t items() const { return (p.batch() + each - 1) / each; }
  [[nodiscard]] index_t cost() const { return each * p.m * p.n * p.k; }

  template <class Team>
  void operator()(const Team& /*team*/, index_t i) const {
    const index_t first = i * each;
    const index_t past = std::min(first + each, p.batch());
    switch (p.n) {
      case 1:
        return multiply<1>(first, past);
      case 2:
        return multiply<2>(first, past);
      case 3:
        return multiply<3>(first, past);
      default:
        return multiply<4>(first, past);
    }
  }

 private:
  template <int Columns>
  void multiply(index_t first, index_t past) const {
    const int last = p.axes - 1;
    while (first < past) {
      matrix_product<T> one = p.at(first);
      const index_t run = std::min(past - first, p.extents[last] - first % p.extents[last]);
      for (index_t k = 0; k < run; ++k) {
        multiply_one<Columns>(one);
        one.a += p.a_steps[last];
        one.b += p.b_steps[last];
        one.c += p.m * p.n;
      }
      first += run;
    }
  }
  template <int Columns>
  static void multiply_one(const matrix_product<T>& one) {
    for (index_t i = 0; i < one.m; ++i) {
      T row[Columns] = {};
      for (index_t q = 0; q < one.k; ++q) {
        const T factor = one.a[i * one.a_row + q * one.a_column];
        for (int j = 0; j < Columns; ++j)
          row[j] = multiply_add(factor, one.b[q * one.b_row + j * one.b_column], row[j]);
      }
      std::copy_n(row, Columns, one.c + i * Columns);
    }
  }
};

}  // namespace topos::detail
