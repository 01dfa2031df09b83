// SPDX-License-Identifier: Apache-2.0

/// Views that are made into tensors: 10 M elements each.

#include <benchmark/benchmark.h>

#include <topos/topos.hpp>

#include "../array.hpp"

namespace view_benchmark {

using topos::index_t;
using topos::range;
using topos::tensor;
constexpr index_t rows = 2500;
constexpr index_t columns = 4000;

void transposed(benchmark::State& state) {
  const auto x = bench::varied<2>({rows, columns});
  bench::until_ready(state, [&] { return tensor<float, 2>(transpose(x)); });
  bench::moves(state, 2 * rows * columns);
}

void strided(benchmark::State& state) {
  const auto x = bench::varied<2>({2 * rows, 2 * columns});
  const range even{{}, {}, 2};
  const range odd{1, {}, 2};
  bench::until_ready(state, [&] { return tensor<float, 2>(slice(x, even, odd)); });
  // Half of the rows, of which every cache line is read.
  bench::moves(state, 3 * rows * columns);
}

void broadcast_add(benchmark::State& state) {
  const auto x = bench::varied<2>({rows, columns});
  const auto row = bench::varied<1>({columns});
  const auto column = bench::varied<2>({rows, 1});
  bench::until_ready(state, [&] { return tensor<float, 2>(x + row + column); });
  bench::moves(state, 2 * rows * columns);
}

const bench::on_each_device registered[]{
    {"view/transpose", "2500x4000", transposed},
    {"view/strided", "5000x8000", strided},
    {"view/broadcast_add", "2500x4000", broadcast_add},
};

}  // namespace view_benchmark
