// SPDX-License-Identifier: Apache-2.0

/// Random numbers written to memory, by distribution and layout.

#include <benchmark/benchmark.h>

#include <topos/random/integers.hpp>
#include <topos/random/normal.hpp>
#include <topos/random/permutation.hpp>
#include <topos/random/uniform.hpp>

#include "../array.hpp"

namespace distributions_benchmark {

namespace random = topos::random;
using topos::index_t;

constexpr index_t count = 10 * bench::million;
const random::key original{0};
const random::key partitionable{0, random::layout::partitionable};

template <class Draw>
void draws(benchmark::State& state, Draw draw) {
  bench::until_ready(state, [&] { return topos::tensor(draw(topos::shape<1>{count})); });
  state.SetItemsProcessed(state.iterations() * count);
}

template <class T>
void uniform(benchmark::State& state) {
  draws(state, [](const auto& shape) { return random::uniform<T>(original, shape); });
}

void uniform_partitionable(benchmark::State& state) {
  draws(state, [](const auto& shape) { return random::uniform(partitionable, shape); });
}

template <class T>
void normal(benchmark::State& state) {
  draws(state, [](const auto& shape) { return random::normal<T>(original, shape); });
}

void randint(benchmark::State& state) {
  draws(state, [](const auto& shape) { return random::randint(original, shape, 0, 1000); });
}

void bernoulli(benchmark::State& state) {
  draws(state, [](const auto& shape) { return random::bernoulli(original, 0.3, shape); });
}

void permutation(benchmark::State& state) {
  bench::until_ready(state, [] { return random::permutation(original, bench::million); });
  state.SetItemsProcessed(state.iterations() * bench::million);
}

constexpr auto real = bench::timing::real;
const bench::on_each_device registered[]{
    {"random/uniform", "10000000", uniform<float>},
    {"random/uniform_partitionable", "10000000", uniform_partitionable},
    {"random/uniform", "10000000", uniform<double>, real, "topos", "f64"},
    {"random/normal", "10000000", normal<float>},
    {"random/normal", "10000000", normal<double>, real, "topos", "f64"},
    {"random/randint", "10000000", randint, real, "topos", "i32"},
    {"random/bernoulli", "10000000", bernoulli, real, "topos", "bool"},
    {"random/permutation", "1000000", permutation, real, "topos", "i32"},
};

}  // namespace distributions_benchmark
