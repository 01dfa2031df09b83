// SPDX-License-Identifier: Apache-2.0

/// Running sums, and what goes by order.

#include <benchmark/benchmark.h>

#include <topos/tensor/scan.hpp>
#include <topos/tensor/search.hpp>
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

// Of rows of which several are one thread's.
void running_sums_of_rows(benchmark::State& state) {
  const auto x = bench::varied<2>({30'000, 128});
  bench::until_ready(state, [&] { return cumsum(x, 1); });
  bench::moves(state, 2 * x.size());
}

// Of few columns, in the order in which they lie.
void running_sums_of_columns(benchmark::State& state) {
  const auto x = bench::varied<2>({bench::million, 8});
  bench::until_ready(state, [&] { return cumsum(x, 0); });
  bench::moves(state, 2 * x.size());
}

// In a table that the caches hold.
void searched(benchmark::State& state) {
  const auto table = sort(bench::varied<1>({2000}));
  const auto x = bench::varied<1>({bench::million});
  bench::until_ready(state, [&] { return searchsorted(table, x); });
}

void sorted(benchmark::State& state) {
  const auto x = bench::varied<1>({count});
  bench::until_ready(state, [&] { return sort(x); });
}

const bench::on_each_device registered[]{
    {"scan/cumsum", "10000000", running_sum},
    {"scan/cumsum_rows", "30000x128", running_sums_of_rows},
    {"scan/cumsum_columns", "1000000x8", running_sums_of_columns},
    {"sort/sort", "10000000", sorted},
    {"sort/searchsorted", "1000000", searched},
};

}  // namespace scan_benchmark
