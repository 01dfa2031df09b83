// SPDX-License-Identifier: Apache-2.0
//
// The layers of all-MiniLM-L6-v2, one by one, on a batch of 32 texts of 14 tokens.

#include <benchmark/benchmark.h>

#include <string>
#include <topos/nn.hpp>
#include <topos/topos.hpp>
#include <utility>
#include <vector>

namespace {

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

void dense(benchmark::State& state, topos::index_t inputs, topos::index_t outputs,
           topos::activation act, topos::precision p) {
  const topos::random::key key{0};
  const topos::tensor<float, 2> x = topos::random::normal<float>(key, {rows, inputs});
  const auto bias = topos::full<float, 1>({outputs}, 0.1f);
  const topos::prepared_matrix w(
      topos::eval(0.05f * topos::random::normal<float>(key, {outputs, inputs})), p);
  measure(state, 2.0 * rows * inputs * outputs, [&] { return w.multiply(x, bias, act); });
}

void attention(benchmark::State& state) {
  const auto qkv = topos::full<float, 2>({rows, 3 * hidden}, 0.01f);
  const topos::nn::sequences batch(std::vector<topos::index_t>(texts, tokens), topos::cpu());
  measure(state, 4.0 * rows * tokens * hidden,
          [&] { return topos::nn::attention(qkv, batch, 12); });
}

void layer_norm(benchmark::State& state) {
  const auto x = topos::full<float, 2>({rows, hidden}, 0.01f);
  topos::nn::layer_norm norm(hidden, 1e-12f, topos::cpu());
  norm.parameters([](const char*, auto& p) { p.set(topos::full<float, 1>({hidden}, 1.0f)); });
  measure(state, 8.0 * rows * hidden, [&] { return norm(x + x); });
}

void mean_pool(benchmark::State& state) {
  const auto x = topos::full<float, 2>({rows, hidden}, 0.01f);
  const topos::nn::sequences batch(std::vector<topos::index_t>(texts, tokens), topos::cpu());
  measure(state, 1.0 * rows * hidden,
          [&] { return topos::nn::mean_pool(x, batch, topos::nn::pooled::normalized); });
}

}  // namespace

int main(int argc, char** argv) {
  const topos::runtime runtime{argc, argv};
  using benchmark::RegisterBenchmark;
  using topos::activation;
  for (const auto& [suffix, p] :
       {std::pair{"", topos::precision::highest}, std::pair{"/high", topos::precision::high}}) {
    const auto add = [&, end = suffix, p = p](std::string name, topos::index_t inputs,
                                              topos::index_t outputs, activation act) {
      RegisterBenchmark((name + end).c_str(), dense, inputs, outputs, act, p)->UseRealTime();
    };
    add("dense/topos/cpu/f32/448x384x1152", hidden, 3 * hidden, activation::none);
    add("dense/topos/cpu/f32/448x384x384", hidden, hidden, activation::none);
    add("dense_gelu/topos/cpu/f32/448x384x1536", hidden, 4 * hidden, activation::gelu);
    add("dense/topos/cpu/f32/448x1536x384", 4 * hidden, hidden, activation::none);
  }
  RegisterBenchmark("attention/topos/cpu/f32/32x14x12x32", attention)->UseRealTime();
  RegisterBenchmark("layer_norm/topos/cpu/f32/448x384", layer_norm)->UseRealTime();
  RegisterBenchmark("mean_pool/topos/cpu/f32/32x14x384", mean_pool)->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
