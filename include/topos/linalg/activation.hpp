// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a matrix product may do to its result while that is in registers.

#include <cstdint>

namespace topos {

/// A function that a matrix product applies to its result, after the bias.
enum class activation : std::uint8_t {
  none,
  gelu,  ///< x/2 (1 + erf(x/sqrt 2))
};

}  // namespace topos
