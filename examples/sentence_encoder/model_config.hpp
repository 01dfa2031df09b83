// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a model's folder says of it, before any weight is read.

#include <cstddef>
#include <filesystem>
#include <topos/core/config.hpp>

namespace sentence_encoder {

/// The sizes of a BERT model, as its config.json gives them.
struct bert_config {
  topos::index_t vocabulary = 0;
  topos::index_t positions = 0;
  topos::index_t token_types = 0;
  topos::index_t hidden = 0;
  topos::index_t intermediate = 0;
  topos::index_t heads = 0;
  topos::index_t layers = 0;
  float epsilon = 0;
};

/// A model's sizes, and the most tokens that a text may have, [CLS] and [SEP] included.
struct model_config {
  bert_config bert;
  std::size_t max_tokens = 0;
};

/// Reads config.json and sentence_bert_config.json in a model's folder. Throws std::runtime_error,
/// naming the file and the entry, if one is missing, has no sensible value, or asks for what this
/// program does not have.
[[nodiscard]] model_config read_model_config(const std::filesystem::path& model);

}  // namespace sentence_encoder
