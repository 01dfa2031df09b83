// SPDX-License-Identifier: Apache-2.0
#include "encoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <topos/device/device.hpp>
#include <topos/io/npy.hpp>
#include <topos/linalg/provider.hpp>
#include <vector>

#include "../support/folders.hpp"

namespace encoder_test {

using sentence_encoder::embedding;
using sentence_encoder::encoder;
using sentence_encoder::model;
using support::model_folder;

const std::filesystem::path data = support::data_folder() / "encoder";

#define REQUIRE_MODEL() \
  if (model_folder().empty()) GTEST_SKIP() << "no model: scripts/fetch_model gets it"

std::vector<std::string> kept_texts() {
  std::ifstream file(data / "texts.txt", std::ios::binary);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) texts.push_back(line);
  return texts;
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  float largest = a.size() == b.size() ? 0.0f : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

TEST(encoder, gives_the_embeddings_of_sentence_transformers) {
  REQUIRE_MODEL();
  const auto expected = topos::read_npy<float>(data / "embeddings.npy");
  const std::vector<std::string> texts = kept_texts();
  ASSERT_EQ(static_cast<std::size_t>(expected.shape.at(0)), texts.size());
  const auto check = [&](topos::device d, topos::precision p) {
    SCOPED_TRACE(p == topos::precision::high ? "high" : "highest");
    const auto weights = std::make_shared<const model>(d, model_folder(), p);
    encoder to_vectors(weights);

    const std::vector<embedding> actual = to_vectors.encode(texts);

    ASSERT_EQ(actual.size(), texts.size());
    ASSERT_EQ(static_cast<std::size_t>(expected.shape.at(1)), weights->dimension());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto row =
          std::span(expected.values).subspan(i * weights->dimension(), weights->dimension());
      EXPECT_LT(largest_difference(actual[i], row), 2e-6f) << "text " << i << " on " << d;
    }
  };
  for (const topos::device d : topos::devices()) {
    check(d, topos::precision::high);
    check(d, topos::precision::highest);
    check(d, topos::precision::reproducible);
  }
}

TEST(encoder, gives_unit_vectors) {
  REQUIRE_MODEL();
  encoder to_vectors(std::make_shared<const model>(topos::cpu(), model_folder()));

  const embedding vector = to_vectors.encode(std::vector<std::string>{"a text"}).at(0);

  double square = 0;
  for (const float x : vector) square += static_cast<double>(x) * x;
  EXPECT_NEAR(square, 1.0, 1e-6);
}

TEST(encoder, depends_on_its_own_text_alone) {
  REQUIRE_MODEL();
  for (const topos::precision p : {topos::precision::high, topos::precision::reproducible}) {
    encoder to_vectors(std::make_shared<const model>(topos::cpu(), model_folder(), p));
    const std::vector<std::string> texts = kept_texts();
    const std::vector<embedding> together = to_vectors.encode(texts);

    for (std::size_t i = 0; i < texts.size(); i += 7) {
      const embedding alone = to_vectors.encode(std::span(texts).subspan(i, 1)).at(0);
      // To the bit, but where the products' provider chooses its kernel by the number of rows.
      const auto provider = topos::matmul_provider(topos::device_kind::cpu, p);
      const float allowed = provider == "AMX" || provider == "built-in" ? 0.0f : 1e-6f;
      EXPECT_LE(largest_difference(alone, together[i]), allowed) << provider << ", text " << i;
    }
  }
}

TEST(encoder, gives_the_same_bits_again) {
  REQUIRE_MODEL();
  encoder to_vectors(std::make_shared<const model>(topos::cpu(), model_folder()));
  const std::vector<std::string> texts = kept_texts();

  EXPECT_EQ(to_vectors.encode(texts), to_vectors.encode(texts));
}

TEST(encoder, encodes_nothing_to_nothing) {
  REQUIRE_MODEL();
  encoder to_vectors(std::make_shared<const model>(topos::cpu(), model_folder()));

  EXPECT_TRUE(to_vectors.encode({}).empty());
}

TEST(encoder, names_the_file_that_is_missing) {
  const std::filesystem::path missing = std::filesystem::temp_directory_path() / "no-such-model";

  try {
    model from_nowhere(topos::cpu(), missing);
    FAIL() << "a model was loaded from nowhere";
  } catch (const std::runtime_error& failure) {
    EXPECT_NE(std::string(failure.what()).find(missing.string()), std::string::npos);
  }
}

}  // namespace encoder_test
