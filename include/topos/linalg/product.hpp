// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The contract of the providers of matrix products.

#include <algorithm>
#include <limits>
#include <topos/core/config.hpp>
#include <topos/linalg/activation.hpp>

namespace topos::detail {

/// The most rows, or products, that a library is asked for at once: they count in int.
inline constexpr index_t most_at_once = index_t{1} << 30;

/// One product with prepared weights, as a provider runs it: y = act(x w^T + bias), in float.
///
/// A provider of these is a type with
///
///     struct weights                           w in the provider's own layout
///     static weights prepare(stream, w, n, k)  from a buffer (n, k), row-major; may keep it
///     static void run(stream, weights, product)
///
/// where `prepare` and `run` are called in queue order, from the queue's own thread; m is at most
/// `most_at_once`, and n and k fit an int.
struct product {
  const float* x = nullptr;     ///< (m, k), row-major
  float* y = nullptr;           ///< (m, n), row-major
  const float* bias = nullptr;  ///< (n), or null
  index_t m = 0;
  index_t n = 0;
  index_t k = 0;
  activation act = activation::none;
};

/// A batch of products, as a provider runs it: c = a b for each place along the batch's axes.
///
/// A provider of these has
///
///     name                                             as matmul_provider gives it
///     template <class T> static constexpr bool multiplies   whether it does this type
///     template <class T> static bool works()                and on this machine
///     static void multiply(stream, matrix_product<T>)  m, n, k and the batch are not empty, and
///                                                      what is no step of the batch fits an int
///
/// Each of a and b has one axis of step 1; the other's step is at least the extent of that one.
template <class T>
struct matrix_product {
  static constexpr int most_axes = 6;

  const T* a = nullptr;  ///< (m, k)
  const T* b = nullptr;  ///< (k, n)
  T* c = nullptr;        ///< (m, n), row-major, the batch one after the other
  index_t m = 0;
  index_t n = 0;
  index_t k = 0;
  index_t a_row = 0;  ///< steps of the axes, in elements
  index_t a_column = 0;
  index_t b_row = 0;
  index_t b_column = 0;
  int axes = 0;  ///< of the batch, the last one innermost
  index_t extents[most_axes] = {};
  index_t a_steps[most_axes] = {};  ///< 0: the same matrix all along the axis
  index_t b_steps[most_axes] = {};

  /// How many products there are.
  [[nodiscard]] KOKKOS_FUNCTION index_t batch() const {
    index_t count = 1;
    for (int axis = 0; axis < axes; ++axis) count *= extents[axis];
    return count;
  }

  /// Whether the extents and steps of the matrices are what libraries take.
  [[nodiscard]] bool fits_int() const {
    const index_t largest = std::max({m, n, k, a_row, a_column, b_row, b_column});
    return largest <= std::numeric_limits<int>::max();
  }

  /// Product `index` of the batch, alone.
  [[nodiscard]] KOKKOS_FUNCTION matrix_product at(index_t index) const {
    matrix_product one = *this;
    one.axes = 0;
    one.c += index * m * n;
    for (int axis = axes; axis-- > 0;) {
      one.a += index % extents[axis] * a_steps[axis];
      one.b += index % extents[axis] * b_steps[axis];
      index /= extents[axis];
    }
    return one;
  }
};

}  // namespace topos::detail
