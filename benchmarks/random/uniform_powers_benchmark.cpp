// SPDX-License-Identifier: Apache-2.0

/// Random numbers drawn inside of the kernel that uses them.

#include <benchmark/benchmark.h>

#include <topos/random/uniform.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace uniform_powers_benchmark {

constexpr topos::index_t count = 100 * bench::million;

void uniform_powers(benchmark::State& state) {
  bench::until_ready(state, [] {
    const auto x = topos::random::uniform<float>(topos::random::key{0}, {count});
    const auto y = pow(x, 2) - 0.5f;
    return topos::tensor<float, 1>(pow(y, 3) - 0.2f);
  });
  bench::moves(state, count);
}

const bench::on_each_device registered[]{
    {"random/uniform_powers", "100000000", uniform_powers},
};

}  // namespace uniform_powers_benchmark
