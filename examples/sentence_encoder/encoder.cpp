// SPDX-License-Identifier: Apache-2.0
#include "encoder.hpp"

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <topos/io/safetensors.hpp>

#include "bert.hpp"
#include "model_config.hpp"
#include "wordpiece.hpp"

namespace sentence_encoder {

struct encoder::state {
  state(topos::device d, const std::filesystem::path& model)
      : place(d),
        config(read_model_config(model)),
        tokens(model / "vocab.txt", config.max_tokens),
        network(config.bert, d) {}

  // The tokens of a batch, laid end to end on the device.
  token_batch tokenize(std::span<const std::string> texts) {
    ids.clear();
    positions.clear();
    lengths.clear();
    for (const std::string& text : texts) {
      const std::size_t before = ids.size();
      tokens.encode(text, ids);
      lengths.push_back(static_cast<topos::index_t>(ids.size() - before));
      for (std::int32_t p = 0; p < lengths.back(); ++p) positions.push_back(p);
    }
    const topos::shape<1> count{static_cast<topos::index_t>(ids.size())};
    return {topos::from_host<std::int32_t, 1>(ids, count, place),
            topos::from_host<std::int32_t, 1>(positions, count, place),
            topos::nn::sequences(lengths, place)};
  }

  topos::device place;
  model_config config;
  wordpiece tokens;
  bert network;
  std::chrono::duration<double> load_time{};
  // Kept from batch to batch for their memory.
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> positions;
  std::vector<topos::index_t> lengths;
};

encoder::encoder(topos::device d, const std::filesystem::path& model)
    : state_(std::make_unique<state>(d, model)) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path file = model / "model.safetensors";
  const topos::safetensors weights(file);
  try {
    topos::nn::load(state_->network, weights,
                    {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"});
  } catch (const topos::invalid_argument& failure) {
    throw std::runtime_error(file.string() + ": " + failure.what());
  }
  block_until_ready(d);
  state_->load_time = std::chrono::steady_clock::now() - start;
}

encoder::~encoder() = default;

std::vector<embedding> encoder::encode(std::span<const std::string> texts) {
  if (texts.empty()) return {};
  const token_batch batch = state_->tokenize(texts);
  const auto vectors = device_put(
      topos::nn::mean_pool(state_->network(batch), batch.sequences, topos::nn::pooled::normalized),
      topos::cpu());
  const std::span<const float> values = vectors.host();
  std::vector<embedding> result;
  result.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto one = values.subspan(i * dimension(), dimension());
    result.emplace_back(one.begin(), one.end());
  }
  return result;
}

std::size_t encoder::dimension() const {
  return static_cast<std::size_t>(state_->config.bert.hidden);
}

std::chrono::duration<double> encoder::load_time() const { return state_->load_time; }

}  // namespace sentence_encoder
