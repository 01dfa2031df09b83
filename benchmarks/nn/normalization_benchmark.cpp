// SPDX-License-Identifier: Apache-2.0

/// The layer norm of a matrix of 100 M floats.

#include <benchmark/benchmark.h>

#include <topos/nn.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace normalization_benchmark {

constexpr topos::index_t extent = 10'000;

void layer_norm(benchmark::State& state) {
  const auto x = bench::varied<2>({extent, extent});
  topos::nn::layer_norm norm(extent, 1e-5f);
  norm.parameters([](const char*, auto& p) { p.set(topos::full<float, 1>({extent}, 1.0f)); });
  bench::until_ready(state, [&] { return norm(x); });
  bench::moves(state, 2 * extent * extent);
}

const bench::on_each_device registered{"reduce/layer_norm", "10000x10000", layer_norm};

}  // namespace normalization_benchmark
