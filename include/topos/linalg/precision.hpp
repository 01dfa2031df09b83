// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How exactly a product follows the arithmetic of float32.

#include <cstdint>

namespace topos {

/// How exactly a product by prepared weights follows float32, as JAX and PyTorch name it.
enum class precision : std::uint8_t {
  highest,  ///< terms and sums of float32

  /// Numbers are rounded to 2^-24 of the largest of their row of x, or of w: for rows of numbers of
  /// one size as exact as float32, and the sums more so; of numbers much smaller than the largest
  /// of their row fewer digits are left. A row of x, or of w, that holds an infinity or a NaN makes
  /// NaN of its row, or column. Where a device gains nothing by it, the same as `highest`: it
  /// gains on CPUs with AMX.
  high,
};

}  // namespace topos
