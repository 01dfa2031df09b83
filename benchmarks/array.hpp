// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operands and measurements that the benchmarks of the array core share.

#include <benchmark/benchmark.h>

#include <chrono>
#include <topos/random/uniform.hpp>
#include <topos/topos.hpp>

#include "registry.hpp"

namespace bench {

inline constexpr topos::index_t million = 1'000'000;

/// Floats without a pattern in [0, 1), or of a range, computed already.
template <std::size_t Rank>
topos::tensor<float, Rank> varied(topos::shape<Rank> extents, float lowest = 0.0f,
                                  float highest = 1.0f) {
  topos::tensor<float, Rank> x(
      topos::random::uniform<float>(topos::random::key{1}, extents, {lowest, highest}));
  x.block_until_ready();
  return x;
}

/// The same in another type.
template <class T>
topos::tensor<T, 1> varied_as(topos::index_t count, float lowest = 0.0f, float highest = 1.0f) {
  topos::tensor<T, 1> x(topos::astype<T>(varied<1>({count}, lowest, highest)));
  x.block_until_ready();
  return x;
}

/// Times compute(), which gives a tensor, until its content is there.
template <class Compute>
void until_ready(benchmark::State& state, Compute compute) {
  for (auto _ : state) benchmark::DoNotOptimize(compute().block_until_ready().data());
}

/// Times compute() until it returns; that its content is there is waited for outside of the time.
/// For benchmarks with manual time.
template <class Compute>
void until_back(benchmark::State& state, Compute compute) {
  using clock = std::chrono::steady_clock;
  compute().block_until_ready();
  for (auto _ : state) {
    const clock::time_point start = clock::now();
    const auto y = compute();
    state.SetIterationTime(std::chrono::duration<double>(clock::now() - start).count());
    y.block_until_ready();
  }
}

/// Counts the bytes that one iteration reads and writes.
template <class T = float>
void moves(benchmark::State& state, topos::index_t numbers) {
  state.SetBytesProcessed(state.iterations() * numbers * static_cast<topos::index_t>(sizeof(T)));
}

}  // namespace bench
