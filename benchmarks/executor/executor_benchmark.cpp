// SPDX-License-Identifier: Apache-2.0

/// What batching costs by itself: models that do nothing, or a known amount of work.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <ranges>
#include <span>
#include <thread>
#include <topos/executor/batcher.hpp>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "window.hpp"

namespace {

void noop(std::span<const int> batch, std::span<int> results) {
  std::copy(batch.begin(), batch.end(), results.begin());
}

// One producer, eight batches on their way; the delay lets none start before it is full.
void noop_items(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t count = 16384;
  topos::batcher<int, int> b(noop, {.devices = {topos::cpu()},
                                    .max_batch_size = size,
                                    .max_delay = std::chrono::milliseconds(10)});
  bench::window<int> producer(8 * size);
  const auto all = [&] {
    producer.run(count, [&](std::size_t i) { return b.submit(static_cast<int>(i)); });
  };
  all();
  const std::uint64_t before = bench::allocations();
  for (auto _ : state) all();
  const auto items = static_cast<double>(state.iterations()) * count;
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["allocations_per_item"] =
      static_cast<double>(bench::allocations() - before) / items;
  state.counters["mean_batch"] =
      static_cast<double>(b.stats().done) / static_cast<double>(b.stats().batches());
}
BENCHMARK(noop_items)->Name("executor/noop/topos/cpu")->Arg(32)->Arg(256)->UseRealTime();

// From the submission of an item that comes alone to its result.
void lone_item(benchmark::State& state) {
  topos::batcher<int, int> b(noop, {.devices = {topos::cpu()}});
  for (int i = 0; i < 1000; ++i) b.submit(i).get();
  const std::uint64_t before = bench::allocations();
  for (auto _ : state) benchmark::DoNotOptimize(b.submit(1).get());
  state.SetItemsProcessed(state.iterations());
  state.counters["allocations_per_item"] =
      static_cast<double>(bench::allocations() - before) / static_cast<double>(state.iterations());
}
BENCHMARK(lone_item)->Name("executor/lone/topos/cpu/1")->UseRealTime();

// Some ten microseconds of work that no compiler leaves out.
float busy(int item, int steps) {
  float x = static_cast<float>(item);
  for (int i = 0; i < steps; ++i) {
    x = x * 0.999f + 1.0f;
    benchmark::DoNotOptimize(x);
  }
  return x;
}

constexpr std::size_t batch_size = 32;
constexpr std::size_t producers = 4;
constexpr std::size_t replicas = 2;

// So many times ten microseconds for each item.
struct busy_model {
  int work;
  void operator()(std::span<const int> batch, std::span<float> results) const {
    std::transform(batch.begin(), batch.end(), results.begin(),
                   [&](int item) { return busy(item, 3000 * work); });
  }
  // Of each producer, in an iteration.
  [[nodiscard]] std::size_t items() const {
    return 100 * batch_size / static_cast<std::size_t>(work);
  }
};

// Calls f() on so many threads.
template <class F>
void on_threads(std::size_t count, F f) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(f);
  for (std::thread& thread : threads) thread.join();
}

void many_producers(benchmark::State& state) {
  const busy_model model{static_cast<int>(state.range(0))};
  topos::batcher<int, float> b(
      model, {.devices = {topos::cpu()}, .replicas = replicas, .max_batch_size = batch_size});
  for (auto _ : state) {
    on_threads(producers, [&] {
      bench::window<float> producer(2 * batch_size);
      producer.run(model.items(), [&](std::size_t i) { return b.submit(static_cast<int>(i)); });
    });
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(producers * model.items()));
  state.counters["mean_batch"] =
      static_cast<double>(b.stats().done) / static_cast<double>(b.stats().batches());
}
BENCHMARK(many_producers)->Name("executor/producers/topos/cpu")->Arg(1)->Arg(10)->UseRealTime();

// The same model, called in full batches on as many threads.
void by_hand(benchmark::State& state) {
  const busy_model model{static_cast<int>(state.range(0))};
  for (auto _ : state) {
    on_threads(replicas, [&] {
      const std::vector<int> items(batch_size, 1);
      std::vector<float> results(batch_size);
      const std::size_t count = producers * model.items() / replicas;
      for (std::size_t i = 0; i < count; i += batch_size) model(items, results);
    });
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(producers * model.items()));
}
BENCHMARK(by_hand)->Name("executor/producers/by_hand/cpu")->Arg(1)->Arg(10)->UseRealTime();

// A model that pads: each item of a batch costs as much as the longest.
void padding(std::span<const int> batch, std::span<float> results) {
  const int longest = *std::max_element(batch.begin(), batch.end());
  std::transform(batch.begin(), batch.end(), results.begin(),
                 [=](int item) { return busy(item, 20 * longest); });
}

// Mostly short, a few up to 256.
std::vector<int> mixed_lengths(std::size_t count) {
  std::vector<int> lengths;
  std::uint32_t bits = 1;
  for (std::size_t i = 0; i < count; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const double share = static_cast<double>(bits >> 8U) / (1U << 24U);
    lengths.push_back(4 + static_cast<int>(252 * share * share * share * share));
  }
  return lengths;
}

void padded(benchmark::State& state, topos::executor_options options) {
  const std::vector<int> lengths = mixed_lengths(4096);
  options.devices = {topos::cpu()};
  topos::batcher<int, float> b(padding, options,
                               [](const int& length) { return static_cast<std::size_t>(length); });
  bench::window<float> producer(1024);
  for (auto _ : state) {
    producer.run(lengths.size(), [&](std::size_t i) { return b.submit(lengths[i]); });
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lengths.size()));
  state.counters["mean_batch"] =
      static_cast<double>(b.stats().done) / static_cast<double>(b.stats().batches());
}
BENCHMARK_CAPTURE(padded, plain, {.max_batch_size = 32})
    ->Name("executor/padded/plain/cpu/32")
    ->UseRealTime();
BENCHMARK_CAPTURE(padded, sorted,
                  {.max_batch_size = 256, .max_batch_cost = 32 * 54, .look_ahead = 512})
    ->Name("executor/padded/sorted/cpu/32")
    ->UseRealTime();

[[nodiscard]] long peak_kilobytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

// A hundred million items out of a generator: how much memory is added after the first million.
void generated_items(benchmark::State& state) {
  constexpr int count = 100'000'000;
  topos::batcher<int, int> b(noop, {.devices = {topos::cpu()}});
  long before = 0;
  for (auto _ : state) {
    for (const int result : b.map(std::views::iota(0, count), {.request_size = 1024})) {
      if (result == count / 100) before = peak_kilobytes();
      benchmark::DoNotOptimize(result);
    }
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.counters["added_kb"] = static_cast<double>(peak_kilobytes() - before);
}
BENCHMARK(generated_items)
    ->Name("generator/topos/cpu/100000000")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// For a minute ten times as many items as the model can do, which are refused where there is no
// room: how long that takes, and how much memory is added to what the first second takes.
//
// Two cores have the producer, the model and all else that runs: whoever has a core loses it for
// some milliseconds now and then, in a refusal too. How often that comes is seen where nothing of
// the executor's is called: while the producer reads the clock until the next item is due.
void overload(benchmark::State& state) {
  using clock = std::chrono::steady_clock;
  constexpr auto whole = std::chrono::seconds(60);
  topos::batcher<int, float> b(busy_model{1}, {.devices = {topos::cpu()},
                                               .max_batch_size = batch_size,
                                               .queue_capacity = 1024,
                                               .full = topos::when_full::fail});
  std::int64_t offered = 0;
  std::int64_t refused = 0;
  // Steps of the loop that end after more than 1 ms, and how long all of them take.
  struct steps {
    void add(clock::duration took) {
      late += took > std::chrono::milliseconds(1) ? 1 : 0;
      slowest = std::max(slowest, took);
      all += took;
    }
    [[nodiscard]] double late_per_second() const {
      return static_cast<double>(late) / std::chrono::duration<double>(all).count();
    }
    std::int64_t late = 0;
    clock::duration slowest{};
    clock::duration all{};
  } refusals, readings;
  long before = 0;
  for (auto _ : state) {
    const auto began = clock::now();
    for (auto now = began; now - began < whole;) {
      if (before == 0 && now - began > std::chrono::seconds(1)) before = peak_kilobytes();
      const bool due = now - began >= std::chrono::microseconds(offered);
      const bool full = due && b.submit(static_cast<int>(offered)).is_ready();
      const auto then = std::exchange(now, clock::now());
      offered += due ? 1 : 0;
      refused += full ? 1 : 0;
      if (full) refusals.add(now - then);
      if (!due) readings.add(now - then);
    }
  }
  state.SetItemsProcessed(offered);
  state.counters["refused"] = static_cast<double>(refused);
  state.counters["refused_late"] = static_cast<double>(refusals.late);
  state.counters["refused_late_per_s"] = refusals.late_per_second();
  state.counters["clock_late"] = static_cast<double>(readings.late);
  state.counters["clock_late_per_s"] = readings.late_per_second();
  state.counters["slowest_us"] =
      std::chrono::duration<double, std::micro>(refusals.slowest).count();
  state.counters["added_kb"] = static_cast<double>(peak_kilobytes() - before);
}
BENCHMARK(overload)->Name("overload/topos/cpu/60s")->Iterations(1)->UseRealTime();

// Items for which there is no room, each refused at once: the slowest of all refusals too.
void refused_item(benchmark::State& state) {
  std::latch over(1);
  {
    topos::batcher<int, int> b(
        [&](std::span<const int> batch, std::span<int>) {
          over.wait();
          benchmark::DoNotOptimize(batch.data());
        },
        {.devices = {topos::cpu()}, .queue_capacity = 64, .full = topos::when_full::fail});
    while (b.stats().batches() == 0) static_cast<void>(b.submit(1));
    for (int i = 0; i < 64; ++i) static_cast<void>(b.submit(1));
    std::chrono::duration<double, std::micro> slowest{};
    std::size_t wrong = 0;
    for (auto _ : state) {
      const auto started = std::chrono::steady_clock::now();
      const auto refused = b.submit(1);
      wrong += refused.is_ready() ? 0 : 1;
      slowest = std::max<decltype(slowest)>(slowest, std::chrono::steady_clock::now() - started);
    }
    state.counters["slowest_us"] = slowest.count();
    state.counters["not_refused"] = static_cast<double>(wrong);
    over.count_down();
  }
}
BENCHMARK(refused_item)->Name("executor/refused/topos/cpu/1")->UseRealTime();

}  // namespace
