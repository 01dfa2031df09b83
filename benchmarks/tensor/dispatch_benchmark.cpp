// SPDX-License-Identifier: Apache-2.0

/// What it costs to have work done, however little, and until control is back.

#include <benchmark/benchmark.h>

#include <topos/topos.hpp>

#include "../array.hpp"

namespace dispatch_benchmark {

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

const bench::on_each_device registered[]{
    {"dispatch/add", "16", add, bench::timing::manual},
    {"dispatch/add_wait", "16", add_wait},
    {"dispatch/sqrt_log", "10000000", sqrt_log, bench::timing::manual_of_few},
};

}  // namespace dispatch_benchmark
