// SPDX-License-Identifier: Apache-2.0
//
// Products of square matrices, one and 64 at a time, and of a matrix and a vector, each made new.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <topos/linalg/matmul.hpp>
#include <topos/topos.hpp>
#include <type_traits>

namespace {

using topos::index_t;

// A number without a pattern for each place: products of special values may cost another time.
template <class T, std::size_t Rank>
topos::tensor<T, Rank> operand(topos::shape<Rank> extents, topos::device d) {
  const auto place =
      topos::arange<float>(0, static_cast<float>(topos::size_of_shape(extents)), 1, d);
  constexpr float scale = std::is_integral_v<T> ? 100.0f : 1.0f;
  return topos::eval(topos::astype<T>(topos::sin(topos::reshape(place, extents)) * scale));
}

// What `product` multiplies, `flop` operations a time.
template <class Product>
void measure(benchmark::State& state, double flop, Product product) {
  product().block_until_ready();
  for (auto _ : state) benchmark::DoNotOptimize(product().block_until_ready().data());
  state.counters["FLOP/s"] = benchmark::Counter(flop, benchmark::Counter::kIsIterationInvariantRate,
                                                benchmark::Counter::kIs1000);
}

template <class T>
constexpr double flop_of_term() {
  return topos::detail::is_complex<T> ? 8 : 2;
}

template <class T>
void square(benchmark::State& state, topos::device d, index_t n, bool transposed) {
  const auto a = operand<T>(topos::shape<2>{n, n}, d);
  const auto b = operand<T>(topos::shape<2>{n, n}, d);
  const double flop = flop_of_term<T>() * static_cast<double>(n * n) * static_cast<double>(n);
  if (transposed)
    measure(state, flop, [&] { return topos::matmul(a, topos::transpose(b)); });
  else
    measure(state, flop, [&] { return topos::matmul(a, b); });
}

template <class T>
void stack(benchmark::State& state, topos::device d, index_t count, index_t n) {
  const auto a = operand<T>(topos::shape<3>{count, n, n}, d);
  const auto b = operand<T>(topos::shape<3>{count, n, n}, d);
  measure(state, flop_of_term<T>() * static_cast<double>(count * n * n) * static_cast<double>(n),
          [&] { return topos::matmul(a, b); });
}

void by_vector(benchmark::State& state, topos::device d, index_t m, index_t k) {
  const auto a = operand<float>(topos::shape<2>{m, k}, d);
  const auto x = operand<float>(topos::shape<1>{k}, d);
  measure(state, flop_of_term<float>() * static_cast<double>(m * k),
          [&] { return topos::matmul(a, x); });
}

template <class T>
void register_type(const topos::device& d, const std::string& name) {
  const std::string start = "matmul/topos/" + topos::to_string(d) + '/' + name + '/';
  const auto add = [&](const std::string& size, auto run) {
    benchmark::RegisterBenchmark((start + size).c_str(), run)->UseRealTime();
  };
  for (const index_t n : {16, 64, 256, 1024, 2048}) {
    add(std::to_string(n), [=](benchmark::State& s) { square<T>(s, d, n, false); });
  }
  add("1024_transposed", [=](benchmark::State& s) { square<T>(s, d, 1024, true); });
  add("64x128", [=](benchmark::State& s) { stack<T>(s, d, 64, 128); });
}

}  // namespace

int main(int argc, char** argv) {
  const topos::runtime runtime{argc, argv};
  for (const topos::device& d : topos::devices()) {
    register_type<float>(d, "f32");
    register_type<double>(d, "f64");
    register_type<topos::f16>(d, "f16");
    register_type<topos::bf16>(d, "bf16");
    register_type<Kokkos::complex<float>>(d, "c64");
    register_type<std::int32_t>(d, "i32");
    const std::string vectors = "matmul_vector/topos/" + topos::to_string(d) + "/f32/10000x1000";
    benchmark::RegisterBenchmark(vectors.c_str(), [=](benchmark::State& s) {
      by_vector(s, d, 10'000, 1000);
    })->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
