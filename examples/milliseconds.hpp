// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long something takes.

#include <algorithm>
#include <chrono>
#include <limits>

/// The milliseconds that `work()` takes: the least of three runs.
template <class Work>
[[nodiscard]] double milliseconds(const Work& work) {
  using clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const auto start = clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}
