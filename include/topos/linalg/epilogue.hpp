// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bias and activation as a kernel, for providers that cannot fuse them.

#include <topos/kernels/rows.hpp>
#include <topos/linalg/product.hpp>

namespace topos::detail {

/// A row of n numbers becomes act of them.
template <class Team>
KOKKOS_FUNCTION void activate(const Team& team, activation act, float* y, index_t n) {
  const memory_row<float> own{{y}};
  if (act == activation::gelu) assign(team, y, make_row(gelu_op{}, own), 0, n);
}

/// Row i of y becomes act(y + bias).
struct epilogue_kernel {
  product p;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    float* y = p.y + i * p.n;
    const memory_row<float> own{{y}};
    const memory_row<float> bias{{p.bias}};
    if (p.bias == nullptr) return activate(team, p.act, y, p.n);
    const auto biased = make_row(add_op{}, own, bias);
    if (p.act == activation::gelu) {
      assign(team, y, make_row(gelu_op{}, biased), 0, p.n);
    } else {
      assign(team, y, biased, 0, p.n);
    }
  }
};

/// Applies bias and activation to the product that lies in p.y.
template <class Stream>
void run_epilogue(const Stream& stream, const product& p) {
  if (p.bias == nullptr && p.act == activation::none) return;
  stream.for_each("topos::matmul::epilogue", p.m, p.n, 0, epilogue_kernel{p});
}

}  // namespace topos::detail
