// SPDX-License-Identifier: Apache-2.0

/// Views that are made into tensors, 10 M elements each, or computed with, 1 M each.

#include <benchmark/benchmark.h>

#include <cstdint>
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

constexpr index_t side = 1000;

// Of the heat equation, whose neighbours are those round the ends, too.
void heat_step(benchmark::State& state) {
  const auto u = bench::varied<2>({side, side});
  bench::until_ready(state, [&] {
    return tensor<float, 2>(
        u + 0.2f * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4.0f * u));
  });
  bench::moves(state, 2 * side * side);
}

// The magnitude of the Sobel gradient, of slices.
void sobel(benchmark::State& state) {
  const auto u = bench::varied<2>({side, side});
  bench::until_ready(state, [&] {
    const auto at = [&](index_t i, index_t j) {
      return slice(u, range{i, i + side - 2}, range{j, j + side - 2});
    };
    const auto x = (at(0, 2) + 2 * at(1, 2) + at(2, 2)) - (at(0, 0) + 2 * at(1, 0) + at(2, 0));
    const auto y = (at(2, 0) + 2 * at(2, 1) + at(2, 2)) - (at(0, 0) + 2 * at(0, 1) + at(0, 2));
    return tensor<float, 2>(sqrt(x * x + y * y));
  });
  bench::moves(state, 2 * side * side);
}

void plus_transposed(benchmark::State& state) {
  const auto x = bench::varied<2>({side, side});
  bench::until_ready(state, [&] { return tensor<float, 2>(x + transpose(x)); });
  bench::moves(state, 2 * side * side);
}

void bytes_less_column(benchmark::State& state) {
  using byte = std::uint8_t;
  const auto x = bench::varied_as<byte>(side * side, 0.0f, 255.0f).reshape({side, side});
  const auto column = bench::varied_as<byte>(side, 0.0f, 255.0f).reshape({side, 1});
  bench::until_ready(state, [&] { return tensor<byte, 2>(x - column); });
  bench::moves<byte>(state, 2 * side * side);
}

const bench::on_each_device registered[]{
    {"view/transpose", "2500x4000", transposed},
    {"view/strided", "5000x8000", strided},
    {"view/broadcast_add", "2500x4000", broadcast_add},
    {"view/heat_step", "1000x1000", heat_step},
    {"view/sobel", "1000x1000", sobel},
    {"view/plus_transposed", "1000x1000", plus_transposed},
    {"view/less_column", "1000x1000", bytes_less_column, bench::timing::real, "topos", "u8"},
};

}  // namespace view_benchmark
