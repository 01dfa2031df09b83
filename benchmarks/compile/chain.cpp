// SPDX-License-Identifier: Apache-2.0

/// A small program: one chain of operations, as one translation unit pays for it.

#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>

topos::tensor<float, 1> chain(topos::index_t n) {
  const auto x = topos::linspace<float>(0, 100, n);
  return sqrt(x) - log(abs(x));
}
