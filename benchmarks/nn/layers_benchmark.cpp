// SPDX-License-Identifier: Apache-2.0
//
// The layers of all-MiniLM-L6-v2, one by one, on a batch of 32 texts of 14 tokens.

#include <benchmark/benchmark.h>

#include <topos/nn.hpp>
#include <topos/topos.hpp>
#include <vector>

#include "../registry.hpp"

namespace layers_benchmark {

constexpr topos::index_t texts = 32;
constexpr topos::index_t tokens = 14;
constexpr topos::index_t rows = texts * tokens;
constexpr topos::index_t hidden = 384;

// Counts `flop` floating-point operations for each call of `compute`, which returns a tensor.
template <class Compute>
void measure(benchmark::State& state, double flop, Compute compute) {
  for (auto _ : state) benchmark::DoNotOptimize(compute().block_until_ready().data());
  state.counters["FLOP/s"] = benchmark::Counter(flop, benchmark::Counter::kIsIterationInvariantRate,
                                                benchmark::Counter::kIs1000);
}

template <topos::index_t inputs, topos::index_t outputs,
          topos::activation act = topos::activation::none,
          topos::precision precision = topos::precision::highest>
void dense(benchmark::State& state) {
  const topos::random::key key{0};
  const topos::tensor<float, 2> x = topos::random::normal<float>(key, {rows, inputs});
  const auto bias = topos::full<float, 1>({outputs}, 0.1f);
  const topos::prepared_matrix w(
      topos::eval(0.05f * topos::random::normal<float>(key, {outputs, inputs})), precision);
  measure(state, 2.0 * rows * inputs * outputs, [&] { return w.multiply(x, bias, act); });
}

void attention(benchmark::State& state) {
  const auto qkv = topos::full<float, 2>({rows, 3 * hidden}, 0.01f);
  const topos::nn::sequences batch(std::vector<topos::index_t>(texts, tokens),
                                   topos::default_device::current());
  measure(state, 4.0 * rows * tokens * hidden,
          [&] { return topos::nn::attention(qkv, batch, 12); });
}

void layer_norm(benchmark::State& state) {
  const auto x = topos::full<float, 2>({rows, hidden}, 0.01f);
  topos::nn::layer_norm norm(hidden, 1e-12f);
  norm.parameters([](const char*, auto& p) { p.set(topos::full<float, 1>({hidden}, 1.0f)); });
  measure(state, 8.0 * rows * hidden, [&] { return norm(x + x); });
}

void mean_pool(benchmark::State& state) {
  const auto x = topos::full<float, 2>({rows, hidden}, 0.01f);
  const topos::nn::sequences batch(std::vector<topos::index_t>(texts, tokens),
                                   topos::default_device::current());
  measure(state, 1.0 * rows * hidden,
          [&] { return topos::nn::mean_pool(x, batch, topos::nn::pooled::normalized); });
}

template <topos::index_t inputs, topos::index_t outputs>
constexpr auto dense_high = dense<inputs, outputs, topos::activation::none, topos::precision::high>;
constexpr auto gelu = topos::activation::gelu;

const bench::on_each_device registered[]{
    {"dense", "448x384x1152", dense<hidden, 3 * hidden>},
    {"dense", "448x384x384", dense<hidden, hidden>},
    {"dense_gelu", "448x384x1536", dense<hidden, 4 * hidden, gelu>},
    {"dense", "448x1536x384", dense<4 * hidden, hidden>},
    {"dense", "448x384x1152/high", dense_high<hidden, 3 * hidden>},
    {"dense", "448x384x384/high", dense_high<hidden, hidden>},
    {"dense_gelu", "448x384x1536/high", dense<hidden, 4 * hidden, gelu, topos::precision::high>},
    {"dense", "448x1536x384/high", dense_high<4 * hidden, hidden>},
    {"attention", "32x14x12x32", attention},
    {"layer_norm", "448x384", layer_norm},
    {"mean_pool", "32x14x384", mean_pool},
};

}  // namespace layers_benchmark
