// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One vector for each sequence.

#include <topos/device/common_device.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/nn/sequences.hpp>

namespace topos::nn {

namespace detail {

using namespace topos::detail;

/// Item s averages the rows of sequence s, and divides by the Euclidean norm if asked to.
struct mean_pool_kernel {
  const float* x;
  float* out;
  const std::int32_t* offsets;
  index_t count;
  index_t longest;
  index_t columns;
  bool normalize;

  [[nodiscard]] index_t items() const { return count; }
  [[nodiscard]] index_t cost() const { return columns * longest; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t s) const {
    using constant = constant_row<float>;
    const index_t first = offsets[s];
    const index_t last = offsets[s + 1];
    float* y = out + s * columns;
    const memory_row<float> own{{y}};
    assign(team, y, constant{0.0f}, 0, columns);
    for (index_t r = first; r < last; ++r) {
      assign(team, y, make_row(add_op{}, own, memory_row<float>{{x + r * columns}}), 0, columns);
    }
    const float length = last > first ? static_cast<float>(last - first) : 1.0f;
    assign(team, y, make_row(divide_op{}, own, constant{length}), 0, columns);
    if (!normalize) return;
    const float square = row_sum(team, make_row(square_op{}, own), columns);
    const float norm = Kokkos::sqrt(square);
    assign(team, y, make_row(multiply_op{}, own, constant{1.0f / (norm > 1e-12f ? norm : 1e-12f)}),
           0, columns);
  }
};

}  // namespace detail

/// Whether a pooled vector is divided by its Euclidean norm (at least 1e-12), in the same kernel.
enum class pooled : bool { as_is, normalized };

/// Enqueues the mean of each sequence's rows of x, (rows, columns); returns (sequences, columns)
/// at once. An empty sequence gives zeros. Throws `shape_mismatch` and `device_mismatch`.
[[nodiscard]] inline tensor<float, 2> mean_pool(
    const tensor<float, 2>& x, const sequences& batch, pooled form = pooled::as_is,
    std::source_location where = std::source_location::current()) {
  if (x.shape()[0] != batch.rows()) {
    throw shape_mismatch(topos::detail::concat("mean_pool: x ", to_string(x.shape()),
                                               " for sequences of ", batch.rows(), " rows in all"),
                         where);
  }
  topos::detail::common_device("mean_pool", "x", x, "the offsets", batch.offsets(), where);
  const index_t columns = x.shape()[1];
  tensor<float, 2> out({batch.count(), columns}, x.device(), where);
  const detail::mean_pool_kernel kernel{
      x.data(),        out.data(), batch.offsets().data(),    batch.count(),
      batch.longest(), columns,    form == pooled::normalized};
  topos::detail::submit_kernel("topos::nn::mean_pool", kernel, out.device(),
                               {x.memory(), batch.offsets().memory()}, {out.memory()}, x.size(),
                               "topos::nn::mean_pool", where);
  return out;
}

}  // namespace topos::nn
