// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The threads of a CPU that share a launch.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <topos/core/config.hpp>
#include <topos/core/spinner.hpp>
#include <topos/core/visibility.hpp>
#include <utility>
#include <vector>

namespace topos::backend {

/// A job in numbered parts, each of which is run once, by any of the threads that take them. Parts
/// do not throw.
///
/// Each of some threads has a share of neighbouring parts, with which it begins, and helps with the
/// others' then: of one job after another on the same memory, a core finds in its own cache what it
/// has left there. Of many threads some share one.
class parted_job {
 public:
  using run_part = void (*)(const void* job, index_t part);

  /// To be run by so many threads.
  parted_job(index_t parts, const void* job, run_part run, int threads)
      : job_(job), run_(run), shares_(std::clamp(threads, 1, most_shares)) {
    for (int i = 0; i < shares_; ++i) {
      share_[i].next.store(parts * i / shares_, std::memory_order_relaxed);
      share_[i].end = parts * (i + 1) / shares_;
    }
  }

  /// Runs the next part of a thread's; says false where none is left.
  bool run_one(int thread) noexcept {
    for (int i = 0; i < shares_; ++i) {
      share& from = share_[(thread + i) % shares_];
      if (!from.has_more()) continue;
      const index_t part = from.next.fetch_add(1, std::memory_order_relaxed);
      if (part >= from.end) continue;
      run_(job_, part);
      return true;
    }
    return false;
  }

  /// Whether some part is not taken yet.
  [[nodiscard]] bool has_more() const noexcept {
    return std::any_of(share_, share_ + shares_, [](const share& s) { return s.has_more(); });
  }

 private:
  struct alignas(64) share {
    std::atomic<index_t> next;
    index_t end;
    [[nodiscard]] bool has_more() const noexcept {
      return next.load(std::memory_order_relaxed) < end;
    }
  };
  static constexpr int most_shares = 16;

  const void* const job_;
  const run_part run_;
  const int shares_;
  share share_[most_shares];
};

/// The thread that runs jobs and those that help it: threads of the crew's own, and whoever waits
/// for what it is at.
///
/// Nobody waits for a helper that has not begun. A team of OpenMP ends with its last thread, even
/// if that finds nothing left to do; where another program has its core, the others wait for as
/// long as the system lets that program go on, milliseconds for a job of microseconds.
class crew {
 public:
  /// Of `threads` in all; the helpers among them start when they are needed first.
  /// Each of them calls `prepare` first.
  explicit crew(
      int threads, void (*prepare)() = [] {})
      : most_(threads - 1), prepare_(prepare) {}
  ~crew() {
    stop_.store(true);
    call();
    for (std::thread& t : helpers_) t.join();
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  [[nodiscard]] int size() const { return most_ + 1; }

  /// Whether this thread is at a part of a job of the crew's: what waits for that may not wait
  /// here.
  [[nodiscard]] bool works_here() const noexcept { return current() == this; }

  /// Whether this thread is on the core on which the last job was run: to keep that busy would be
  /// no help.
  [[nodiscard]] bool runs_on_this_core() const noexcept {
    return core_.load(std::memory_order_relaxed) == sched_getcpu();
  }

  /// Runs a job here and on helpers; returns when all of it is done. Helpers that sleep are called
  /// `at_once` where no guests are ready in their place, and otherwise when the job has taken as
  /// long as it takes to call them and fewer are at it than could be. Only one thread at a time may
  /// call this.
  void run(parted_job& job, bool at_once) noexcept {
    const at_work here(*this);
    core_.store(sched_getcpu(), std::memory_order_relaxed);
    job_.store(&job);
    bool called = at_once && ready_.load(std::memory_order_relaxed) < most_;
    if (called) call_helpers();
    const auto start = clock::now();
    while (job.run_one(0)) {
      if (called || !job.has_more() || clock::now() - start < patience) continue;
      called = true;
      if (busy_.load(std::memory_order_relaxed) < most_) call_helpers();
    }
    // Whoever comes from now on sees no job; who came before is counted.
    job_.store(nullptr);
    for (unsigned i = 1; busy_.load() != 0; ++i)
      i % 256 == 0 ? std::this_thread::yield() : detail::pause_core();
  }

  /// While it lives, its thread waits for what the crew is at: a thread of the crew's own rests
  /// instead, so that no more are awake than there are cores.
  class guest {
   public:
    explicit guest(crew& c) : crew_(c), thread_(++crew_.guests_) {}
    ~guest() { --crew_.guests_; }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

    /// Helps for as long as there is something to help with, and spins a while for more; says
    /// whether `done()`.
    template <class Done>
    bool help_until(Done done) noexcept {
      ++crew_.ready_;
      thread_local detail::spinner spin;
      bool helped = true;
      while (helped && !done()) {
        helped = false;
        (void)spin([&] { return done() || (helped = crew_.help(thread_)); });
      }
      --crew_.ready_;
      return done();
    }

   private:
    crew& crew_;
    const int thread_;  // as a rule in the place of that of the crew's which rests for it
  };

 private:
  // Of which crew's job this thread runs a part.
  [[nodiscard]] TOPOS_SHARED static const crew*& current() noexcept {
    thread_local const crew* working = nullptr;
    return working;
  }
  class at_work {
   public:
    explicit at_work(const crew& c) : before_(std::exchange(current(), &c)) {}
    ~at_work() { current() = before_; }
    at_work(const at_work&) = delete;
    at_work& operator=(const at_work&) = delete;

   private:
    const crew* const before_;
  };

  using clock = std::chrono::steady_clock;
  // About what it takes to wake a thread.
  static constexpr clock::duration patience = std::chrono::microseconds(10);

  // Runs parts until none is left, as this thread of the crew; says false if it found none.
  bool help(int thread) noexcept {
    if (job_.load(std::memory_order_relaxed) == nullptr) return false;
    bool helped = false;
    ++busy_;
    if (parted_job* job = job_.load()) {
      const at_work here(*this);
      while (job->run_one(thread)) helped = true;
      job_.compare_exchange_strong(job, nullptr);  // nobody need look at it any more
    }
    --busy_;
    return helped;
  }

  // Has all threads of its own come; where one cannot be started, those that there are.
  void call_helpers() noexcept {
    try {
      while (static_cast<int>(helpers_.size()) < most_)
        helpers_.emplace_back(
            [this, number = static_cast<int>(helpers_.size())] { attend(number); });
    } catch (...) {
    }
    if (asleep_.load() != 0) call();
  }

  void call() {
    ++calls_;
    calls_.notify_all();
  }

  void attend(int number) {
    prepare_();
    // As long as there is often between two jobs.
    detail::spinner spin(std::chrono::microseconds(50), false);
    while (!stop_.load()) {
      // For each guest one of these rests.
      const auto rests = [&] { return guests_.load(std::memory_order_relaxed) > number; };
      bool helped = false;
      if (!rests())
        (void)spin([&] { return (helped = help(number + 1)) || rests() || stop_.load(); });
      if (helped) continue;
      const std::uint32_t calls = calls_.load();
      ++asleep_;
      if (job_.load() == nullptr && !stop_.load()) calls_.wait(calls);
      --asleep_;
      (void)help(number + 1);
    }
  }

  const int most_;
  void (*const prepare_)();
  std::atomic<parted_job*> job_{nullptr};
  std::atomic<int> core_{-1};  // on which the last job was run
  std::atomic<int> busy_{0};   // who may be at a part of it
  std::atomic<int> guests_{0};
  std::atomic<int> ready_{0};  // guests that are awake
  std::atomic<int> asleep_{0};
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace topos::backend
