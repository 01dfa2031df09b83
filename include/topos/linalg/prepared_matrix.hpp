// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A weight matrix prepared for many products.

#include <algorithm>
#include <any>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <topos/device/common_device.hpp>
#include <topos/linalg/provider.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

namespace topos {

/// A weight matrix in the layout that its device's provider multiplies fastest: made once, used
/// for every batch. Cheap to copy; copies share the weights. `prepared_matrix` is that of float,
/// the only one; a template, so that who includes this and multiplies by none compiles no provider.
template <std::same_as<float> T>
class basic_prepared_matrix {
 public:
  /// No weights.
  basic_prepared_matrix() = default;

  /// Enqueues the preparation of `w`, (outputs, inputs), for products of some precision, and
  /// returns at once. Hand it the only copy of a tensor, and its memory is given back where the
  /// provider has a layout of its own.
  explicit basic_prepared_matrix(tensor<T, 2> w, topos::precision p = topos::precision::highest,
                                 std::source_location where = std::source_location::current())
      : device_(w.device()),
        outputs_(w.shape()[0]),
        inputs_(w.shape()[1]),
        ready_(device_, 1, where),
        precision_(p),
        weights_(std::make_shared<std::any>()) {
    if (std::max(outputs_, inputs_) > std::numeric_limits<int>::max()) {
      throw not_supported(detail::concat("matmul: weights ", to_string(w.shape()),
                                         " have an extent beyond 2^31 - 1"),
                          where);
    }
    // Providers take whole buffers: a part of a larger tensor becomes one of its own.
    if (w.offset() != 0) w = eval(w.node(), where);
    detail::queue_of(device_, where)
        .submit(
            {w.memory()}, {ready_}, detail::always_queued,
            [n = outputs_, k = inputs_, plain = w.memory(), into = weights_,
             p](const auto& stream) {
              if (n == 0 || k == 0) return;
              detail::with_weights_provider<backend_of<decltype(stream)>>(
                  p, [&](auto provider) { *into = provider.prepare(stream, plain, n, k); });
            },
            "topos::prepared_matrix", where);
  }

  [[nodiscard]] topos::device device() const noexcept { return device_; }
  [[nodiscard]] index_t outputs() const noexcept { return outputs_; }
  [[nodiscard]] index_t inputs() const noexcept { return inputs_; }
  [[nodiscard]] topos::precision precision() const noexcept { return precision_; }

  /// Enqueues act(x w^T + bias), (rows, outputs), and returns it at once. `bias`, (outputs), may be
  /// absent. Throws `shape_mismatch` and `device_mismatch`.
  [[nodiscard]] tensor<T, 2> multiply(
      const tensor<T, 2>& x, const std::optional<tensor<T, 1>>& bias = std::nullopt,
      activation act = activation::none,
      std::source_location where = std::source_location::current()) const {
    check(x, bias, where);
    tensor<T, 2> y({x.shape()[0], outputs_}, device_, where);
    const detail::product p{
        x.data(), y.data(), bias ? bias->data() : nullptr, x.shape()[0], outputs_, inputs_, act};
    std::vector<buffer> reads{x.memory(), ready_};
    if (bias) reads.push_back(bias->memory());
    detail::queue_of(device_, where)
        .submit(
            std::move(reads), {y.memory()}, detail::always_queued,
            [p, weights = weights_, wanted = precision_](const auto& stream) {
              if (p.m == 0 || p.n == 0 || p.k == 0) {  // which not every library takes
                return detail::builtin_provider::run(stream, {}, p);
              }
              detail::with_weights_provider<backend_of<decltype(stream)>>(
                  wanted, [&](auto provider) {
                    using own = typename decltype(provider)::weights;
                    const own& w = *std::any_cast<own>(weights.get());
                    for (index_t row = 0; row < p.m; row += detail::most_at_once) {
                      detail::product part = p;
                      part.x += row * p.k;
                      part.y += row * p.n;
                      part.m = std::min(p.m - row, detail::most_at_once);
                      provider.run(stream, w, part);
                    }
                  });
            },
            "topos::prepared_matrix::multiply", where);
    return y;
  }

 private:
  template <class Stream>
  using backend_of = typename std::decay_t<Stream>::backend;

  void check(const tensor<T, 2>& x, const std::optional<tensor<T, 1>>& bias,
             std::source_location where) const {
    if (x.shape()[1] != inputs_ || (bias && bias->shape()[0] != outputs_)) {
      throw shape_mismatch(detail::concat("matmul: x ", to_string(x.shape()), " and bias ",
                                          bias ? to_string(bias->shape()) : "none",
                                          " for weights (", outputs_, ", ", inputs_, ")"),
                           where);
    }
    const detail::fit<2> weights{{outputs_, inputs_}, device_};
    detail::common_device("matmul", "x", x, "the weights", weights, where);
    if (bias) detail::common_device("matmul", "the bias", *bias, "the weights", weights, where);
  }

  topos::device device_;
  index_t outputs_ = 0;
  index_t inputs_ = 0;
  buffer ready_;
  topos::precision precision_ = topos::precision::highest;
  std::shared_ptr<std::any> weights_;  // written and read by queued work alone, in its order
};

using prepared_matrix = basic_prepared_matrix<float>;

}  // namespace topos
