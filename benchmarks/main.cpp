// SPDX-License-Identifier: Apache-2.0

/// Runs a folder's benchmarks inside one topos runtime, as a user's program would.

#include <benchmark/benchmark.h>

#include <topos/device/runtime.hpp>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const topos::runtime runtime{argc, argv};
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
