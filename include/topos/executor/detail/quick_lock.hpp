// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Taking a lock that is held for less time than a thread takes to fall asleep.

#include <mutex>
#include <topos/core/spinner.hpp>

namespace topos::detail {

/// Locks a mutex or takes a lock back, trying for a microsecond or two before the thread sleeps.
template <class Lockable>
void lock_quickly(Lockable& what) {
  for (int i = 0; i < 48; ++i) {
    if (what.try_lock()) return;
    pause_core();
  }
  what.lock();
}

/// A lock that is held already.
[[nodiscard]] inline std::unique_lock<std::mutex> locked_quickly(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  lock_quickly(lock);
  return lock;
}

}  // namespace topos::detail
