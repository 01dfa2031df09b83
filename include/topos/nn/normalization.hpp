// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Layer normalisation.

#include <topos/kernels/rows.hpp>
#include <topos/nn/parameter.hpp>

namespace topos::nn {

namespace detail {

using namespace topos::detail;

/// Item r computes and normalises row r.
template <class Rows>
struct layer_norm_kernel {
  float* out;
  Rows rows;
  const float* weight;
  const float* bias;
  index_t columns;
  float epsilon;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t r) const {
    using own = memory_row<float>;
    using constant = constant_row<float>;
    using centred = binary_row<subtract_op, own, constant>;
    using scaled = binary_row<multiply_op, centred, constant>;
    using weighted = binary_row<multiply_op, scaled, own>;
    float* y = out + r * columns;
    const auto n = static_cast<float>(columns);
    assign(team, y, rows.row(r), 0, columns);
    const centred c{{y}, {sum(team, own{y}, columns) / n}};
    const float variance = sum(team, unary_row<square_op, centred>{c}, columns) / n;
    const weighted w{{c, {1.0f / Kokkos::sqrt(variance + epsilon)}}, {weight}};
    assign(team, y, binary_row<add_op, weighted, own>{w, {bias}}, 0, columns);
  }
};

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis: Ba, Kiros and Hinton,
/// arXiv:1607.06450.
class layer_norm {
 public:
  layer_norm(index_t columns, float epsilon, device d)
      : weight_({columns}, d), bias_({columns}, d), epsilon_(epsilon) {}

  /// Enqueues the norm of an expression (rows, columns), computed in the same kernel.
  template <operand X>
  [[nodiscard]] tensor<float, 2> operator()(
      const X& x, std::source_location where = std::source_location::current()) const {
    const auto e = detail::as_node(x);
    const shape<2> extents = e.shape();
    if (extents[1] != weight_.shape()[0]) {
      throw shape_mismatch(topos::detail::concat("layer_norm: x ", to_string(extents),
                                                 " for weights ", to_string(weight_.shape())),
                           where);
    }
    if (e.device() != weight_.device()) {
      throw device_mismatch(
          topos::detail::concat("layer_norm: x ", to_string(extents), " is on ", *e.device(),
                                ", the weights are on ", weight_.device()),
          where);
    }
    tensor<float, 2> y(extents, weight_.device(), where);
    const topos::detail::walk<2> rows{extents, false};
    std::vector<buffer> reads{weight_.value(where).memory(), bias_.value(where).memory()};
    e.collect(reads);
    topos::detail::queue_of(y.device(), where)
        .submit(std::move(reads), {y.memory()}, y.size(),
                [kernel = detail::layer_norm_kernel<decltype(e.rows(rows))>{y.data(), e.rows(rows),
                                                                            weight_.value().data(),
                                                                            bias_.value().data(),
                                                                            extents[1], epsilon_},
                 count = extents[0]](const auto& stream) {
                  stream.for_each("topos::nn::layer_norm", count, kernel.columns, 0, kernel);
                });
    return y;
  }

  template <class Visit>
  void parameters(const Visit& visit) {
    visit("weight", weight_);
    visit("bias", bias_);
  }

 private:
  parameter<1> weight_;
  parameter<1> bias_;
  float epsilon_;
};

}  // namespace topos::nn
