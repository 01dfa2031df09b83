// SPDX-License-Identifier: Apache-2.0

/// Fused elementwise work.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <topos/tensor/enqueue.hpp>
#include <topos/topos.hpp>

#include "../array.hpp"

namespace map_benchmark {

using bench::million;
using topos::tensor;
constexpr topos::index_t count = 10 * million;

template <class X>
auto chain(const X& x) {
  return pow(x, 0.5f) - log(abs(x));
}

void linspace_sqrt_log(benchmark::State& state) {
  bench::until_ready(state,
                     [] { return tensor<float, 1>(chain(topos::linspace<float>(0, 100, count))); });
  bench::moves(state, count);
}

void sqrt_log(benchmark::State& state) {
  const tensor<float, 1> x(topos::linspace<float>(0, 100, count));
  bench::until_ready(state, [&] { return tensor<float, 1>(chain(x)); });
  bench::moves(state, 2 * count);
  state.counters["peak_bytes"] = static_cast<double>(topos::memory_stats(x.device()).peak);
}

void sqrt_log_into(benchmark::State& state) {
  const tensor<float, 1> x(topos::linspace<float>(0, 100, count));
  tensor<float, 1> y({count});
  for (auto _ : state) {
    y.slice(topos::range{}) = chain(x);
    benchmark::DoNotOptimize(y.block_until_ready().data());
  }
  bench::moves(state, 2 * count);
}

// What the device can do at all: Kokkos' own copy, of which the benchmark compared with it moves as
// many bytes.
struct copies {
  template <class Space, class From, class To>
  void operator()(const Space& space, const From& from, const To& to) const {
    Kokkos::deep_copy(space, to, from);
  }
};

template <topos::index_t Count>
void copy(benchmark::State& state) {
  const auto x = bench::varied<1>({Count});
  tensor<float, 1> y({Count});
  for (auto _ : state) {
    topos::enqueue(x.device(), topos::reads(x), topos::writes(y), copies{});
    benchmark::DoNotOptimize(y.block_until_ready().data());
  }
  bench::moves(state, 2 * Count);
}

void powers(benchmark::State& state) {
  const auto x = bench::varied<1>({100 * million});
  bench::until_ready(state, [&] { return tensor<float, 1>(pow(pow(x, 2) - 0.5f, 3) - 0.2f); });
  bench::moves(state, 200 * million);
}

void select(benchmark::State& state) {
  const auto x = bench::varied<1>({count}, -1.0f);
  const auto y = bench::varied<1>({count});
  bench::until_ready(state, [&] { return tensor<float, 1>(where(x > 0.0f, x, y)); });
  bench::moves(state, 3 * count);
}

// Of a sixteen-bit type.
template <class T>
void products(benchmark::State& state) {
  const auto x = bench::varied_as<T>(count);
  const auto y = bench::varied_as<T>(count, -1.0f);
  bench::until_ready(state, [&] { return tensor<T, 1>(x * y + x * T(0.5f) - y); });
  bench::moves<T>(state, 3 * count);
}

void power(benchmark::State& state) {
  const auto x = bench::varied<1>({count}, 0.0f, 100.0f);
  bench::until_ready(state, [&] { return tensor<float, 1>(pow(x, 2.2f)); });
  bench::moves(state, 2 * count);
}

void remainder(benchmark::State& state) {
  const auto x = bench::varied<1>({count}, -1.0f);
  const auto y = bench::varied<1>({count});
  bench::until_ready(state, [&] { return tensor<float, 1>(x % y); });
  bench::moves(state, 3 * count);
}

// Of arrays that are in the caches, where what it takes to launch a kernel counts.
template <topos::index_t Count>
void maximum_in_cache(benchmark::State& state) {
  const auto x = bench::varied<1>({Count});
  const auto y = bench::varied<1>({Count}, 0.2f, 0.8f);
  bench::until_ready(state, [&] { return tensor<float, 1>(maximum(x, y)); });
  bench::moves(state, 3 * Count);
}

void sqrt_log_in_cache(benchmark::State& state) {
  constexpr topos::index_t size = 131'072;
  const auto x = bench::varied<1>({size}, 0.0f, 100.0f);
  bench::until_ready(state, [&] { return tensor<float, 1>(chain(x)); });
  bench::moves(state, 2 * size);
}

void maximum_of_bytes(benchmark::State& state) {
  using byte = std::uint8_t;
  const auto x = bench::varied_as<byte>(count, 0.0f, 255.0f);
  const auto y = bench::varied_as<byte>(count, 0.0f, 100.0f);
  bench::until_ready(state, [&] { return tensor<byte, 1>(maximum(x, y)); });
  bench::moves<byte>(state, 3 * count);
}

// As images become what a model takes.
void scaled_bytes(benchmark::State& state) {
  const auto x = bench::varied_as<std::uint8_t>(count, 0.0f, 255.0f);
  bench::until_ready(state,
                     [&] { return tensor<float, 1>(astype<float>(x) * (2.0f / 255.0f) - 1.0f); });
  bench::moves<std::uint8_t>(state, 5 * count);
}

const bench::on_each_device registered[]{
    {"map/linspace_sqrt_log", "10000000", linspace_sqrt_log},
    {"map/sqrt_log", "10000000", sqrt_log},
    {"map/sqrt_log_into", "10000000", sqrt_log_into},
    {"map/powers", "100000000", powers},
    {"map/powers", "100000000", copy<100 * million>, bench::timing::real, "copy"},
    {"reduce/sum", "100000000", copy<50 * million>, bench::timing::real, "copy"},
    {"map/where", "10000000", select},
    {"map/power", "10000000", power},
    {"map/remainder", "10000000", remainder},
    {"map/maximum", "65536", maximum_in_cache<65'536>},
    {"map/maximum", "262144", maximum_in_cache<262'144>},
    {"map/sqrt_log", "131072", sqrt_log_in_cache},
    {"map/maximum", "10000000", maximum_of_bytes, bench::timing::real, "topos", "u8"},
    {"map/scaled", "10000000", scaled_bytes, bench::timing::real, "topos", "u8"},
    {"map/products", "10000000", products<topos::bf16>, bench::timing::real, "topos", "bf16"},
    {"map/products", "10000000", products<topos::f16>, bench::timing::real, "topos", "f16"},
};

}  // namespace map_benchmark
