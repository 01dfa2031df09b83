// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How often this program has taken memory from the heap.

#include <cstdint>

namespace bench {

/// Calls of operator new so far, by all threads.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace bench
