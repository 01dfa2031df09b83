// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long batches take.

#include <chrono>
#include <optional>
#include <topos/executor/time_source.hpp>

namespace topos::detail {

/// How long the batches of a function took of late, and so when one should start that is to end in
/// time.
class pace {
 public:
  using time_point = time_source::time_point;

  void add(std::chrono::nanoseconds took) noexcept {
    took_ = took_ ? *took_ + (took - *took_) / 8 : took;
  }

  /// So early that it may take twice as long; where nothing is known, now.
  [[nodiscard]] time_point start_before(time_point deadline, time_point now) const noexcept {
    constexpr auto to_wake = std::chrono::milliseconds(1);
    if (!took_ || (deadline - now) / 3 <= *took_ + to_wake) return now;
    return deadline - 2 * *took_ - to_wake;
  }

 private:
  std::optional<std::chrono::nanoseconds> took_;  // an average, of the last ones above all
};

}  // namespace topos::detail
