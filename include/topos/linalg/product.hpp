// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The contract of the providers of matrix products.

#include <topos/core/config.hpp>
#include <topos/linalg/activation.hpp>

namespace topos::detail {

/// One product with prepared weights, as a provider runs it: y = act(x w^T + bias), in float.
///
/// A provider is a type with
///
///     struct weights                           w in the provider's own layout
///     static weights prepare(buffer w, n, k)   from row-major (n, k) memory; may keep w itself
///     static void run(stream, weights, product)
///
/// where `prepare` and `run` are called in queue order, from the queue's own thread.
struct product {
  const float* x = nullptr;     ///< (m, k), row-major
  float* y = nullptr;           ///< (m, n), row-major
  const float* bias = nullptr;  ///< (n), or null
  index_t m = 0;
  index_t n = 0;
  index_t k = 0;
  activation act = activation::none;
};

}  // namespace topos::detail
