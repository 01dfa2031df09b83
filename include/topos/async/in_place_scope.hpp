// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work on the CPU that overlaps with other threads' work.

#include <topos/core/visibility.hpp>

namespace topos {

namespace detail {

/// How many of this thread's scopes there are.
[[nodiscard]] TOPOS_SHARED inline int& in_place_scopes() noexcept {
  thread_local int scopes = 0;
  return scopes;
}

}  // namespace detail

/// While it lives, this thread runs its work on the CPU itself, on one core and before the call
/// returns, instead of enqueueing it; work on other devices is enqueued as ever. Scopes nest.
///
/// Threads that each have one use several cores without waiting for each other at every kernel:
/// the way to run a replica of a model on each core.
class [[nodiscard]] in_place_scope {
 public:
  in_place_scope() noexcept { ++detail::in_place_scopes(); }
  ~in_place_scope() { --detail::in_place_scopes(); }
  in_place_scope(const in_place_scope&) = delete;
  in_place_scope& operator=(const in_place_scope&) = delete;
};

}  // namespace topos
