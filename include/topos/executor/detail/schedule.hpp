// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which batch a free replica takes next.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <topos/core/error.hpp>
#include <topos/core/spinner.hpp>
#include <topos/executor/detail/callback_threads.hpp>
#include <topos/executor/detail/deadline_clock.hpp>
#include <topos/executor/detail/future_state.hpp>
#include <topos/executor/detail/quick_lock.hpp>
#include <topos/executor/detail/slots.hpp>
#include <topos/executor/detail/waiting_threads.hpp>
#include <topos/executor/detail/work_lane.hpp>
#include <topos/executor/errors.hpp>
#include <topos/executor/time_source.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// The lock and the one queue of work of a set of replicas. Who is free takes, of all endpoints
/// with a batch that is due, that of the one whose batches have cost least so far (fair queueing by
/// virtual time), and of these the one that has been due for longest.
class schedule final : public result_maker {
 public:
  using time_point = time_source::time_point;

  schedule(const time_source& time, std::size_t replicas)
      : time_(time), clock_(time, mutex_), replicas_(replicas) {
    static_cast<void>(waiting_threads::all());  // made here, where that may throw
    static_cast<void>(callback_threads::all());
  }

  [[nodiscard]] const time_source& time() const noexcept { return time_; }
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return locked_quickly(mutex_); }

  /// Lets the replicas take work from a work_lane; before the first `serve`.
  void add(work_lane& work) { lanes_.push_back(&work); }

  /// One more batch may have become due, or due earlier: `notify` is what to call `wake` with after
  /// the lock is released. The lock is held.
  [[nodiscard]] bool work_came() noexcept {
    arrivals_.fetch_add(1, std::memory_order_release);
    return sleeping_ > 0 || in_flight_ > 0;
  }
  void wake(bool notify) noexcept {
    if (!notify) return;
    work_.notify_one();
    landed_.notify_all();  // with a batch in flight one may take another, if that is full
  }

  /// A batch in flight has landed, for the replica that sent it.
  void landed() noexcept {
    {
      const auto guard = lock();
      arrivals_.fetch_add(1, std::memory_order_release);
    }
    landed_.notify_all();
  }

  /// Work left a queue, or ended. The lock is held.
  void room_came() noexcept {
    if (blocked_ > 0) room_.notify_all();
    if (watched_ > 0) ended_.notify_all();
  }

  /// Something of a lane's is about to end outside of the lock: all work has ended only when
  /// `has_ended`, which takes the lock, was called too. The lock is held.
  void will_end() noexcept { ++ending_; }
  void has_ended() noexcept {
    const auto guard = lock();
    if (--ending_ == 0 && watched_ > 0) ended_.notify_all();
  }

  /// As `room_came`, after a batch was taken: what is left behind it is for who sleeps. The lock is
  /// held.
  void batch_left() noexcept {
    room_came();
    const auto is_due = [&](const work_lane* l) { return l->due(stopping_, false).has_value(); };
    if (sleeping_ > 0 && std::any_of(lanes_.begin(), lanes_.end(), is_due)) work_.notify_one();
  }

  /// Throws what is the matter where no more work is taken: `rejected`, once it shuts down, or what
  /// the last replica was lost with. The lock is held.
  void require_open() const {
    if (stopping_) throw rejected("executor: work was submitted while it was shut down");
    if (lost_) std::rethrow_exception(lost_);
  }

  /// True on a thread that runs a batch of this schedule's; as a replica.
  [[nodiscard]] bool serves_here() const noexcept { return here().maker == this; }
  [[nodiscard]] bool serves_here(std::size_t replica) const noexcept {
    return serves_here() && here().replica == replica;
  }

  [[nodiscard]] std::size_t threads() const noexcept override { return replicas_.load(); }
  void fail_what_waits() noexcept override {
    std::unique_lock guard = lock();
    fail_all(guard,
             std::make_exception_ptr(error("executor: all replicas wait inside of their models for "
                                           "one another's work, and none is left to run it")),
             false);
  }

  /// Blocks a producer until `has_room()`, or until its own time is over or it is asked to stop;
  /// throws as `require_open`, and `rejected` where a model would wait for itself.
  template <class HasRoom>
  void admit(std::unique_lock<std::mutex>& lock, HasRoom has_room,
             time_point until = time_point::max(), const std::stop_token& stop = {}) {
    const auto blocks = [&] {
      return !stopping_ && !lost_ && !has_room() && !stop.stop_requested() &&
             (until == time_point::max() || time_.now() < until);
    };
    if (blocks()) {
      require_may_wait();
      ++blocked_;
      // The last thing that a blocked producer needs of this object is its lock: see stop().
      const auto leave = [&] {
        if (!lock.owns_lock()) lock.lock();
        if (--blocked_ == 0 && stopping_) unblocked_.notify_all();
      };
      std::string refusal;
      try {
        do {
          refusal = sleep_blocked(lock, blocks, until, stop);
        } while (refusal.empty() && blocks());
      } catch (...) {
        leave();
        throw;
      }
      leave();
      if (!refusal.empty()) throw rejected("executor: the queue is full, and " + refusal);
    }
    require_open();
  }

  /// Has `what` expire at its time. The lock is held.
  void watch(time_point deadline, const std::shared_ptr<timed>& what) {
    clock_.watch(deadline, what);
  }

  /// Runs batches as this replica until the schedule is stopped and no work is left, or the replica
  /// is lost.
  void serve(std::size_t replica) {
    const works_here served(*this, replica);
    spinner spin(spinner::for_another_thread);
    std::exception_ptr lost;  // ends when the lock is released
    std::exception_ptr lost_before;
    std::unique_lock lock(mutex_);
    std::size_t slot = slots::first_of(replica);  // that is free
    work_lane* in_flight = nullptr;               // whose batch is in the other one
    const auto land = [&] {
      const std::size_t other = slots::other_of(slot);
      const std::exception_ptr lost = std::exchange(in_flight, nullptr)->land(lock, other);
      work_ended();
      return lost;
    };
    for (;;) {
      const auto [next, due] = pick(in_flight != nullptr);
      const time_point earliest = due;  // clang captures no structured binding under OpenMP
      const bool is_due = next != nullptr && (stopping_ || earliest <= time_.now());
      // What has come of a batch does not wait for one that this thread computes itself.
      if (is_due && (in_flight == nullptr || next->flew_)) {
        virtual_time_ = next->used_;
        work_lane::ran ran = next->run(lock, stopping_, slot);
        next->used_ += std::max(ran.cost, 1.0);  // what costs nothing takes its turns, too
        next->flew_ = ran.in_flight;
        work_ended();
        if (in_flight != nullptr) lost = land();
        if (ran.in_flight) {
          in_flight = next;
          slot = slots::other_of(slot);
          if (lost) lost_before = land();
        }
        if (ran.lost) (lost ? lost_before : lost) = std::move(ran.lost);
        if (lost) return lose(lock, lost);
      } else if (in_flight != nullptr &&
                 (is_due || stopping_ || in_flight->has_landed(slots::other_of(slot)))) {
        if ((lost = land())) return lose(lock, lost);
      } else if (stopping_) {
        if (all_idle()) return;
        work_.wait(lock);  // what another one runs may come back, should that be lost
      } else if (next != nullptr) {
        wait_as(in_flight != nullptr, [&](std::condition_variable& changed) {
          time_.wait_until(lock, changed, earliest);
        });
      } else {
        const std::uint64_t seen = arrivals_.load(std::memory_order_relaxed);
        lock.unlock();
        const bool came = spin([&] { return arrivals_.load(std::memory_order_acquire) != seen; });
        lock_quickly(lock);
        if (came || arrivals_.load(std::memory_order_relaxed) != seen || stopping_) continue;
        wait_as(in_flight != nullptr,
                [&](std::condition_variable& changed) { changed.wait(lock); });
      }
    }
  }

  /// Admits nothing any more and lets each `serve` return once all work has ended; waits for
  /// producers that were blocked to leave.
  void stop() noexcept {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    arrivals_.fetch_add(1, std::memory_order_release);
    work_.notify_all();
    landed_.notify_all();
    room_.notify_all();
    unblocked_.wait(lock, [&] { return blocked_ == 0; });
  }

  /// As `stop`, but ends all that waits, as cancelled, with an exception, before any of it starts,
  /// and asks what runs to stop.
  void abort(const std::exception_ptr& failure) noexcept {
    {
      std::unique_lock lock(mutex_);
      stopping_ = true;
      fail_all(lock, failure, true);
    }
    stop();
  }

  /// Blocks until all work has ended, or the executor's time comes to `until`; says whether it has.
  [[nodiscard]] bool wait_idle(time_point until) {
    std::unique_lock lock(mutex_);
    ++watched_;
    while (!all_has_ended() && time_.now() < until) time_.wait_until(lock, ended_, until);
    --watched_;
    return all_has_ended();
  }

  /// Ends the thread that watches deadlines; after the replicas have ended.
  void stop_clock() noexcept { clock_.stop(); }

  /// Whether this is the thread that watches deadlines.
  [[nodiscard]] bool keeps_time_here() noexcept {
    const auto guard = lock();
    return clock_.runs_here();
  }

 private:
  [[nodiscard]] bool all_idle() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const auto* each) { return each->idle(); });
  }

  [[nodiscard]] bool all_has_ended() const { return ending_ == 0 && all_idle(); }

  // Sleeps as one who is idle, or as one with a batch in flight, whom not all that comes concerns.
  template <class Wait>
  void wait_as(bool busy, Wait wait) {
    std::size_t& count = busy ? in_flight_ : sleeping_;
    ++count;
    wait(busy ? landed_ : work_);
    --count;
  }

  // An end of what blocks a producer.
  template <class Blocks>
  class awaited_room final : public awaited {
   public:
    awaited_room(schedule& of, const Blocks& blocks) : of_(of), blocks_(blocks) {}
    [[nodiscard]] bool is_ready() const noexcept override {
      const auto guard = of_.lock();
      return !blocks_();
    }
    [[nodiscard]] const result_maker* maker() const noexcept override { return &of_; }

   private:
    schedule& of_;
    const Blocks& blocks_;
  };

  // Until it does not block any more; or says why it would for ever.
  template <class Blocks>
  [[nodiscard]] std::string sleep_blocked(std::unique_lock<std::mutex>& lock, const Blocks& blocks,
                                          time_point until, const std::stop_token& stop) {
    lock.unlock();
    {
      const awaited_room room(*this, blocks);
      const waiting_here waits(room, waiting_here::may::refuse);
      if (waits.refused()) {
        lock.lock();
        return waits.why();
      }
      // What it calls takes the lock, perhaps at once; and its end waits for that.
      const std::stop_callback asked(stop, [this] {
        const auto guard = this->lock();
        room_.notify_all();
      });
      lock.lock();
      while (blocks()) {
        if (until == time_point::max())
          room_.wait(lock);
        else
          time_.wait_until(lock, room_, until);
      }
      lock.unlock();
    }
    lock.lock();
    return {};
  }

  void work_ended() noexcept {
    if (watched_ > 0) ended_.notify_all();
    if (stopping_) work_.notify_all();
  }

  // The lane to serve and when; of those that are due by now the one that has used least. `busy`:
  // for a replica with a batch in flight.
  [[nodiscard]] std::pair<work_lane*, time_point> pick(bool busy) {
    work_lane* next = nullptr;
    time_point earliest{};
    bool ready = false;
    std::optional<time_point> now;
    for (work_lane* candidate : lanes_) {
      const auto due = candidate->due(stopping_, busy);
      if (!due) {
        candidate->asleep_ = candidate->asleep_ || !busy || candidate->idle();
        continue;
      }
      // Who had no work has saved nothing up meanwhile.
      if (std::exchange(candidate->asleep_, false))
        candidate->used_ = std::max(candidate->used_, virtual_time_);
      if (lanes_.size() > 1 && !now) now = time_.now();
      const bool is_ready = stopping_ || (now && *due <= *now);
      const bool better = next == nullptr || (is_ready && !ready) ||
                          (is_ready == ready && (ready && candidate->used_ != next->used_
                                                     ? candidate->used_ < next->used_
                                                     : *due < earliest));
      if (!better) continue;
      next = candidate;
      earliest = *due;
      ready = is_ready;
    }
    return {next, earliest};
  }

  // One replica less. With the last one all work fails.
  void lose(std::unique_lock<std::mutex>& lock, const std::exception_ptr& failure) noexcept {
    if (--replicas_ > 0) {
      arrivals_.fetch_add(1, std::memory_order_release);  // what it gave back
      work_.notify_all();
      lock.unlock();
      waiting_threads::all().fail_stuck();
      lock.lock();
      return;
    }
    lost_ = failure;
    fail_all(lock, failure, false);
  }

  // Ends all that waits; as cancelled, asks what runs to stop. It is taken out of all lanes before
  // the lock is released, or a replica would start some of it meanwhile.
  void fail_all(std::unique_lock<std::mutex>& lock, const std::exception_ptr& failure,
                bool as_cancelled) noexcept {
    doomed_lanes doomed;
    for (work_lane* each : lanes_) doomed.add(each->take_all(as_cancelled));
    will_end();
    room_came();
    lock.unlock();
    doomed.end(failure);
    has_ended();
    doomed.close();
    lock.lock();
  }

  const time_source& time_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable landed_;
  std::condition_variable room_;
  std::condition_variable unblocked_;
  std::condition_variable ended_;
  std::vector<work_lane*> lanes_;
  deadline_clock clock_;
  std::atomic<std::uint64_t> arrivals_{0};
  double virtual_time_ = 0;
  std::atomic<std::size_t> replicas_;
  std::exception_ptr lost_;
  std::size_t sleeping_ = 0;
  std::size_t in_flight_ = 0;  // who sleep with a batch in flight
  std::size_t blocked_ = 0;
  std::size_t watched_ = 0;
  std::size_t ending_ = 0;  // what ends outside of the lock
  bool stopping_ = false;
};

}  // namespace topos::detail
