// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the executor reads the time and waits for it, so that a program or a test can bring its
/// own.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <topos/core/visibility.hpp>
#include <utility>
#include <vector>

namespace topos {

/// A clock that can be waited on; used by several threads at once.
class time_source {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  virtual ~time_source() = default;

  [[nodiscard]] virtual time_point now() const = 0;

  /// Blocks until `changed` is notified or `until` is reached, as a condition variable does: it may
  /// return early, with the lock held again.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                          time_point until) const = 0;

 protected:
  time_source() = default;
  time_source(const time_source&) = default;
  time_source& operator=(const time_source&) = default;
};

/// The time that passes.
class steady_time final : public time_source {
 public:
  [[nodiscard]] time_point now() const override { return std::chrono::steady_clock::now(); }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  time_point until) const override {
    changed.wait_until(lock, until);
  }

  /// The one that is used where none is given.
  [[nodiscard]] TOPOS_SHARED static const steady_time& instance() noexcept {
    static const steady_time& only = *new steady_time;  // executors may outlive main
    return only;
  }
};

/// A time that stands still until it is told to advance: for tests that must not sleep.
class manual_time final : public time_source {
 public:
  [[nodiscard]] time_point now() const override {
    const std::lock_guard guard(mutex_);
    return now_;
  }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  time_point until) const override {
    const waiter self{lock.mutex(), &changed};
    {
      const std::lock_guard guard(mutex_);
      if (now_ >= until) return;
      waiters_.push_back(self);
    }
    arrived_.notify_all();
    changed.wait(lock);
    const std::lock_guard guard(mutex_);
    waiters_.erase(std::find(waiters_.begin(), waiters_.end(), self));
  }

  /// Moves the time on and wakes who waits for it; not while an executor that uses it ends.
  void advance(duration by) {
    std::vector<waiter> waiters;
    {
      const std::lock_guard guard(mutex_);
      now_ += by;
      waiters = waiters_;
    }
    for (const auto& [mutex, changed] : waiters) {
      // One that has announced itself but does not sleep yet still holds its mutex: passing through
      // it makes sure that the notification finds it asleep.
      { const std::lock_guard guard(*mutex); }
      changed->notify_all();
    }
  }

  /// Blocks until `count` threads wait for this time.
  void wait_for_waiters(std::size_t count) const {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return waiters_.size() >= count; });
  }

 private:
  using waiter = std::pair<std::mutex*, std::condition_variable*>;

  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  mutable std::vector<waiter> waiters_;
  time_point now_{};
};

}  // namespace topos
