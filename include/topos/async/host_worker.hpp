// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A queue of the CPU: one thread that works tasks off in order.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <topos/async/work.hpp>
#include <topos/backend/host.hpp>
#include <topos/core/error.hpp>
#include <topos/core/spinner.hpp>
#include <topos/core/visibility.hpp>
#include <topos/device/runtime.hpp>
#include <utility>

namespace topos::detail {

/// One thread that runs tasks in the order of their submission, and lets a caller run small work
/// itself while nothing is queued. Tasks do not throw.
///
/// Each thread that enters OpenMP gets a team of its own, so only the thread of the worker that has
/// all cores does; the thread of any other is that one core (`in_place`).
class host_worker {
 public:
  /// What it is for: the CPU's work, or calls that may wait for that.
  enum class runs { work, callbacks };

  explicit host_worker(int index, bool in_place = false, runs what = runs::work)
      : stream_(index, in_place), in_place_(index, true), thread_([this, what] {
          working() = what == runs::work;
          work_off();
        }) {}

  ~host_worker() { stop(); }

  /// Finishes what is queued, and what runs in place on other threads; from then on it takes
  /// nothing: `submit` throws `runtime_not_started`.
  void stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard running(running_);
  }

  /// Ends a worker that one of its own tasks may be the last to have: elsewhere, then.
  static void end(std::unique_ptr<host_worker> last) noexcept {
    if (!last || std::this_thread::get_id() != last->thread_.get_id()) return;
    host_worker* const own = last.release();
    try {
      std::thread([own] { delete own; }).detach();
    } catch (...) {  // no thread is to be had: it stays
    }
  }

  host_worker(const host_worker&) = delete;
  host_worker& operator=(const host_worker&) = delete;

  /// Runs `task(stream)` now, on this thread, if nothing is queued or running; says whether it did.
  template <class Task>
  bool try_in_place(Task&& task) {
    if (!idle() || runs_here()) return false;
    const std::unique_lock running(running_, std::try_to_lock);
    if (!running.owns_lock() || !idle() || stop_) return false;
    in_place_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    const bool before = std::exchange(working(), true);
    task(in_place_);
    working() = before;
    in_place_thread_.store({}, std::memory_order_relaxed);
    return true;
  }

  /// A stream that runs everything on the calling thread; threads may share it.
  [[nodiscard]] const backend::host::stream& in_place() const noexcept { return in_place_; }

  /// Queues `task(stream)` and returns its ticket; calls `announce(ticket, task)` before it may
  /// start.
  template <class Announce, class Task>
  std::uint64_t submit(Announce&& announce, Task task) {
    auto* const made = new work_of<Task>(std::move(task));
    std::unique_ptr<work> next(made);
    std::uint64_t ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) throw_ended();
      ticket = submitted_.load(std::memory_order_relaxed) + 1;
      pending_.push_back(std::move(next));
      submitted_.store(ticket, std::memory_order_release);
      announce(ticket, made->function());
    }
    wake_.notify_one();
    return ticket;
  }

  /// The ticket of the last task that was queued.
  [[nodiscard]] std::uint64_t submitted() const noexcept {
    return submitted_.load(std::memory_order_acquire);
  }

  /// True once the task of a ticket is done.
  [[nodiscard]] bool is_done(std::uint64_t ticket) const noexcept {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }

  /// Blocks until the task of a ticket is done. Throws where that can never be: inside work, for a
  /// task that is queued behind it.
  void wait(std::uint64_t ticket) {
    if (is_done(ticket)) return;
    require_unforked();
    if (std::this_thread::get_id() == thread_.get_id() || runs_here() ||
        stream_.crew().works_here()) {
      throw error(
          "queued work on the CPU waits for work that is queued behind it: in on_ready, and after "
          "co_await of a tensor, co_await what is needed next instead of reading it");
    }
    backend::crew::guest guest(stream_.crew());
    if (!stream_.crew().runs_on_this_core() && guest.help_until([&] { return is_done(ticket); }))
      return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return is_done(ticket); });
  }

  /// Runs `next()`, which does not throw, on the worker's thread once the task of a ticket is done,
  /// before further tasks. Says false, and does nothing, if it is done already.
  bool follow(std::uint64_t ticket, std::function<void()> next) {
    const std::lock_guard lock(mutex_);
    if (is_done(ticket)) return false;
    followers_.emplace(ticket, std::move(next));
    return true;
  }

  /// Blocks until all that is queued is done.
  void drain() { wait(submitted()); }

  /// The same, and until all is done that was to follow.
  void drain_followers() {
    wait(submit([](std::uint64_t, const auto&) {}, [](const auto&) {}));
  }

  /// Whether this thread does the CPU's work: others wait until it goes on.
  [[nodiscard]] static bool works_here() noexcept { return working(); }

 private:
  [[nodiscard]] TOPOS_SHARED static bool& working() noexcept {
    thread_local bool is = false;
    return is;
  }

  [[nodiscard]] bool idle() const noexcept {
    return completed_.load(std::memory_order_acquire) == submitted_.load(std::memory_order_acquire);
  }

  // True inside work that runs in place on this thread; only this thread can make that so.
  [[nodiscard]] bool runs_here() const noexcept {
    return in_place_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  void work_off() {
    backend::host::unbind_thread();
    const backend::host::thread_limit own_core(stream_);
    // Work often comes in turns with waiting for it. Who waited wakes within some 50 us, and is to
    // find this thread awake: waking it takes the caller 10 us.
    spinner spin(std::chrono::microseconds(150), false);
    for (;;) {
      std::unique_ptr<work> next;
      {
        // Who submits has the lock yet when the work is seen: to sleep in it would have them wake
        // this thread.
        std::unique_lock lock(mutex_, std::defer_lock);
        if (!spin([&] { return !idle() && lock.try_lock(); })) lock.lock();
        wake_.wait(lock, [&] { return stop_ || !pending_.empty(); });
        if (pending_.empty()) return;
        next = std::move(pending_.front());
        pending_.pop_front();
      }
      {
        const std::lock_guard running(running_);
        next->run(stream_);
        next.reset();  // what it held is given back before anyone learns that it is done
      }
      std::uint64_t ticket = 0;
      {
        const std::lock_guard lock(mutex_);
        ticket = completed_.fetch_add(1, std::memory_order_release) + 1;
      }
      done_.notify_all();
      while (const auto follower = follower_of(ticket)) follower.mapped()();
    }
  }

  // One that is to run after the task of a ticket, or none. (Nodes, since moving needs no memory.)
  [[nodiscard]] std::multimap<std::uint64_t, std::function<void()>>::node_type follower_of(
      std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    if (followers_.empty() || followers_.begin()->first > ticket) return {};
    return followers_.extract(followers_.begin());
  }

  backend::host::stream stream_;
  backend::host::stream in_place_;
  std::mutex mutex_;
  std::mutex running_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<std::unique_ptr<work>> pending_;
  std::multimap<std::uint64_t, std::function<void()>> followers_;
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::thread::id> in_place_thread_{};
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace topos::detail
