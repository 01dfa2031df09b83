// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an executor has done so far.

#include <cstddef>
#include <cstdint>
#include <map>

namespace topos {

/// Counts of items, and of the batches they ran in. Of what was submitted, each item ends as
/// done, failed or cancelled; an item is counted there before its future is ready.
struct statistics {
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  /// How many batches of each size have run, failed ones too.
  std::map<std::size_t, std::uint64_t> batch_sizes;

  /// Items submitted that have not ended.
  [[nodiscard]] std::uint64_t pending() const noexcept {
    return submitted - done - failed - cancelled;
  }

  /// Batches that have run.
  [[nodiscard]] std::uint64_t batches() const noexcept {
    std::uint64_t count = 0;
    for (const auto& [size, times] : batch_sizes) count += times;
    return count;
  }

  /// Adds another executor's or endpoint's counts.
  statistics& operator+=(const statistics& other) {
    submitted += other.submitted;
    done += other.done;
    failed += other.failed;
    cancelled += other.cancelled;
    for (const auto& [size, times] : other.batch_sizes) batch_sizes[size] += times;
    return *this;
  }

  friend bool operator==(const statistics&, const statistics&) = default;
};

}  // namespace topos
