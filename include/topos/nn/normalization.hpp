// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Layer normalisation.

#include <topos/device/common_device.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/nn/parameter.hpp>

namespace topos::nn {

namespace detail {

using namespace topos::detail;

/// Item r computes and normalises row r. It stays where the result goes meanwhile, or on a device
/// in memory of the team's if it fits there: those of all teams together are more than a cache has.
template <class Rows>
struct layer_norm_kernel {
  float* out;
  Rows rows;
  const float* weight;
  const float* bias;
  index_t count;
  index_t columns;
  float epsilon;
  bool on_device;

  [[nodiscard]] index_t items() const { return count; }
  [[nodiscard]] index_t cost() const { return columns; }
  [[nodiscard]] KOKKOS_FUNCTION bool keeps() const {
    constexpr index_t of_team = 40 << 10;  // bytes that each of several teams of a processor has
    return on_device && columns * static_cast<index_t>(sizeof(float)) <= of_team;
  }
  [[nodiscard]] std::size_t scratch() const {
    return keeps() ? static_cast<std::size_t>(columns) * sizeof(float) : 0;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t r) const {
    using constant = constant_row<float>;
    float* y = out + r * columns;
    float* const kept = keeps() ? static_cast<float*>(team.scratch()) : y;
    const memory_row<float> own{{kept}};
    const auto n = static_cast<float>(columns);
    assign(team, kept, rows.row(r), 0, columns);
    const auto centred = make_row(subtract_op{}, own, constant{row_sum(team, own, columns) / n});
    const float variance = row_sum(team, make_row(square_op{}, centred), columns) / n;
    const auto scaled =
        make_row(multiply_op{}, centred, constant{1.0f / Kokkos::sqrt(variance + epsilon)});
    const auto weighted = make_row(multiply_op{}, scaled, memory_row<float>{{weight}});
    assign(team, y, make_row(add_op{}, weighted, memory_row<float>{{bias}}), 0, columns);
  }
};

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis: Ba, Kiros and Hinton,
/// arXiv:1607.06450.
class layer_norm {
 public:
  /// Without weights, until it is loaded.
  explicit layer_norm(index_t columns, float epsilon = 1e-5f, device d = default_device::current())
      : weight_({columns}, d), bias_({columns}, d), epsilon_(epsilon) {}

  /// Enqueues the norm of an expression (rows, columns), computed in the same kernel; returns at
  /// once. Throws `shape_mismatch`, `device_mismatch`, and `invalid_argument` before it is loaded.
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
    topos::detail::common_device("layer_norm", "x", e, "the weights", weight_, where);
    tensor<float, 2> y(extents, weight_.device(), where);
    const auto rows = topos::detail::walk_of(e, 1);
    std::vector<buffer> reads{weight_.value(where).memory(), bias_.value(where).memory()};
    e.collect(reads);
    const detail::layer_norm_kernel<decltype(e.rows(rows))> kernel{
        y.data(),
        e.rows(rows),
        weight_.value().data(),
        bias_.value().data(),
        extents[0],
        extents[1],
        epsilon_,
        y.device().kind() != device_kind::cpu};
    topos::detail::submit_kernel("topos::nn::layer_norm", kernel, y.device(), std::move(reads),
                                 {y.memory()}, y.size(), "topos::nn::layer_norm", where);
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
