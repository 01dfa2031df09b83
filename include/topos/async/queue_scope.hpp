// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a thread's work goes.

#include <topos/async/queue.hpp>

namespace topos {

/// While it lives, this thread's work on the queue's device goes to that queue; work on other
/// devices goes where it went. Scopes nest. An in_place_scope goes before: in one, work on the CPU
/// is in no queue.
class [[nodiscard]] queue_scope {
 public:
  explicit queue_scope(const queue& q) : here_{q.device(), q.lease(), detail::chosen()} {
    detail::chosen() = &here_;
  }
  ~queue_scope() { detail::chosen() = here_.outer; }
  queue_scope(const queue_scope&) = delete;
  queue_scope& operator=(const queue_scope&) = delete;

 private:
  detail::chosen_queue here_;
};

}  // namespace topos
