// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A dense layer.

#include <topos/linalg/prepared_matrix.hpp>
#include <topos/nn/parameter.hpp>

namespace topos::nn {

/// act(x W^T + b), for x (rows, inputs), to some precision. Once loaded it keeps W in its
/// provider's layout alone.
class linear {
 public:
  /// Without weights, until `load` or `loaded()` after its parameters were set.
  linear(index_t inputs, index_t outputs, device d = default_device::current(),
         precision p = precision::highest)
      : weight_({outputs, inputs}, d), bias_({outputs}, d), precision_(p) {}

  /// Enqueues the layer on x, (rows, inputs), with an activation fused; returns (rows, outputs) at
  /// once. Throws `shape_mismatch`, `device_mismatch`, and `invalid_argument` before it is loaded.
  [[nodiscard]] tensor<float, 2> operator()(
      const tensor<float, 2>& x, activation act = activation::none,
      std::source_location where = std::source_location::current()) const {
    return prepared_.multiply(x, bias_.value(where), act, where);
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("weight", weight_);
    visit("bias", bias_);
  }

  void loaded() { prepared_ = prepared_matrix(weight_.take(), precision_); }

 private:
  parameter<2> weight_;
  parameter<1> bias_;
  precision precision_;
  prepared_matrix prepared_;
};

}  // namespace topos::nn
