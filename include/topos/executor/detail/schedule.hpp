// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which batch a free replica takes next.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <topos/core/error.hpp>
#include <topos/executor/time_source.hpp>
#include <vector>

namespace topos::detail {

/// One endpoint's waiting work, as the replicas see it: without its types.
class work_lane {
 public:
  using time_point = time_source::time_point;

  work_lane() = default;
  work_lane(const work_lane&) = delete;
  work_lane& operator=(const work_lane&) = delete;

  /// When the next batch may start, or nothing if no work waits; `draining`: nobody will join it
  /// any more. The schedule's lock is held.
  [[nodiscard]] virtual std::optional<time_point> due(bool draining) const = 0;

  /// Takes the batch that `due` spoke of and runs it on this thread, for the replica of this
  /// number. Called with the schedule's lock held, which is released while the batch runs.
  virtual void run(std::unique_lock<std::mutex>& lock, bool draining,
                   std::size_t replica) noexcept = 0;

 protected:
  ~work_lane() = default;
};

/// The lock and the one queue of work of a set of replicas: who is free takes, of all endpoints,
/// the batch that has been due for longest.
class schedule {
 public:
  explicit schedule(const time_source& time) : time_(time) {}

  [[nodiscard]] const time_source& time() const noexcept { return time_; }
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  /// Lets the replicas take work from a work_lane; before the first `serve`.
  void add(work_lane& work) { lanes_.push_back(&work); }

  /// One more batch may have become due, or due earlier.
  void work_came() { work_.notify_one(); }

  /// Work left a queue.
  void room_came() { room_.notify_all(); }

  /// Blocks a producer until `has_room()`; throws `topos::error` once the executor shuts down.
  template <class HasRoom>
  void admit(std::unique_lock<std::mutex>& lock, HasRoom has_room) {
    if (!stopping_ && !has_room()) {
      ++blocked_;
      room_.wait(lock, [&] { return stopping_ || has_room(); });
      // The last thing that a blocked producer needs of this object is its lock: see stop().
      if (--blocked_ == 0 && stopping_) unblocked_.notify_all();
    }
    if (stopping_) throw error("executor: work was submitted while it was shut down");
  }

  /// Runs batches as this replica until the schedule is stopped and no work is left.
  void serve(std::size_t replica) {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_lane* next = nullptr;
      work_lane::time_point earliest{};
      for (work_lane* candidate : lanes_) {
        const auto due = candidate->due(stopping_);
        if (due && (next == nullptr || *due < earliest)) {
          next = candidate;
          earliest = *due;
        }
      }
      if (next == nullptr) {
        if (stopping_) return;
        work_.wait(lock);
      } else if (!stopping_ && earliest > time_.now()) {
        time_.wait_until(lock, work_, earliest);
      } else {
        next->run(lock, stopping_, replica);
      }
    }
  }

  /// Admits nothing any more and lets each `serve` return once all work has ended; waits for
  /// producers that were blocked to leave.
  void stop() noexcept {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    work_.notify_all();
    room_.notify_all();
    unblocked_.wait(lock, [&] { return blocked_ == 0; });
  }

 private:
  const time_source& time_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable room_;
  std::condition_variable unblocked_;
  std::vector<work_lane*> lanes_;
  std::size_t blocked_ = 0;
  bool stopping_ = false;
};

}  // namespace topos::detail
