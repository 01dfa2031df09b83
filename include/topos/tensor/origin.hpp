// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a failure comes from.

#include <optional>
#include <topos/async/event.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos {

/// The queued operation that failed and left a tensor without content, and the call that enqueued
/// it; nothing if the tensor has not failed. Waits for the tensor, and does not rethrow.
///
/// Errors of topos tell it themselves, in their message and by `error::origin`; this is the way to
/// ask where an exception of another type, which is rethrown as it was thrown, comes from.
template <element T, std::size_t Rank>
[[nodiscard]] std::optional<failure_origin> origin_of(const tensor<T, Rank>& x) {
  detail::wait_for(detail::ticket{x.memory().ticket()});
  return detail::origin_of(x.memory().poison());
}

}  // namespace topos
