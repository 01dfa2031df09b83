// SPDX-License-Identifier: Apache-2.0
#include "encoder.hpp"

#include <stdexcept>
#include <topos/io/safetensors.hpp>

#include "bert.hpp"
#include "model_config.hpp"
#include "wordpiece.hpp"

namespace sentence_encoder {

namespace {

// Tokens that go through the network together: what one layer makes of them fits a core's own
// cache, and their matrix products are large enough to run at full speed.
constexpr std::size_t part_tokens = 448;

}  // namespace

struct model::state {
  state(topos::device d, const std::filesystem::path& folder, topos::precision p)
      : place(d),
        config(read_model_config(folder)),
        tokens(folder / "vocab.txt", config.max_tokens),
        network(config.bert, d, p) {
    // An id that is not there would be given another token's vector.
    if (tokens.size() > config.bert.vocabulary) {
      throw std::runtime_error((folder / "vocab.txt").string() + ": has " +
                               std::to_string(tokens.size()) + " tokens, the model " +
                               std::to_string(config.bert.vocabulary));
    }
  }

  topos::device place;
  model_config config;
  wordpiece tokens;
  bert network;
  std::chrono::duration<double> load_time{};
};

model::model(topos::device d, const std::filesystem::path& folder, topos::precision p) {
  auto loaded = std::make_unique<state>(d, folder, p);
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path file = folder / "model.safetensors";
  const topos::safetensors weights(file);
  try {
    topos::nn::load(loaded->network, weights,
                    {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"});
  } catch (const topos::invalid_argument& failure) {
    throw std::runtime_error(file.string() + ": " + failure.what());
  }
  block_until_ready(d);
  // What was only needed on the way, the weights in the file's layout.
  topos::empty_cache(d);
  loaded->load_time = std::chrono::steady_clock::now() - start;
  state_ = std::move(loaded);
}

model::~model() = default;

topos::device model::device() const { return state_->place; }

std::size_t model::dimension() const {
  return static_cast<std::size_t>(state_->config.bert.hidden);
}

std::chrono::duration<double> model::load_time() const { return state_->load_time; }

encoder::encoder(std::shared_ptr<const model> m) : model_(std::move(m)) {}

std::vector<embedding> encoder::encode(std::span<const std::string> texts) {
  const topos::in_place_scope scope;
  std::vector<embedding> result;
  result.reserve(texts.size());
  ids_.clear();
  positions_.clear();
  lengths_.clear();
  std::size_t first = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t before = ids_.size();
    model_->state_->tokens.encode(texts[i], ids_);
    lengths_.push_back(static_cast<topos::index_t>(ids_.size() - before));
    for (std::int32_t p = 0; p < lengths_.back(); ++p) positions_.push_back(p);
    if (ids_.size() >= part_tokens || i + 1 == texts.size()) {
      encode_part(texts.subspan(first, i + 1 - first), result);
      first = i + 1;
    }
  }
  return result;
}

void encoder::encode_part(std::span<const std::string> texts, std::vector<embedding>& result) {
  const topos::device place = model_->device();
  const topos::shape<1> count{static_cast<topos::index_t>(ids_.size())};
  const token_batch batch{topos::from_host<std::int32_t, 1>(ids_, count, place),
                          topos::from_host<std::int32_t, 1>(positions_, count, place),
                          topos::nn::sequences(lengths_, place)};
  const auto vectors =
      device_put(topos::nn::mean_pool(model_->state_->network(batch), batch.sequences,
                                      topos::nn::pooled::normalized),
                 topos::cpu());
  const std::span<const float> values = vectors.host();
  const std::size_t dimension = model_->dimension();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto one = values.subspan(i * dimension, dimension);
    result.emplace_back(one.begin(), one.end());
  }
  ids_.clear();
  positions_.clear();
  lengths_.clear();
}

}  // namespace sentence_encoder
