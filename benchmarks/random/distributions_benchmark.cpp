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

#define TOPOS_DRAW(name, label, expression)                                \
  void name(benchmark::State& state) {                                     \
    draws(state, [](const topos::shape<1>& shape) { return expression; }); \
  }                                                                        \
  BENCHMARK(name)->Name("random/" label "/10000000")->UseRealTime();
TOPOS_DRAW(uniform, "uniform/topos/cpu/f32", random::uniform(original, shape))
TOPOS_DRAW(uniform_partitionable, "uniform_partitionable/topos/cpu/f32",
           random::uniform(partitionable, shape))
TOPOS_DRAW(uniform_double, "uniform/topos/cpu/f64", random::uniform<double>(original, shape))
TOPOS_DRAW(normal, "normal/topos/cpu/f32", random::normal(original, shape))
TOPOS_DRAW(normal_double, "normal/topos/cpu/f64", random::normal<double>(original, shape))
TOPOS_DRAW(randint, "randint/topos/cpu/i32", random::randint(original, shape, 0, 1000))
TOPOS_DRAW(bernoulli, "bernoulli/topos/cpu/bool", random::bernoulli(original, 0.3, shape))
#undef TOPOS_DRAW

void permutation(benchmark::State& state) {
  bench::until_ready(state, [] { return random::permutation(original, bench::million); });
  state.SetItemsProcessed(state.iterations() * bench::million);
}
BENCHMARK(permutation)->Name("random/permutation/topos/cpu/i32/1000000")->UseRealTime();

}  // namespace distributions_benchmark
