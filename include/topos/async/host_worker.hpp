// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A queue of the CPU: tasks that are run in order.

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

/// Runs tasks in the order of their submission, one at a time, on a thread of its own or on one
/// that waits for them, whichever comes first: to wake a thread takes longer than many a task. Lets
/// a caller run small work itself while nothing is queued. Tasks do not throw.
///
/// Each thread that enters OpenMP gets a team of its own, so only the thread of the worker that has
/// all cores does: what is `always_queued` is run by no other. The thread of any further worker is
/// that one core (`in_place`).
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
    const at_work here(*this);
    task(in_place_);
    return true;
  }

  /// A stream that runs everything on the calling thread; threads may share it.
  [[nodiscard]] const backend::host::stream& in_place() const noexcept { return in_place_; }

  /// Queues `task(stream)`, which touches so many elements, and returns its ticket; calls
  /// `announce(ticket, task)`, which does not throw, before it may start.
  template <class Announce, class Task>
  std::uint64_t submit(Announce&& announce, Task task, index_t elements = always_queued) {
    auto* const made = new work_of<Task>(std::move(task));
    std::unique_ptr<work> next(made);
    std::uint64_t ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) throw_ended();
      ticket = submitted_.load(std::memory_order_relaxed) + 1;
      pending_.push_back({std::move(next), elements});
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

  /// Blocks until the task of a ticket is done; runs it, and what is queued before it, where nobody
  /// has begun with that. Throws where it can never be done: inside work, for a task that is queued
  /// behind it.
  void wait(std::uint64_t ticket) {
    if (is_done(ticket)) return;
    require_unforked();
    if (std::this_thread::get_id() == thread_.get_id() || runs_here() ||
        stream_.crew().works_here()) {
      throw error(
          "queued work on the CPU waits for work that is queued behind it: in on_ready, and after "
          "co_await of a tensor, co_await what is needed next instead of reading it");
    }
    {
      backend::crew::guest guest(stream_.crew());
      while (!is_done(ticket) && take_next(ticket)) {
      }
      if (guest.help_until([&] { return is_done(ticket); })) return;
    }
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

  // While it lives, its thread does the CPU's work in this worker's place; who has it has
  // `running_`.
  class at_work {
   public:
    explicit at_work(host_worker& w) : worker_(w), before_(std::exchange(working(), true)) {
      worker_.in_place_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~at_work() {
      worker_.in_place_thread_.store({}, std::memory_order_relaxed);
      working() = before_;
    }
    at_work(const at_work&) = delete;
    at_work& operator=(const at_work&) = delete;

   private:
    host_worker& worker_;
    const bool before_;
  };

  // What is queued.
  struct task {
    std::unique_ptr<work> what;
    index_t elements;
  };

  void work_off() {
    backend::host::unbind_thread();
    const backend::host::thread_limit own_core(stream_);
    backend::crew& crew = stream_.crew();
    // Work often comes in turns with waiting for it. Who waited wakes within some 50 us, and is to
    // find this thread awake: waking it takes the caller 10 us.
    spinner spin(std::chrono::microseconds(150), spinner::manner::gives_way);
    for (;;) {
      std::unique_lock running(running_, std::defer_lock);
      std::unique_lock lock(mutex_, std::defer_lock);
      bool helped = false;
      {
        const backend::crew::awake ready(crew);
        (void)spin([&] {
          crew.first_is_awake();
          if (is_taken_) return helped = crew.help();
          if ((idle() && !is_followed_) || !running.try_lock()) return false;
          // Who submits has this yet when the work is seen: to sleep in it would have them wake
          // this thread.
          if (lock.try_lock()) return true;
          running.unlock();
          return false;
        });
      }
      if (helped) continue;
      if (!lock.owns_lock()) {
        crew.first_is_asleep();
        lock.lock();
        if (!is_taken_ && pending_.empty() && !is_followed_) {
          if (stop_) return;
          // Who has called may begin with it before this thread is awake: more is to come then.
          wake_.wait(lock);
          continue;
        }
        // It is for this thread, but another is at something that takes long.
        lock.unlock();
        running.lock();
        lock.lock();
        crew.first_is_awake();
      }
      const bool is_free = !is_followed_ && !pending_.empty();
      std::unique_ptr<work> next = is_free ? take_front() : nullptr;
      lock.unlock();
      if (next) run(std::move(next), stream_);
      running.unlock();  // who is told that it is done may run something in place
      if (is_free) count_done();
      while (const auto follower = next_follower()) follower.mapped()();
    }
  }

  // Runs the task that is next, on a thread that waits for that of a ticket; says false where none
  // is left until there, or it is for the worker's own thread.
  bool take_next(std::uint64_t ticket) {
    const std::unique_lock running(running_, std::try_to_lock);
    if (!running.owns_lock()) return false;
    const at_work here(*this);
    is_taken_ = true;
    const backend::host::stream* stream = nullptr;
    std::unique_ptr<work> next;
    {
      const std::lock_guard lock(mutex_);
      // Not before the task before it counts as done: it may wait for what waits for that.
      const bool has_begun = completed_ + pending_.size() != submitted_;
      const bool is_free = completed_ < ticket && !has_begun && !is_followed_ && followers_.empty();
      if (is_free) stream = stream_elsewhere(pending_.front().elements);
      if (stream != nullptr) next = take_front();
    }
    if (next) {
      run(std::move(next), *stream);
      count_done();
    }
    is_taken_ = false;
    return stream != nullptr;
  }

  // On which another thread may run a task of so many elements, or null.
  [[nodiscard]] const backend::host::stream* stream_elsewhere(index_t elements) const {
    if (elements == always_queued) return nullptr;
    return elements <= backend::host::stream::small_work ? &in_place_ : &stream_;
  }

  // The task that is next, of one at least; who calls has `mutex_` and `running_`.
  std::unique_ptr<work> take_front() {
    std::unique_ptr<work> next = std::move(pending_.front().what);
    pending_.pop_front();
    return next;
  }

  // What it held is given back before anyone learns that it is done.
  static void run(std::unique_ptr<work> next, const backend::host::stream& stream) {
    next->run(stream);
  }

  void count_done() {
    {
      const std::lock_guard lock(mutex_);
      completed_.fetch_add(1, std::memory_order_release);
      look_for_followers();
    }
    done_.notify_all();
    if (is_followed_) wake_.notify_one();
  }

  // Who calls has `mutex_`.
  void look_for_followers() {
    is_followed_ = !followers_.empty() && followers_.begin()->first <= completed_;
  }

  // One that is to follow what is done, or none. (Nodes, since moving needs no memory.)
  [[nodiscard]] std::multimap<std::uint64_t, std::function<void()>>::node_type next_follower() {
    const std::lock_guard lock(mutex_);
    look_for_followers();  // now, since the one before has been run
    if (!is_followed_) return {};
    return followers_.extract(followers_.begin());
  }

  backend::host::stream stream_;
  backend::host::stream in_place_;
  std::mutex mutex_;
  std::mutex running_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<task> pending_;
  std::multimap<std::uint64_t, std::function<void()>> followers_;
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::thread::id> in_place_thread_{};
  std::atomic<bool> is_taken_ = false;     // a task, by a thread that waits for it
  std::atomic<bool> is_followed_ = false;  // what is done, by something that has not been run
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace topos::detail
