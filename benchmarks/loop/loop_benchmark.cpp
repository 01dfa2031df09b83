// SPDX-License-Identifier: Apache-2.0

/// The least that a map and a sum of one array can take: bare loops of all cores over huge pages,
/// reading as much and writing as much, with next to no arithmetic.

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

constexpr std::ptrdiff_t million = 1'000'000;
// Of elements: two MiB of floats, a huge page.
constexpr std::ptrdiff_t page = std::ptrdiff_t{1} << 19;

struct release {
  void operator()(float* p) const { std::free(p); }
};
using array = std::unique_ptr<float, release>;

array make(std::ptrdiff_t count) {
  const auto pages = static_cast<std::size_t>((count + page - 1) / page);
  const std::size_t bytes = pages * static_cast<std::size_t>(page) * sizeof(float);
  array a(static_cast<float*>(std::aligned_alloc(page * sizeof(float), bytes)));
  if (a == nullptr) throw std::bad_alloc();
  (void)madvise(a.get(), bytes, MADV_HUGEPAGE);
  float* data = a.get();
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 100);
  return a;
}

// y = 1 - x by ordinary stores.
void map_cached(const float* x, float* y, std::ptrdiff_t count) {
#pragma omp parallel for simd schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) y[i] = 1.0f - x[i];
}

// The same by stores that pass the caches by, where the compiler's target has them. A count of
// whole batches.
void map_streamed(const float* x, float* y, std::ptrdiff_t count) {
#if defined(__AVX512F__)
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; i += 16)
    _mm512_stream_ps(y + i, _mm512_sub_ps(_mm512_set1_ps(1.0f), _mm512_loadu_ps(x + i)));
#elif defined(__SSE2__)
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; i += 4)
    _mm_stream_ps(y + i, _mm_sub_ps(_mm_set1_ps(1.0f), _mm_loadu_ps(x + i)));
#else
  map_cached(x, y, count);
#endif
}

using map_loop = void (*)(const float*, float*, std::ptrdiff_t);

// The better of both ways on this machine, found before anything is timed.
map_loop faster_map(const float* x, float* y, std::ptrdiff_t count) {
  map_loop best = nullptr;
  double least = 0;
  for (const map_loop loop : {map_cached, map_streamed, map_cached, map_streamed}) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) loop(x, y, count);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (best == nullptr || spent.count() < least) {
      best = loop;
      least = spent.count();
    }
  }
  return best;
}

void map(benchmark::State& state) {
  constexpr std::ptrdiff_t count = 10 * million;
  const array x = make(count);
  const array y = make(count);
  const map_loop loop = faster_map(x.get(), y.get(), count);
  for (auto _ : state) {
    loop(x.get(), y.get(), count);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * count *
                          static_cast<std::ptrdiff_t>(sizeof(float)));
}

void sum(benchmark::State& state) {
  constexpr std::ptrdiff_t count = 100 * million;
  constexpr int lanes = 64;  // partial sums that wait for nobody
  const array x = make(count);
  const float* data = x.get();
  for (auto _ : state) {
    double total = 0;
#pragma omp parallel reduction(+ : total)
    {
      float part[lanes] = {};
#pragma omp for schedule(static) nowait
      for (std::ptrdiff_t i = 0; i < count; i += lanes) {
#pragma omp simd
        for (int l = 0; l < lanes; ++l) part[l] += data[i + l];
      }
      for (const float p : part) total += static_cast<double>(p);
    }
    benchmark::DoNotOptimize(total);
  }
  state.SetBytesProcessed(state.iterations() * count * static_cast<std::ptrdiff_t>(sizeof(float)));
}

}  // namespace

BENCHMARK(map)->Name("map/sqrt_log/loop/cpu/f32/10000000")->UseRealTime();
BENCHMARK(map)->Name("map/sqrt_log_into/loop/cpu/f32/10000000")->UseRealTime();
BENCHMARK(sum)->Name("reduce/sum/loop/cpu/f32/100000000")->UseRealTime();
