// SPDX-License-Identifier: Apache-2.0
#include "model_config.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace sentence_encoder {

namespace {

// One of the model's JSON files, with errors that say which file and which entry.
class json_file {
 public:
  explicit json_file(std::filesystem::path path) : path_(std::move(path)) {
    std::ifstream file(path_);
    if (!file) throw std::runtime_error(path_.string() + ": cannot be read");
    content_ = nlohmann::json::parse(file, nullptr, false);
    if (!content_.is_object()) throw std::runtime_error(path_.string() + ": is not a JSON object");
  }

  [[nodiscard]] topos::index_t size(const char* key, topos::index_t most,
                                    topos::index_t least = 1) const {
    const auto found = content_.find(key);
    if (found == content_.end() || !found->is_number_integer() || *found < least || *found > most) {
      throw std::runtime_error(path_.string() + ": \"" + key + "\" is not an integer from " +
                               std::to_string(least) + " to " + std::to_string(most));
    }
    return found->get<topos::index_t>();
  }

  [[nodiscard]] float fraction(const char* key) const {
    const auto found = content_.find(key);
    if (found == content_.end() || !found->is_number() || *found < 0 || *found > 1) {
      throw std::runtime_error(path_.string() + ": \"" + key + "\" is not a number from 0 to 1");
    }
    return found->get<float>();
  }

  void require(const char* key, const char* value) const {
    if (content_.value(key, nlohmann::json(value)) != value) {
      throw std::runtime_error(path_.string() + ": \"" + key + "\" is " + content_[key].dump() +
                               ", only \"" + value + "\" can be run");
    }
  }

 private:
  std::filesystem::path path_;
  nlohmann::json content_;
};

}  // namespace

model_config read_model_config(const std::filesystem::path& model) {
  if (!std::filesystem::is_directory(model)) {
    throw std::runtime_error(model.string() + ": there is no such model folder");
  }
  constexpr topos::index_t most = topos::index_t{1} << 24;
  const json_file file(model / "config.json");
  file.require("model_type", "bert");
  file.require("hidden_act", "gelu");
  file.require("position_embedding_type", "absolute");
  const bert_config config{
      .vocabulary = file.size("vocab_size", most),
      .positions = file.size("max_position_embeddings", most),
      .token_types = file.size("type_vocab_size", most),
      .hidden = file.size("hidden_size", most),
      .intermediate = file.size("intermediate_size", most),
      .heads = file.size("num_attention_heads", most),
      .layers = file.size("num_hidden_layers", 1000),
      .epsilon = file.fraction("layer_norm_eps"),
  };
  if (config.hidden % config.heads != 0) {
    throw std::runtime_error((model / "config.json").string() + ": hidden_size " +
                             std::to_string(config.hidden) + " is not a multiple of the " +
                             std::to_string(config.heads) + " heads");
  }
  const json_file limits(model / "sentence_bert_config.json");
  // [CLS] and [SEP] alone take 2.
  return {config, static_cast<std::size_t>(limits.size("max_seq_length", config.positions, 2))};
}

}  // namespace sentence_encoder
