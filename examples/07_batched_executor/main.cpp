// SPDX-License-Identifier: Apache-2.0

/// A batched executor: a model on a device that is chosen at run time, fed by a generator.

#include <cstddef>
#include <iostream>
#include <ranges>
#include <span>
#include <string>
#include <topos/executor.hpp>
#include <topos/executor/byte_model.hpp>
#include <topos/topos.hpp>
#include <vector>

// [model]
struct document {
  std::string text;
  std::vector<float> embedding;
};

class my_gpu_exec {
 public:
  explicit my_gpu_exec(topos::device d) : device_(d) {}

  std::vector<document> encode(std::span<const document> docs) {
    // Generate random embeddings
    const auto [next, key] = topos::random::split(key_);
    key_ = next;
    const auto count = static_cast<topos::index_t>(docs.size());
    const topos::default_device scope{device_};
    topos::tensor<float, 2> embeddings = topos::random::uniform(key, {count, 5});
    const bool on_gpu = embeddings.device().kind() == topos::device_kind::cuda;

    const topos::tensor<float, 2> rows = embeddings.cpu();
    const auto numbers = rows.host();
    std::vector<document> results(docs.begin(), docs.end());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto row = numbers.subspan(5 * i, 5);
      results[i].embedding.assign(row.begin(), row.end());
      results[i].text = on_gpu ? "Embeddings calculated on GPU" : "Embeddings calculated on CPU";
    }
    return results;
  }

 private:
  topos::device device_;
  topos::random::key key_{0};
};
// [/model]

// [deployment]
using executor = topos::deployment<my_gpu_exec, topos::endpoint<"/encode", &my_gpu_exec::encode>>;
// [/deployment]

void print(const document& doc) {
  std::cout << "Document embedding:";
  for (const float number : doc.embedding) std::cout << ' ' << number;
  std::cout << '\n' << doc.text << '\n';
}

// [bytes]
// The length of each input, and of how many it was one: a batch of raw bytes in, texts out.
std::vector<std::string> batch_process(std::span<const topos::byte_model::input> inputs) {
  std::vector<std::string> results;
  for (const auto& input : inputs) {
    results.push_back("{\"bytes\": " + std::to_string(input.size()) +
                      ", \"batch\": " + std::to_string(inputs.size()) + "}");
  }
  return results;
}
// [/bytes]

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};

  std::cout << "== cpu ==\n";
  // [cpu]
  {
    executor dep{{.devices = {topos::cpu()}}};
    const std::vector<document> docs(1);
    for (const document& doc : dep.post<"/encode">(docs)) print(doc);
  }
  // [/cpu]

  std::cout << "== gpu ==\n";
  // [gpu]
  {
    executor dep{{.devices = {topos::try_gpu()}}};  // the GPU, or the CPU where there is none
    const std::vector<document> docs(1);
    for (const document& doc : dep.post<"/encode">(docs)) print(doc);
  }
  // [/gpu]

  executor dep{{.devices = {topos::try_gpu()}}};
  std::cout << "== generator ==\n";
  // [generator]
  auto generate_docs =
      std::views::iota(0, 10'000) | std::views::transform([](int) {
        return document{"Using a GPU allows you to significantly speed up encoding.", {}};
      });
  std::size_t encoded = 0;
  for (const document& doc :
       dep.post<"/encode">(generate_docs, {.request_size = 32, .show_progress = true})) {
    if (!doc.embedding.empty()) ++encoded;
  }
  std::cout << encoded << " documents in " << dep.stats().batches() << " batches\n";
  // [/generator]

  std::cout << "== single ==\n";
  // [single]
  std::vector<topos::future<document>> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(dep.submit<"/encode">({}));
  for (auto& each : futures) encoded += each.get().embedding.size() == 5 ? 1 : 0;
  std::cout << encoded << " documents\n";
  // [/single]

  std::cout << "== serve ==\n";
  // [serve]
  topos::byte_model model({.batch_process = batch_process}, {.max_batch_size = 4});
  const topos::byte_model::input sample(1000);
  std::cout << model.test(sample) << '\n';  // a batch of one
  for (const std::string& result : model.test_batch(sample)) std::cout << result << '\n';
  // [/serve]
}
