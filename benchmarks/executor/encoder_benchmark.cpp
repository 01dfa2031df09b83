// SPDX-License-Identifier: Apache-2.0

/// The sentence encoder by single submissions, against its own bulk rate and in batches by length.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <topos/device/device.hpp>
#include <topos/executor.hpp>
#include <utility>
#include <vector>

#include "encoder.hpp"
#include "window.hpp"

namespace {

using sentence_encoder::embedding;
using sentence_encoder::encoder;

std::size_t length(const std::string& text) { return text.size(); }

// The encoder as one that pads: each text of a batch takes as many tokens as the longest. (A word
// of `mixed_texts` is a token; what this encodes is more than the text, at the cost that padding
// has.)
class padding_encoder {
 public:
  explicit padding_encoder(std::shared_ptr<const sentence_encoder::model> m)
      : encoder_(std::move(m)) {}

  [[nodiscard]] std::vector<embedding> encode(std::span<const std::string> texts) {
    const auto words = [](const std::string& text) {
      return std::count(text.begin(), text.end(), ' ');
    };
    std::ptrdiff_t longest = 0;
    for (const std::string& text : texts) longest = std::max(longest, words(text));
    padded_.assign(texts.begin(), texts.end());
    for (std::string& text : padded_) {
      for (std::ptrdiff_t more = longest - words(text); more > 0; --more) text += "a ";
    }
    return encoder_.encode(padded_);
  }

 private:
  encoder encoder_;
  std::vector<std::string> padded_;
};

template <class Model>
using executor = topos::deployment<Model, topos::endpoint<"/encode", &Model::encode, length>>;

// A replica for each core; none where the model is not there.
template <class Model = encoder>
std::unique_ptr<executor<Model>> start(benchmark::State& state, topos::executor_options options) {
  const std::filesystem::path folder = TOPOS_MODEL_DIR;
  if (!std::filesystem::exists(folder / "model.safetensors")) {
    state.SkipWithError("there is no model; scripts/fetch_model gets it");
    return nullptr;
  }
  options.devices = {topos::cpu()};
  options.replicas = static_cast<std::size_t>(topos::properties(topos::cpu()).cores);
  const auto model = std::make_shared<const sentence_encoder::model>(topos::cpu(), folder);
  return std::make_unique<executor<Model>>(options, [=](topos::device) { return Model(model); });
}

const std::string& seed_text() {
  static const std::string text = "Using a GPU allows you to significantly speed up encoding.";
  return text;
}

template <class Model = encoder>
void by_submission(benchmark::State& state, const topos::executor_options& options,
                   const std::vector<std::string>& texts) {
  const auto dep = start<Model>(state, options);
  if (!dep) return;
  bench::window<embedding> producer(std::max<std::size_t>(256, 2 * options.look_ahead));
  const auto all = [&](std::size_t count) {
    producer.run(count, [&](std::size_t i) { return dep->template submit<"/encode">(texts[i]); });
  };
  all(texts.size() / 4);
  for (auto _ : state) all(texts.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
  state.counters["mean_batch"] =
      static_cast<double>(dep->stats().done) / static_cast<double>(dep->stats().batches());
}

void encode(benchmark::State& state) {
  by_submission(state, {.max_batch_size = 32}, std::vector<std::string>(640, seed_text()));
}
BENCHMARK(encode)
    ->Name("executor/encode/topos/cpu/32")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void bulk(benchmark::State& state) {
  const auto dep = start(state, {});
  if (!dep) return;
  const std::vector<std::string> texts(640, seed_text());
  const auto all = [&] {
    for (const embedding& e : dep->post<"/encode">(texts, {.request_size = 32})) {
      benchmark::DoNotOptimize(e.data());
    }
  };
  all();
  for (auto _ : state) all();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
}
BENCHMARK(bulk)->Name("executor/encode/bulk/cpu/32")->UseRealTime()->Unit(benchmark::kMillisecond);

// Mostly short, a few of some 250 tokens. Each word is a token.
std::vector<std::string> mixed_texts() {
  const std::string words[] = {"using ", "a ",    "device ", "allows ", "you ",  "to ",
                               "read ",  "many ", "texts ",  "faster ", "than ", "before "};
  std::vector<std::string> texts;
  std::uint32_t bits = 1;
  const auto random = [&] { return (bits = bits * 1664525u + 1013904223u) >> 8U; };
  for (int i = 0; i < 640; ++i) {
    const double share = static_cast<double>(random()) / (1U << 24U);
    std::string text;
    for (int w = 4 + static_cast<int>(240 * share * share * share * share); w > 0; --w) {
      text += words[random() % std::size(words)];
    }
    texts.push_back(text);
  }
  return texts;
}

void mixed(benchmark::State& state, const topos::executor_options& options) {
  by_submission(state, options, mixed_texts());
}
void mixed_padded(benchmark::State& state, const topos::executor_options& options) {
  by_submission<padding_encoder>(state, options, mixed_texts());
}
const topos::executor_options plain{.max_batch_size = 32};
const topos::executor_options by_length{
    .max_batch_size = 128, .max_batch_cost = 8192, .look_ahead = 256};

BENCHMARK_CAPTURE(mixed, plain, plain)
    ->Name("executor/mixed/plain/cpu/32")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mixed, by_length, by_length)
    ->Name("executor/mixed/sorted/cpu/32")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mixed_padded, plain, plain)
    ->Name("executor/mixed_padded/plain/cpu/32")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mixed_padded, by_length, by_length)
    ->Name("executor/mixed_padded/sorted/cpu/32")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
