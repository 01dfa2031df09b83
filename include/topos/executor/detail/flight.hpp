// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A batch that was handed to a device and is not back.

#include <functional>
#include <topos/executor/outcome.hpp>
#include <vector>

namespace topos::detail {

/// Results that a device still computes.
template <class Out>
class flight {
 public:
  virtual ~flight() = default;
  /// Calls `told()` whenever one of them is computed, perhaps before it returns.
  virtual void tell(const std::function<void()>& told) = 0;
  /// Whether all are computed, or have failed.
  [[nodiscard]] virtual bool has_landed() const = 0;
  /// Blocks until they are, and moves them out; to `each`, and says so, where some failed by
  /// themselves. Throws what their computation failed with.
  [[nodiscard]] virtual bool land(std::vector<Out>& results, std::vector<outcome<Out>>& each) = 0;
};

}  // namespace topos::detail
