// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A sentence encoder: texts in, unit vectors out, on a device chosen at run time.

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <topos/device/device.hpp>
#include <vector>

namespace sentence_encoder {

/// A text's vector, of Euclidean length 1.
using embedding = std::vector<float>;

/// all-MiniLM-L6-v2, or another BERT model with mean pooling, built once on its device.
class encoder {
 public:
  /// Loads the model in a folder (config.json, sentence_bert_config.json, vocab.txt,
  /// model.safetensors) to a device; blocks until the weights are there. Throws std::runtime_error
  /// or topos::error, naming the file and what is wrong with it.
  encoder(topos::device d, const std::filesystem::path& model);
  ~encoder();

  /// The embeddings of a batch of texts, in their order. Blocks. To be called by one thread at a
  /// time.
  [[nodiscard]] std::vector<embedding> encode(std::span<const std::string> texts);

  /// How many numbers an embedding has.
  [[nodiscard]] std::size_t dimension() const;

  /// How long the weights took from the file to the device.
  [[nodiscard]] std::chrono::duration<double> load_time() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sentence_encoder
