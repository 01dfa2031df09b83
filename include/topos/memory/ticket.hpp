// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which work a buffer's content comes from.

#include <cstddef>
#include <cstdint>

namespace topos::detail {

/// A buffer's ticket: the queue of the work that writes it, and that work's number there, from 1.
struct ticket {
  static constexpr unsigned shift = 48;
  static constexpr std::size_t most_queues = std::size_t{1} << 16;

  std::uint64_t value;

  [[nodiscard]] static constexpr ticket of(std::size_t queue, std::uint64_t number) {
    return {static_cast<std::uint64_t>(queue) << shift | number};
  }
  [[nodiscard]] constexpr std::size_t queue() const { return value >> shift; }
  [[nodiscard]] constexpr std::uint64_t number() const {
    return value & ((std::uint64_t{1} << shift) - 1);
  }
};

}  // namespace topos::detail
