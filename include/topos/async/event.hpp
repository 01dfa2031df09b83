// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waiting for what a buffer will hold.

#include <topos/async/failure.hpp>
#include <topos/async/queues.hpp>
#include <topos/memory/buffer.hpp>

namespace topos {

namespace detail {

/// True once the work that writes `b` is done, whether or not it failed.
[[nodiscard]] inline bool is_ready(const buffer& b) { return is_done(ticket{b.ticket()}); }

/// Blocks until the work that writes `b` is done; rethrows what it failed with.
inline void block_until_ready(const buffer& b) {
  wait_for(ticket{b.ticket()});
  rethrow(b.poison());
}

}  // namespace detail

/// Blocks until all that was enqueued on a device so far is done. What failed is told by the
/// tensors that it should have computed.
inline void block_until_ready(const device& d) {
  for (const auto& q : detail::queues::all().on(d)) q->drain();
}

}  // namespace topos
