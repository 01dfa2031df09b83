// SPDX-License-Identifier: Apache-2.0

/// What it costs to have work done on the CPU, however little, and until control is back.

#include <benchmark/benchmark.h>

#include <topos/topos.hpp>

#include "../array.hpp"

namespace {

using topos::tensor;

void add(benchmark::State& state) {
  const auto x = bench::varied<1>({16});
  bench::until_back(state, [&] { return tensor<float, 1>(x + 1.0f); });
}

void add_wait(benchmark::State& state) {
  const auto x = bench::varied<1>({16});
  bench::until_ready(state, [&] { return tensor<float, 1>(x + 1.0f); });
}

void sqrt_log(benchmark::State& state) {
  const auto x = bench::varied<1>({10 * bench::million}, 0.0f, 100.0f);
  bench::until_back(state, [&] { return tensor<float, 1>(pow(x, 0.5f) - log(abs(x))); });
}

}  // namespace

BENCHMARK(add)->Name("dispatch/add/topos/cpu/f32/16")->UseManualTime();
BENCHMARK(add_wait)->Name("dispatch/add_wait/topos/cpu/f32/16")->UseRealTime();
BENCHMARK(sqrt_log)->Name("dispatch/sqrt_log/topos/cpu/f32/10000000")->UseManualTime();
