// SPDX-License-Identifier: Apache-2.0

/// Fused elementwise work on the CPU.

#include <benchmark/benchmark.h>

#include <topos/topos.hpp>

#include "../array.hpp"

namespace {

using bench::million;
using topos::tensor;
constexpr topos::index_t count = 10 * million;

template <class X>
auto chain(const X& x) {
  return pow(x, 0.5f) - log(abs(x));
}

void linspace_sqrt_log(benchmark::State& state) {
  bench::until_ready(state, [] {
    return tensor<float, 1>(chain(topos::linspace<float>(0, 100, count, topos::cpu())));
  });
  bench::moves(state, count);
}

void sqrt_log(benchmark::State& state) {
  const tensor<float, 1> x(topos::linspace<float>(0, 100, count, topos::cpu()));
  bench::until_ready(state, [&] { return tensor<float, 1>(chain(x)); });
  bench::moves(state, 2 * count);
  state.counters["peak_bytes"] = static_cast<double>(topos::memory_stats(topos::cpu()).peak);
}

void sqrt_log_into(benchmark::State& state) {
  const tensor<float, 1> x(topos::linspace<float>(0, 100, count, topos::cpu()));
  tensor<float, 1> y({count}, topos::cpu());
  for (auto _ : state) {
    y.slice(topos::range{}) = chain(x);
    benchmark::DoNotOptimize(y.block_until_ready().data());
  }
  bench::moves(state, 2 * count);
}

void powers(benchmark::State& state) {
  const auto x = bench::varied<1>({100 * million});
  bench::until_ready(state, [&] { return tensor<float, 1>(pow(pow(x, 2) - 0.5f, 3) - 0.2f); });
  bench::moves(state, 200 * million);
}

void select(benchmark::State& state) {
  const auto x = bench::varied<1>({count}, -1.0f);
  const auto y = bench::varied<1>({count});
  bench::until_ready(state, [&] { return tensor<float, 1>(where(x > 0.0f, x, y)); });
  bench::moves(state, 3 * count);
}

}  // namespace

BENCHMARK(linspace_sqrt_log)->Name("map/linspace_sqrt_log/topos/cpu/f32/10000000")->UseRealTime();
BENCHMARK(sqrt_log)->Name("map/sqrt_log/topos/cpu/f32/10000000")->UseRealTime();
BENCHMARK(sqrt_log_into)->Name("map/sqrt_log_into/topos/cpu/f32/10000000")->UseRealTime();
BENCHMARK(powers)->Name("map/powers/topos/cpu/f32/100000000")->UseRealTime();
BENCHMARK(select)->Name("map/where/topos/cpu/f32/10000000")->UseRealTime();
