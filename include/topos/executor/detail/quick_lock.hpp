// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Taking a lock that is held for less time than a thread takes to fall asleep.

#include <mutex>
#include <topos/core/spinner.hpp>

namespace topos::detail {

/// Locks, trying for a microsecond or two before the thread sleeps.
inline void lock_quickly(std::mutex& mutex) {
  for (int i = 0; i < 48; ++i) {
    if (mutex.try_lock()) return;
    pause_core();
  }
  mutex.lock();
}

/// A lock that is held already by `lock_quickly`.
[[nodiscard]] inline std::unique_lock<std::mutex> locked_quickly(std::mutex& mutex) {
  lock_quickly(mutex);
  return std::unique_lock(mutex, std::adopt_lock);
}

/// Takes back what was unlocked.
inline void relock_quickly(std::unique_lock<std::mutex>& lock) {
  for (int i = 0; i < 48; ++i) {
    if (lock.try_lock()) return;
    pause_core();
  }
  lock.lock();
}

}  // namespace topos::detail
