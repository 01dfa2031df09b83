// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function that counts its calls, to see how often an expression computes an element on the CPU.

#include <atomic>
#include <topos/core/config.hpp>

namespace support {

inline std::atomic<topos::index_t> calls{0};

struct counted_square {
  float operator()(float x) const {
    ++calls;
    return x * x;
  }
};

}  // namespace support
