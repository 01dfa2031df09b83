// SPDX-License-Identifier: Apache-2.0

/// Reductions of 100 M floats.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/softmax.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace reduce_benchmark {

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

// Of an array in the caches, where what it takes to launch a kernel counts.
void sum_in_cache(benchmark::State& state) {
  constexpr topos::index_t size = 131'072;
  const auto x = bench::varied<1>({size});
  bench::until_ready(state, [&] { return eval(sum(x)); });
  bench::moves(state, size);
}

// Of a sixteen-bit type, added in float.
template <class T>
void sum_halves(benchmark::State& state) {
  const auto x = bench::varied_as<T>(count);
  bench::until_ready(state, [&] { return eval(sum(x)); });
  bench::moves<T>(state, count);
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

// Squares of the distances of all points of two sets, as k-means and nearest neighbours take.
void distances(benchmark::State& state) {
  const auto x = bench::varied<2>({2000, 64});
  const auto y = bench::varied<2>({500, 64});
  bench::until_ready(state, [&] { return eval(sum(topos::square(expand_dims(x, 1) - y), 2)); });
}

// Of rows shorter than what a CPU takes to find one's.
void argmax_rows(benchmark::State& state) {
  const auto x = bench::varied<2>({500'000, 16});
  bench::until_ready(state, [&] { return eval(argmax(x, 1)); });
  bench::moves(state, x.size());
}

void mean_of(benchmark::State& state, index_t axis) {
  const auto x = bench::varied<2>(square);
  bench::until_ready(state, [&] { return eval(mean(x, axis)); });
  bench::moves(state, count);
}
void mean_rows(benchmark::State& state) { mean_of(state, 1); }
void mean_columns(benchmark::State& state) { mean_of(state, 0); }

// Of each channel, over axes that the channels part.
void mean_channels(benchmark::State& state) {
  const auto x = bench::varied<3>({100, 1000, 100});
  bench::until_ready(state, [&] { return eval(mean(x, {0, 2})); });
  bench::moves(state, 10 * million);
}

void mean_of_bytes(benchmark::State& state) {
  const auto x = bench::varied_as<std::uint8_t>(10 * million, 0.0f, 255.0f);
  bench::until_ready(state, [&] { return eval(mean(x)); });
  bench::moves<std::uint8_t>(state, 10 * million);
}

void softmax_rows(benchmark::State& state) {
  const auto x = bench::varied<2>(square);
  bench::until_ready(state, [&] { return softmax(x); });
  bench::moves(state, 2 * count);
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

const bench::on_each_device registered[]{
    {"reduce/sum", "100000000", sum_all},
    {"reduce/sum", "131072", sum_in_cache},
    {"reduce/sum", "100000000", sum_halves<topos::bf16>, bench::timing::real, "topos", "bf16"},
    {"reduce/sum", "100000000", sum_halves<topos::f16>, bench::timing::real, "topos", "f16"},
    {"reduce/max", "100000000", max_all},
    {"reduce/argmax", "100000000", argmax_all},
    {"reduce/argmax_rows", "500000x16", argmax_rows},
    {"reduce/distances", "2000x500x64", distances},
    {"reduce/mean_rows", "10000x10000", mean_rows},
    {"reduce/mean_columns", "10000x10000", mean_columns},
    {"reduce/mean_channels", "100x1000x100", mean_channels},
    {"reduce/mean", "10000000", mean_of_bytes, bench::timing::real, "topos", "u8"},
    {"reduce/softmax", "10000x10000", softmax_rows},
    {"reduce/min_max", "100000000", min_max},
    {"reduce/min_max", "100000000", min_then_max, bench::timing::real, "two_passes"},
};

}  // namespace reduce_benchmark
