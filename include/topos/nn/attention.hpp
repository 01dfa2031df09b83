// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scaled dot-product attention over sequences of mixed lengths.

#include <cmath>
#include <topos/device/common_device.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/kernels/tile.hpp>
#include <topos/nn/sequences.hpp>

namespace topos::nn {

namespace detail {

using namespace topos::detail;

/// Item s * heads + h attends within sequence s with head h, some queries at a time.
struct attention_kernel {
  /// Queries whose scores lie in scratch memory together.
  static constexpr index_t queries = 8;

  const float* qkv;  // (rows, 3, heads, width)
  float* out;        // (rows, heads, width)
  const std::int32_t* offsets;
  index_t sequences;
  index_t heads;
  index_t width;
  index_t longest;
  float scale;

  /// Scores of `longest` keys are padded to whole SIMD batches.
  [[nodiscard]] KOKKOS_FUNCTION static index_t padded(index_t keys) {
    return (keys + 15) / 16 * 16;
  }

  [[nodiscard]] index_t items() const { return sequences * heads; }
  [[nodiscard]] index_t cost() const { return width * longest; }
  /// Bytes of scratch memory: the transposed keys, and the scores of some queries.
  [[nodiscard]] std::size_t scratch() const {
    return static_cast<std::size_t>((width + queries) * padded(longest)) * sizeof(float);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t item) const {
    const index_t first = offsets[item / heads];
    const index_t length = offsets[item / heads + 1] - first;
    const index_t stride = 3 * heads * width;
    const index_t columns = padded(length);
    const float* q = qkv + first * stride + item % heads * width;
    const float* k = q + heads * width;
    const float* v = k + heads * width;
    float* y = out + first * heads * width + item % heads * width;
    auto* keys = static_cast<float*>(team.scratch());
    float* scores = keys + width * padded(longest);
    transpose_tile(team, keys, columns, k, stride, length, width, columns);
    for (index_t i = 0; i < length; i += queries) {
      const index_t m = length - i < queries ? length - i : queries;
      multiply(team, scores, columns, q + i * stride, stride, keys, columns, m, columns, width);
      float totals[queries];
      for (index_t row = 0; row < m; ++row)
        totals[row] = soften(team, scores + row * columns, length, columns);
      multiply(team, y + i * heads * width, heads * width, scores, columns, v, stride, m, width,
               length);
      for (index_t row = 0; row < m; ++row) {
        float* to = y + (i + row) * heads * width;
        const constant_row<float> inverse{1.0f / totals[row]};
        assign(team, to, make_row(multiply_op{}, memory_row<float>{{to}}, inverse), 0, width);
      }
    }
  }

 private:
  // scores become exp(scale (score - largest)), 0 from `length` on; returns their sum.
  template <class Team>
  KOKKOS_FUNCTION float soften(const Team& team, float* scores, index_t length,
                               index_t columns) const {
    using constant = constant_row<float>;
    const memory_row<float> own{{scores}};
    assign(team, scores + length, constant{-Kokkos::Experimental::infinity_v<float>}, length,
           columns);
    const auto shifted = make_row(subtract_op{}, own, constant{row_largest(team, own, columns)});
    const auto scaled = make_row(multiply_op{}, shifted, constant{scale});
    assign(team, scores, make_row(exp_op{}, scaled), 0, columns);
    return row_sum(team, own, columns);
  }
};

}  // namespace detail

/// Enqueues softmax(q k^T / sqrt(width)) v for each sequence and head: Vaswani et al.,
/// arXiv:1706.03762. `qkv`, (rows, 3 * heads * width), holds queries, keys and values side by
/// side, each head by head; returns (rows, heads * width) at once. Throws `shape_mismatch` and
/// `device_mismatch`.
[[nodiscard]] inline tensor<float, 2> attention(
    const tensor<float, 2>& qkv, const sequences& batch, index_t heads,
    std::source_location where = std::source_location::current()) {
  const index_t hidden = qkv.shape()[1] / 3;
  if (heads <= 0 || qkv.shape()[1] != 3 * hidden || hidden % heads != 0 ||
      qkv.shape()[0] != batch.rows()) {
    throw shape_mismatch(
        topos::detail::concat("attention: qkv ", to_string(qkv.shape()), " for ", heads,
                              " heads and sequences of ", batch.rows(), " rows in all"),
        where);
  }
  topos::detail::common_device("attention", "qkv", qkv, "the offsets", batch.offsets(), where);
  tensor<float, 2> out({batch.rows(), hidden}, qkv.device(), where);
  if (out.size() == 0) return out;  // of no columns there may be any number of heads
  const index_t width = hidden / heads;
  const detail::attention_kernel kernel{
      qkv.data(), out.data(), batch.offsets().data(), batch.count(),
      heads,      width,      batch.longest(),        1.0f / std::sqrt(static_cast<float>(width))};
  topos::detail::submit_kernel("topos::nn::attention", kernel, out.device(),
                               {qkv.memory(), batch.offsets().memory()}, {out.memory()},
                               out.size() * batch.longest(), "topos::nn::attention", where);
  return out;
}

}  // namespace topos::nn
