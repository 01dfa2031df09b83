// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The thread that tells what is to end at its time.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <topos/executor/detail/alarms.hpp>
#include <topos/executor/detail/work_lane.hpp>
#include <topos/executor/time_source.hpp>

namespace topos::detail {

/// Watches deadlines on a thread of its own, from the first one on, under its owner's lock.
class deadline_clock {
 public:
  using time_point = time_source::time_point;

  deadline_clock(const time_source& time, std::mutex& mutex) : time_(time), mutex_(mutex) {}
  deadline_clock(const deadline_clock&) = delete;
  deadline_clock& operator=(const deadline_clock&) = delete;

  /// Has `what` expire at its time. The lock is held.
  void watch(time_point deadline, const std::shared_ptr<timed>& what) {
    const bool is_next = deadlines_.add(deadline, what);
    if (!thread_.joinable()) thread_ = std::thread([this] { keep_time(); });
    if (is_next) alarm_.notify_one();
  }

  /// Whether this is its thread. The lock is held.
  [[nodiscard]] bool runs_here() const noexcept {
    return thread_.get_id() == std::this_thread::get_id();
  }

  /// Ends its thread; the lock is not held.
  void stop() noexcept {
    {
      const std::lock_guard guard(mutex_);
      stops_ = true;
    }
    alarm_.notify_all();
    if (thread_.joinable()) thread_.join();
    deadlines_.clear();
  }

 private:
  void keep_time() noexcept {
    std::unique_lock lock(mutex_);
    while (!stops_) {
      if (deadlines_.empty()) {
        alarm_.wait(lock);
      } else if (const time_point next = deadlines_.earliest(); next > time_.now()) {
        time_.wait_until(lock, alarm_, next);
      } else if (std::shared_ptr<timed> what = deadlines_.take()) {
        lock.unlock();
        what->expire();
        what.reset();  // with the last of it, things of the user's may end
        lock.lock();
      }
    }
  }

  const time_source& time_;
  std::mutex& mutex_;
  std::condition_variable alarm_;
  alarms deadlines_;
  std::thread thread_;
  bool stops_ = false;
};

}  // namespace topos::detail
