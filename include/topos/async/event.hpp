// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waiting for what a buffer will hold.

#include <topos/async/queue.hpp>
#include <topos/memory/buffer.hpp>

namespace topos {

namespace detail {

/// True once the work that writes `b` is done, whether or not it failed.
[[nodiscard]] inline bool is_ready(const buffer& b) {
  if (b.ticket() == 0) return true;
  const queue* q = queues::all().find(b.where());
  return q == nullptr || q->is_ready(b);
}

/// Blocks until the work that writes `b` is done; rethrows what it failed with.
inline void block_until_ready(const buffer& b) {
  if (queue* q = b.ticket() == 0 ? nullptr : queues::all().find(b.where())) {
    q->wait(b);
  } else if (const std::exception_ptr failure = b.poison()) {
    std::rethrow_exception(failure);
  }
}

}  // namespace detail

/// Blocks until all that was enqueued on a device so far is done. What failed is told by the
/// tensors that it should have computed.
inline void block_until_ready(const device& d) {
  if (detail::queue* q = detail::queues::all().find(d)) q->drain();
}

}  // namespace topos
