// SPDX-License-Identifier: Apache-2.0

/// Running sums and sorting of 10 M floats.

#include <benchmark/benchmark.h>

#include <topos/tensor/scan.hpp>
#include <topos/tensor/sort.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace scan_benchmark {

constexpr topos::index_t count = 10 * bench::million;

void running_sum(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  bench::until_ready(state, [&] { return cumsum(x); });
  bench::moves(state, 2 * count);
}

void sorted(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  bench::until_ready(state, [&] { return sort(x); });
}

const bench::on_each_device registered[]{
    {"scan/cumsum", "10000000", running_sum},
    {"sort/sort", "10000000", sorted},
};

}  // namespace scan_benchmark
