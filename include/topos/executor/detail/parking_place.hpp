// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where threads sleep until something small changes, which has no room for a lock of its own.

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <topos/core/visibility.hpp>

namespace topos::detail {

/// A place for all that wait for one of some addresses, as in WebKit's "parking lot". Who is about
/// to sleep says so in what it waits for, under the place's lock; who changes that and reads so
/// wakes the place.
class alignas(64) parking_place {
 public:
  /// Those that wait for other addresses may sleep there too.
  [[nodiscard]] TOPOS_SHARED static parking_place& of(const void* address) {
    // Never destroyed: static objects may wait, too.
    static auto& all = *new std::array<parking_place, 1024>;
    // Of objects a power of two apart, too: Knuth's multiplicative hashing, by the golden ratio.
    const std::uint64_t spread = reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15U;
    return all[spread >> 54U];
  }

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  template <class Ready>
  void sleep(std::unique_lock<std::mutex>& lock, Ready ready) {
    changed_.wait(lock, ready);
  }
  /// Says whether it became ready in time.
  template <class Rep, class Period, class Ready>
  bool sleep(std::unique_lock<std::mutex>& lock, std::chrono::duration<Rep, Period> longest,
             Ready ready) {
    if (longest <= longest.zero()) return ready();
    // Added to the time of now, a longer one could wrap around.
    constexpr std::chrono::hours lifetime(24 * 365 * 100);
    if (std::chrono::duration<double>(longest) < lifetime)
      return changed_.wait_for(lock, longest, ready);
    sleep(lock, ready);
    return true;
  }

  void wake() noexcept {
    static_cast<void>(lock());  // who read that it is not ready is asleep by now
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace topos::detail
