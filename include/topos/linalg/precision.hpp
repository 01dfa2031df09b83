// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How exactly a product follows the arithmetic of float32.

#include <cstdint>

namespace topos {

/// How exactly a product by prepared weights follows float32, as JAX and PyTorch name it.
enum class precision : std::uint8_t {
  highest,  ///< terms and sums of float32

  /// On devices that gain by it, which are CPUs with AMX, and else the same as `highest`. Numbers
  /// are rounded to 2^-22.7 of the largest of their row of x, or of w (or of 2^-104, where all are
  /// smaller): sums of some hundred terms of about one size are as exact as float32's, shorter ones
  /// by a factor of up to 2.5 less, and of numbers much smaller than the largest of their row fewer
  /// digits are left. A row of x, or of w, that holds an infinity or a NaN makes NaN of its row, or
  /// column.
  high,

  /// As `highest`, by topos' own kernels whatever libraries there are: a row of the product has the
  /// same bits whatever rows are beside it, on any number of threads.
  reproducible,
};

}  // namespace topos
