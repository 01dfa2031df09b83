// SPDX-License-Identifier: Apache-2.0
#pragma once

/// BERT's encoder (Devlin et al., arXiv:1810.04805) out of topos' layers, without padding.

#include <cstdint>
#include <string>
#include <topos/nn.hpp>
#include <topos/topos.hpp>
#include <vector>

#include "model_config.hpp"

namespace sentence_encoder {

/// A batch of token sequences on a device.
struct token_batch {
  topos::tensor<std::int32_t, 1> ids;        ///< (tokens)
  topos::tensor<std::int32_t, 1> positions;  ///< (tokens), counted from 0 in each sequence
  topos::nn::sequences sequences;
};

/// The sum of a token's, its position's and its type's vectors, normalised.
class bert_embeddings {
 public:
  bert_embeddings(const bert_config& c, topos::device d)
      : words_(c.vocabulary, c.hidden, d),
        positions_(c.positions, c.hidden, d),
        types_(c.token_types, c.hidden, d),
        norm_(c.hidden, c.epsilon, d) {}

  [[nodiscard]] topos::tensor<float, 2> operator()(const token_batch& batch) const {
    return norm_(words_(batch.ids) + types_.row(0) + positions_(batch.positions));
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("word_embeddings", words_);
    visit("position_embeddings", positions_);
    visit("token_type_embeddings", types_);
    visit("LayerNorm", norm_);
  }

 private:
  topos::nn::embedding words_;
  topos::nn::embedding positions_;
  topos::nn::embedding types_;
  topos::nn::layer_norm norm_;
};

/// Self-attention whose three projections are one matrix product.
class bert_attention {
 public:
  bert_attention(const bert_config& c, topos::device d, topos::precision p)
      : heads_(c.heads),
        precision_(p),
        query_{{{c.hidden, c.hidden}, d}, {{c.hidden}, d}},
        key_(query_),
        value_(query_),
        output_(c.hidden, c.hidden, d, p),
        norm_(c.hidden, c.epsilon, d) {}

  [[nodiscard]] topos::tensor<float, 2> operator()(const topos::tensor<float, 2>& x,
                                                   const topos::nn::sequences& batch) const {
    const auto qkv = projections_.multiply(x, bias_);
    return norm_(output_(topos::nn::attention(qkv, batch, heads_)) + x);
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("self.query", query_);
    visit("self.key", key_);
    visit("self.value", value_);
    visit("output.dense", output_);
    visit("output.LayerNorm", norm_);
  }

  void loaded() {
    projections_ = topos::prepared_matrix(
        topos::concatenate({query_.weight.take(), key_.weight.take(), value_.weight.take()}),
        precision_);
    bias_ = topos::concatenate({query_.bias.take(), key_.bias.take(), value_.bias.take()});
  }

 private:
  // One projection's parameters, until they are joined.
  struct projection {
    topos::nn::parameter<2> weight;
    topos::nn::parameter<1> bias;

    template <class Visit>
    void parameters(const Visit& visit) {
      visit("weight", weight);
      visit("bias", bias);
    }
  };

  topos::index_t heads_;
  topos::precision precision_;
  projection query_;
  projection key_;
  projection value_;
  topos::prepared_matrix projections_;
  topos::tensor<float, 1> bias_;
  topos::nn::linear output_;
  topos::nn::layer_norm norm_;
};

/// One layer: attention, then two dense layers, each with a residual connection and a norm.
class bert_layer {
 public:
  bert_layer(const bert_config& c, topos::device d, topos::precision p)
      : attention_(c, d, p),
        up_(c.hidden, c.intermediate, d, p),
        down_(c.intermediate, c.hidden, d, p),
        norm_(c.hidden, c.epsilon, d) {}

  [[nodiscard]] topos::tensor<float, 2> operator()(const topos::tensor<float, 2>& x,
                                                   const topos::nn::sequences& batch) const {
    const auto attended = attention_(x, batch);
    return norm_(down_(up_(attended, topos::activation::gelu)) + attended);
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("attention", attention_);
    visit("intermediate.dense", up_);
    visit("output.dense", down_);
    visit("output.LayerNorm", norm_);
  }

 private:
  bert_attention attention_;
  topos::nn::linear up_;
  topos::nn::linear down_;
  topos::nn::layer_norm norm_;
};

/// The whole encoder: a vector for each token. Its matrix products are of a given precision.
class bert {
 public:
  bert(const bert_config& c, topos::device d, topos::precision p) : embeddings_(c, d) {
    for (topos::index_t i = 0; i < c.layers; ++i) layers_.emplace_back(c, d, p);
  }

  /// Enqueues the encoder; returns (tokens, hidden) at once.
  [[nodiscard]] topos::tensor<float, 2> operator()(const token_batch& batch) const {
    topos::tensor<float, 2> x = embeddings_(batch);
    for (const bert_layer& layer : layers_) x = layer(x, batch.sequences);
    return x;
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("embeddings", embeddings_);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      visit(("encoder.layer." + std::to_string(i)).c_str(), layers_[i]);
    }
  }

 private:
  bert_embeddings embeddings_;
  std::vector<bert_layer> layers_;
};

}  // namespace sentence_encoder
