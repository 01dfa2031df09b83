// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a device's memory holds.

#include <cstddef>

namespace topos {

/// Bytes of a device's memory that topos holds, and may hold.
struct memory_statistics {
  std::size_t in_use = 0;  ///< In tensors that are alive or still needed by queued work.
  std::size_t peak = 0;    ///< The most that was ever in use.
  std::size_t cached = 0;  ///< Kept for tensors to come; given back by `empty_cache`.
  std::size_t limit = 0;   ///< The most that may be in use; 0: no limit but the device's own.
};

}  // namespace topos
