// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A sentence encoder: texts in, unit vectors out, on a device chosen at run time.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <topos/core/config.hpp>
#include <topos/device/device.hpp>
#include <topos/linalg/precision.hpp>
#include <vector>

namespace sentence_encoder {

/// A text's vector, of Euclidean length 1.
using embedding = std::vector<float>;

/// The weights of all-MiniLM-L6-v2, or another BERT model with mean pooling, on a device: loaded
/// once, shared by all encoders there.
class model {
 public:
  /// Loads the model in a folder (config.json, sentence_bert_config.json, vocab.txt,
  /// model.safetensors) to a device, to multiply with some precision; blocks until the weights are
  /// there. Throws std::runtime_error or topos::error, naming the file and what is wrong with it.
  model(topos::device d, const std::filesystem::path& folder,
        topos::precision p = topos::precision::high);
  ~model();

  [[nodiscard]] topos::device device() const;

  /// How many numbers an embedding has.
  [[nodiscard]] std::size_t dimension() const;

  /// How long the weights took from the file to the device.
  [[nodiscard]] std::chrono::duration<double> load_time() const;

 private:
  friend class encoder;
  struct state;
  std::unique_ptr<const state> state_;
};

/// Encodes with a model's weights. On the CPU each encoder computes on the thread that calls it,
/// on one core: as many encoders as cores keep all of them busy.
class encoder {
 public:
  explicit encoder(std::shared_ptr<const model> m);

  /// The embeddings of a batch of texts, in their order. Blocks. To be called by one thread at a
  /// time.
  [[nodiscard]] std::vector<embedding> encode(std::span<const std::string> texts);

 private:
  void encode_part(std::span<const std::string> texts, std::vector<embedding>& result);

  std::shared_ptr<const model> model_;
  // The tokens of a part of a batch, kept for their memory.
  std::vector<std::int32_t> ids_;
  std::vector<std::int32_t> positions_;
  std::vector<topos::index_t> lengths_;
};

}  // namespace sentence_encoder
