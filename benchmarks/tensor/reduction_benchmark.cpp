// SPDX-License-Identifier: Apache-2.0

/// Reductions and orders along either axis of 100 M floats, beside those in benchmarks/kernels.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/scan.hpp>
#include <topos/tensor/scatter.hpp>
#include <topos/tensor/softmax.hpp>
#include <topos/tensor/sort.hpp>
#include <topos/tensor/statistics.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace reduction_benchmark {

using bench::million;
using topos::index_t;
using topos::tensor;
constexpr topos::shape<2> square{10'000, 10'000};
constexpr index_t count = 100 * million;

template <class Compute>
void of_square(benchmark::State& state, index_t moved, Compute compute) {
  const auto x = bench::varied<2>(square);
  bench::until_ready(state, [&] { return compute(x); });
  bench::moves(state, moved);
}

template <index_t Axis>
void sum_along(benchmark::State& state) {
  of_square(state, count, [](const auto& x) { return eval(sum(x, Axis)); });
}
template <index_t Axis>
void argmax_along(benchmark::State& state) {
  of_square(state, count, [](const auto& x) { return eval(argmax(x, Axis)); });
}
template <index_t Axis>
void var_along(benchmark::State& state) {
  of_square(state, 2 * count, [](const auto& x) { return eval(var(x, Axis)); });
}
template <index_t Axis>
void cumsum_along(benchmark::State& state) {
  of_square(state, 2 * count, [](const auto& x) { return cumsum(x, Axis); });
}
void softmax_columns(benchmark::State& state) {
  of_square(state, 2 * count, [](const auto& x) { return softmax(x, 0); });
}

void order(benchmark::State& state) {
  const auto x = bench::varied<1>({10 * million});
  bench::until_ready(state, [&] { return argsort(x); });
}
void largest_ten(benchmark::State& state) {
  const auto x = bench::varied<1>({10 * million});
  bench::until_ready(state, [&] { return topk(x, 10).values; });
}
void add_to_rows(benchmark::State& state) {
  const auto x = bench::varied<2>({10'000, 64});
  const auto updates = bench::varied<2>({100'000, 64});
  const tensor<std::int32_t, 1> rows =
      topos::astype<std::int32_t>(bench::varied<1>({100'000}) * 10'000.0f);
  rows.block_until_ready();
  bench::until_ready(state, [&] { return scatter_add(x, rows, updates); });
}

const bench::on_each_device registered[]{
    {"reduction/sum_rows", "10000x10000", sum_along<1>},
    {"reduction/sum_columns", "10000x10000", sum_along<0>},
    {"reduction/argmax_rows", "10000x10000", argmax_along<1>},
    {"reduction/argmax_columns", "10000x10000", argmax_along<0>},
    {"reduction/var_rows", "10000x10000", var_along<1>},
    {"reduction/var_columns", "10000x10000", var_along<0>},
    {"reduction/softmax_columns", "10000x10000", softmax_columns},
    {"scan/cumsum_rows", "10000x10000", cumsum_along<1>},
    {"scan/cumsum_columns", "10000x10000", cumsum_along<0>},
    {"sort/argsort", "10000000", order},
    {"sort/topk", "10000000", largest_ten},
    {"scatter_add", "100000x64", add_to_rows},
};

}  // namespace reduction_benchmark
