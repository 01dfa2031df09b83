// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waiting without sleeping, as long as that pays.

#include <atomic>
#include <chrono>
#include <thread>
#include <topos/core/visibility.hpp>

namespace topos::detail {

/// Lets a core rest for some tens of cycles.
inline void pause_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins for some time, never on more threads than there are cores; less, where it adapts, when
/// that was of no use before.
class spinner {
 public:
  using duration = std::chrono::nanoseconds;
  /// Longer than who sleeps takes to wake, to answer, and to wake the other.
  static constexpr duration for_another_thread{100'000};
  /// Spins for `longest` at most, less when it adapts; or always for so long, and gives way to
  /// other threads on its core: what is spun for may be up to one of them.
  enum class manner { adapts, gives_way };
  explicit spinner(duration longest = duration(20'000), manner how = manner::adapts) noexcept
      : longest_(longest), how_(how) {}

  /// Whether `ready()` became true while this spun; it is not asked again then.
  template <class Ready>
  [[nodiscard]] bool operator()(Ready ready) noexcept {
    if (ready()) return true;
    // Tried again now and then, and for as long as can be: of two threads that wait for each other,
    // each in its sleep, one has to stay awake first.
    if (budget_ < shortest && ++refused_ % 64 != 0) return false;
    const turn mine;
    if (!mine.taken) return false;
    const auto end = std::chrono::steady_clock::now() + (budget_ < shortest ? longest_ : budget_);
    unsigned tries = 0;
    do {
      for (int i = 0; i < 16; ++i) {
        if (ready()) {
          budget_ = longest_;
          return true;
        }
        pause_core();
      }
      // To give way takes as long as many tries.
      if (how_ == manner::gives_way && ++tries % 8 == 0) std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end);
    if (how_ == manner::adapts) budget_ /= 2;
    return false;
  }

 private:
  static constexpr duration shortest{1'000};

  // One of the places that all threads of the program share.
  struct turn {
    turn() noexcept : taken(places().fetch_sub(1, std::memory_order_relaxed) > 0) {
      if (!taken) places().fetch_add(1, std::memory_order_relaxed);
    }
    ~turn() {
      if (taken) places().fetch_add(1, std::memory_order_relaxed);
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    TOPOS_SHARED static std::atomic<int>& places() noexcept {
      static std::atomic<int> left = [] {
        const auto cores = static_cast<int>(std::thread::hardware_concurrency());
        return cores > 1 ? cores : 0;
      }();
      return left;
    }

    const bool taken;
  };

  duration longest_;
  manner how_;
  duration budget_ = longest_;
  unsigned refused_ = 0;
};

}  // namespace topos::detail
