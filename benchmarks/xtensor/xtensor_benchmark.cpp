// SPDX-License-Identifier: Apache-2.0

/// The chain of a map in xtensor, which computes it lazily and in one pass, as topos does.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

namespace {

constexpr std::size_t count = 10'000'000;
using array = xt::xtensor<float, 1>;

array given() { return xt::linspace<float>(0.0f, 100.0f, count); }

void linspace_sqrt_log(benchmark::State& state) {
  for (auto _ : state) {
    const array x = given();
    const array y = xt::sqrt(x) - xt::log(xt::abs(x));
    benchmark::DoNotOptimize(y.data());
  }
}

void sqrt_log(benchmark::State& state) {
  const array x = given();
  for (auto _ : state) {
    const array y = xt::sqrt(x) - xt::log(xt::abs(x));
    benchmark::DoNotOptimize(y.data());
  }
}

void sqrt_log_into(benchmark::State& state) {
  const array x = given();
  array y = given();
  for (auto _ : state) {
    xt::noalias(y) = xt::sqrt(x) - xt::log(xt::abs(x));
    benchmark::DoNotOptimize(y.data());
  }
}

}  // namespace

BENCHMARK(linspace_sqrt_log)->Name("map/linspace_sqrt_log/xtensor/cpu/f32/10000000")->UseRealTime();
BENCHMARK(sqrt_log)->Name("map/sqrt_log/xtensor/cpu/f32/10000000")->UseRealTime();
BENCHMARK(sqrt_log_into)->Name("map/sqrt_log_into/xtensor/cpu/f32/10000000")->UseRealTime();
