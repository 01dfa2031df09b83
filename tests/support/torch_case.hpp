// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Cases of tests/data/nn, which scripts/reference/nn.py writes with PyTorch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <topos/io/safetensors.hpp>
#include <vector>

#include "devices.hpp"
#include "folders.hpp"

namespace support {

/// One file of operands and results.
class torch_case {
 public:
  explicit torch_case(const std::string& name)
      : file_(data_folder() / "nn" / (name + ".safetensors")) {}

  [[nodiscard]] const topos::safetensors& file() const { return file_; }

  template <class T = float>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    const auto& entry = file_.at(name);
    EXPECT_EQ(entry.dtype, topos::dtype_v<T>) << name;
    std::vector<T> result(entry.bytes.size() / sizeof(T));
    std::memcpy(result.data(), entry.bytes.data(), entry.bytes.size());
    return result;
  }

  template <std::size_t Rank>
  [[nodiscard]] topos::tensor<float, Rank> tensor(const std::string& name, topos::device d) const {
    topos::shape<Rank> extents{};
    const auto& shape = file_.at(name).shape;
    EXPECT_EQ(shape.size(), Rank) << name;
    std::copy(shape.begin(), shape.end(), extents.begin());
    return tensor_on<Rank>(d, extents, values(name));
  }

  /// The lengths of the sequences of a batch.
  [[nodiscard]] std::vector<topos::index_t> lengths() const {
    const std::vector<std::int64_t> all = values<std::int64_t>("lengths");
    return {all.begin(), all.end()};
  }

 private:
  topos::safetensors file_;
};

/// Expects each of the numbers near the expected one, and tells of the first that is not.
inline void expect_near(const std::vector<float>& got, const std::vector<float>& expected,
                        double absolute, double relative = 0) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], absolute + relative * std::abs(expected[i])) << "at " << i;
  }
}

}  // namespace support
