// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waiting for what a buffer will hold.

#include <exception>
#include <functional>
#include <memory>
#include <topos/async/failure.hpp>
#include <topos/async/queues.hpp>
#include <topos/memory/buffer.hpp>
#include <utility>

namespace topos {

namespace detail {

/// True once the work that writes `b` is done, whether or not it failed.
[[nodiscard]] inline bool is_ready(const buffer& b) { return is_done(ticket{b.ticket()}); }

/// Blocks until the work that writes `b` is done; rethrows what it failed with.
inline void block_until_ready(const buffer& b) {
  wait_for(ticket{b.ticket()});
  rethrow(b.poison());
}

/// Calls `callback(failure)` once the work that writes `b` is done: now, or on a thread of the
/// queue of that work. What it throws is dropped.
inline void when_ready(const buffer& b, std::function<void(std::exception_ptr)> callback) {
  const auto tell = [b, callback = std::move(callback)](const std::exception_ptr& reported) {
    try {
      const std::exception_ptr failure = failure_of(b.poison());
      callback(failure ? failure : reported);
    } catch (...) {  // nobody waits for it
    }
  };
  const ticket t{b.ticket()};
  const std::shared_ptr<work_queue> q = t.value == 0 ? nullptr : queues::all().find(t);
  if (!q || !q->then(t.number(), tell)) tell(nullptr);
}

}  // namespace detail

/// Blocks until all that was enqueued on a device so far is done. What failed is told by the
/// tensors that it should have computed. Throws what the device itself reports, and `error` inside
/// of queued work.
inline void block_until_ready(const device& d) {
  for (const auto& q : detail::queues::all().on(d)) q->drain();
}

}  // namespace topos
