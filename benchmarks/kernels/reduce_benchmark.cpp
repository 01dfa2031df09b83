// SPDX-License-Identifier: Apache-2.0

/// Reductions of 100 M floats on the CPU.

#include <benchmark/benchmark.h>

#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace {

using bench::million;
using topos::index_t;
using topos::tensor;
constexpr index_t count = 100 * million;
constexpr topos::shape<2> square{10'000, 10'000};

void sum_all(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  bench::until_ready(state, [&] { return eval(sum(x)); });
  bench::moves(state, count);
}

void max_all(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  bench::until_ready(state, [&] { return eval(max(x)); });
  bench::moves(state, count);
}

void argmax_all(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  bench::until_ready(state, [&] { return eval(argmax(x)); });
  bench::moves(state, count);
}

void mean_of(benchmark::State& state, index_t axis) {
  const auto x = bench::varied<2>(square);
  bench::until_ready(state, [&] { return eval(mean(x, axis)); });
  bench::moves(state, count);
}

void min_max(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  for (auto _ : state) {
    const auto [lo, hi] = topos::eval(min(x), max(x));
    benchmark::DoNotOptimize(lo.block_until_ready().data());
    benchmark::DoNotOptimize(hi.block_until_ready().data());
  }
  bench::moves(state, count);
}

void min_then_max(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  for (auto _ : state) {
    const auto lo = eval(min(x));
    const auto hi = eval(max(x));
    benchmark::DoNotOptimize(lo.block_until_ready().data());
    benchmark::DoNotOptimize(hi.block_until_ready().data());
  }
  bench::moves(state, 2 * count);
}

}  // namespace

BENCHMARK(sum_all)->Name("reduce/sum/topos/cpu/f32/100000000")->UseRealTime();
BENCHMARK(max_all)->Name("reduce/max/topos/cpu/f32/100000000")->UseRealTime();
BENCHMARK(argmax_all)->Name("reduce/argmax/topos/cpu/f32/100000000")->UseRealTime();
BENCHMARK_CAPTURE(mean_of, rows, 1)
    ->Name("reduce/mean_rows/topos/cpu/f32/10000x10000")
    ->UseRealTime();
BENCHMARK_CAPTURE(mean_of, columns, 0)
    ->Name("reduce/mean_columns/topos/cpu/f32/10000x10000")
    ->UseRealTime();
BENCHMARK(min_max)->Name("reduce/min_max/topos/cpu/f32/100000000")->UseRealTime();
BENCHMARK(min_then_max)->Name("reduce/min_max/two_passes/cpu/f32/100000000")->UseRealTime();
