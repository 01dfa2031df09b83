// SPDX-License-Identifier: Apache-2.0

/// The layer norm of a matrix of 100 M floats on the CPU.

#include <benchmark/benchmark.h>

#include <topos/nn.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace normalization_benchmark {

constexpr topos::index_t extent = 10'000;

void layer_norm(benchmark::State& state) {
  const auto x = bench::varied<2>({extent, extent});
  topos::nn::layer_norm norm(extent, 1e-5f, topos::cpu());
  norm.parameters([](const char*, auto& p) { p.set(topos::full<float, 1>({extent}, 1.0f)); });
  bench::until_ready(state, [&] { return norm(x); });
  bench::moves(state, 2 * extent * extent);
}

BENCHMARK(layer_norm)->Name("reduce/layer_norm/topos/cpu/f32/10000x10000")->UseRealTime();

}  // namespace normalization_benchmark
