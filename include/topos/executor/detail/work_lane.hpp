// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a schedule knows of the work that it schedules.

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <topos/executor/time_source.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// Work that was taken out of its lane to be ended.
class doomed_work {
 public:
  doomed_work() = default;
  doomed_work(const doomed_work&) = delete;
  doomed_work& operator=(const doomed_work&) = delete;
  virtual ~doomed_work() = default;

  /// Ends it with an exception. The schedule's lock is not held.
  virtual void end(const std::exception_ptr& failure) noexcept = 0;

  std::vector<std::stop_source> running;  // of batches that are to stop
  std::unique_ptr<doomed_work> next;      // of another lane
};

/// That of all lanes, kept without memory of its own.
class doomed_lanes {
 public:
  void add(std::unique_ptr<doomed_work> one) noexcept {
    std::unique_ptr<doomed_work>* last = &first_;
    while (*last) last = &(*last)->next;
    *last = std::move(one);
  }
  void end(const std::exception_ptr& failure) noexcept {
    for (doomed_work* each = first_.get(); each != nullptr; each = each->next.get())
      each->end(failure);
  }
  /// Asks what runs to stop, and lets go of all.
  void close() noexcept {
    for (doomed_work* each = first_.get(); each != nullptr; each = each->next.get())
      for (std::stop_source& one : each->running) one.request_stop();
    first_.reset();
  }

 private:
  std::unique_ptr<doomed_work> first_;
};

/// One endpoint's waiting work, as the replicas see it: without its types.
class work_lane {
 public:
  using time_point = time_source::time_point;

  /// What became of a batch.
  struct ran {
    double cost = 0;
    std::exception_ptr lost = nullptr;  // why this replica can run no more
    bool in_flight = false;             // its device still computes: see `land`
  };

  work_lane() = default;
  work_lane(const work_lane&) = delete;
  work_lane& operator=(const work_lane&) = delete;

  /// When the next batch may start, or nothing if no work waits; `draining`: nobody will join it
  /// any more; `busy`: on a replica with a batch in flight, for whose end others may join it. The
  /// schedule's lock is held.
  [[nodiscard]] virtual std::optional<time_point> due(bool draining, bool busy) const = 0;

  /// Takes the batch that `due` spoke of and runs it on this thread, in a slot of this replica's.
  /// Called with the schedule's lock held, which is released while the batch runs.
  virtual ran run(std::unique_lock<std::mutex>& lock, bool draining, std::size_t slot) noexcept = 0;

  /// Whether `land` will not block. The schedule's lock is held.
  [[nodiscard]] virtual bool has_landed(std::size_t slot) const noexcept = 0;

  /// Waits for the batch that is in flight in this slot and hands its results out; says why this
  /// replica can run no more, if so. The schedule's lock is held, and released meanwhile.
  virtual std::exception_ptr land(std::unique_lock<std::mutex>& lock,
                                  std::size_t slot) noexcept = 0;

  /// Takes out all that waits, and counts it as cancelled, where what runs is told to stop, too, or
  /// as failed. Needs memory only if it was called before. The schedule's lock is held.
  [[nodiscard]] virtual std::unique_ptr<doomed_work> take_all(bool as_cancelled) = 0;

  /// Whether nothing waits or runs. The schedule's lock is held.
  [[nodiscard]] virtual bool idle() const = 0;

 protected:
  ~work_lane() = default;

 private:
  friend class schedule;
  double used_ = 0;    // the replicas' work for it, by cost
  bool flew_ = false;  // its last batch was left in flight
  bool asleep_ = true;
};

/// Something that ends when its time is over.
class timed {
 public:
  /// Ends it if it has not ended. The schedule's lock is not held.
  virtual void expire() noexcept = 0;

 protected:
  ~timed() = default;
};

}  // namespace topos::detail
