// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a module learns: a tensor of a known shape that is there once it is loaded.

#include <optional>
#include <source_location>
#include <topos/core/error.hpp>
#include <topos/device/common_device.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos::nn {

/// A module's tensor: its shape and device are known from the start, its values once loaded.
template <std::size_t Rank>
class parameter {
 public:
  parameter(topos::shape<Rank> extents, topos::device d) : extents_(extents), device_(d) {}

  [[nodiscard]] const topos::shape<Rank>& shape() const noexcept { return extents_; }
  [[nodiscard]] topos::device device() const noexcept { return device_; }

  /// The values. Throws `invalid_argument` before they are loaded, or after they were taken.
  [[nodiscard]] const tensor<float, Rank>& value(
      std::source_location where = std::source_location::current()) const {
    if (!value_) {
      throw invalid_argument(
          detail::concat("parameter ", to_string(extents_), ": its values are not loaded"), where);
    }
    return *value_;
  }

  /// Gives it values. Throws `shape_mismatch`, `device_mismatch`.
  void set(tensor<float, Rank> value,
           std::source_location where = std::source_location::current()) {
    if (value.shape() != extents_) {
      throw shape_mismatch(detail::concat("parameter ", to_string(extents_),
                                          ": it was given values of ", to_string(value.shape())),
                           where);
    }
    detail::common_device("parameter", "the parameter", *this, "its values", value, where);
    value_ = std::move(value);
  }

  /// Takes the values out, for a module that keeps them in another form.
  [[nodiscard]] tensor<float, Rank> take(
      std::source_location where = std::source_location::current()) {
    tensor<float, Rank> taken = value(where);
    value_.reset();
    return taken;
  }

 private:
  topos::shape<Rank> extents_;
  topos::device device_;
  std::optional<tensor<float, Rank>> value_;
};

}  // namespace topos::nn
