// SPDX-License-Identifier: Apache-2.0

/// Runs a folder's benchmarks inside one topos runtime, as a user's program would.

#include <benchmark/benchmark.h>

#include <topos/device/runtime.hpp>

#include "registry.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const topos::runtime runtime{argc, argv};
  bench::on_each_device::register_all();
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
