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
/// A thread begins with a share of neighbouring parts, the same for the same core where it can be,
/// and helps with the others' then: of one job after another on the same memory, a core finds in
/// its own cache what it has left there. Of many threads some have one share.
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

  /// The share with which this thread is to begin.
  [[nodiscard]] int share_of_this_core() noexcept {
    const int own = std::max(sched_getcpu(), 0) % shares_;
    for (int i = 0; i < shares_; ++i) {
      const int s = (own + i) % shares_;
      if (!share_[s].is_begun.exchange(true, std::memory_order_relaxed)) return s;
    }
    return own;
  }

  /// Runs the next part, of this share where there is one; says false where none is left.
  bool run_one(int share) noexcept {
    for (int i = 0; i < shares_; ++i) {
      parts_of_share& from = share_[(share + i) % shares_];
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
    return std::any_of(share_, share_ + shares_, [](const auto& s) { return s.has_more(); });
  }

 private:
  struct alignas(64) parts_of_share {
    std::atomic<index_t> next;
    index_t end;
    std::atomic<bool> is_begun = false;
    [[nodiscard]] bool has_more() const noexcept {
      return next.load(std::memory_order_relaxed) < end;
    }
  };
  static constexpr int most_shares = 16;

  const void* const job_;
  const run_part run_;
  const int shares_;
  parts_of_share share_[most_shares];
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

  /// Runs a job here and on helpers; returns when all of it is done. Helpers that sleep are called
  /// `at_once` where no guests are ready in their place, and otherwise when the job has taken as
  /// long as it takes to call them and fewer are at it than could be. Only one thread at a time may
  /// call this.
  void run(parted_job& job, bool at_once) noexcept {
    const at_work here(*this);
    job_.store(&job);
    bool called = at_once && ready_.load(std::memory_order_relaxed) < most_;
    if (called) call_helpers();
    const auto start = clock::now();
    const int share = job.share_of_this_core();
    while (job.run_one(share)) {
      if (called || !job.has_more() || clock::now() - start < patience) continue;
      called = true;
      if (busy_.load(std::memory_order_relaxed) < most_) call_helpers();
    }
    // Whoever comes from now on sees no job; who came before is counted.
    job_.store(nullptr);
    for (unsigned i = 1; busy_.load() != 0; ++i)
      i % 256 == 0 ? std::this_thread::yield() : detail::pause_core();
  }

  /// While it lives, its thread is ready to help.
  class awake {
   public:
    explicit awake(crew& c) : crew_(c) { ++crew_.ready_; }
    ~awake() { --crew_.ready_; }
    awake(const awake&) = delete;
    awake& operator=(const awake&) = delete;

   private:
    crew& crew_;
  };

  /// The first thread, that which runs jobs where no guest does, tells on which core it is awake,
  /// or that it goes to sleep.
  void first_is_awake(int core = sched_getcpu()) noexcept {
    if (core_.load(std::memory_order_relaxed) != core)  // others look at that line all the time
      core_.store(core, std::memory_order_relaxed);
  }
  void first_is_asleep() noexcept { core_.store(-1, std::memory_order_relaxed); }

  /// Runs parts until none is left; says false if it found none.
  bool help() noexcept {
    if (job_.load(std::memory_order_relaxed) == nullptr) return false;
    bool helped = false;
    ++busy_;
    if (parted_job* job = job_.load()) {
      const at_work here(*this);
      const int share = job->share_of_this_core();
      while (job->run_one(share)) helped = true;
      job_.compare_exchange_strong(job, nullptr);  // nobody need look at it any more
    }
    --busy_;
    return helped;
  }

  /// While it lives, its thread waits for what the crew is at, or does it in the first thread's
  /// place. Where that is awake on another core, a thread of the crew's own rests instead, so that
  /// no more are awake than there are cores.
  class guest {
   public:
    explicit guest(crew& c)
        : crew_(c),
          first_(c.core_.load(std::memory_order_relaxed)),
          has_its_core_(first_ >= 0 && first_ == sched_getcpu()) {
      if (counts()) ++crew_.guests_;
    }
    ~guest() {
      if (counts()) --crew_.guests_;
    }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

    /// Helps for as long as there is something to help with, and spins a while for more; says
    /// whether `done()`. Not on the first thread's core: to keep that busy would be no help.
    template <class Done>
    bool help_until(Done done) noexcept {
      if (has_its_core_) return done();
      const awake ready(crew_);
      thread_local detail::spinner spin;
      bool helped = true;
      while (helped && !done()) {
        helped = false;
        (void)spin([&] { return done() || (helped = crew_.help()); });
      }
      return done();
    }

   private:
    [[nodiscard]] bool counts() const noexcept { return first_ >= 0 && !has_its_core_; }

    crew& crew_;
    const int first_;
    const bool has_its_core_;
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
    detail::spinner spin(std::chrono::microseconds(50), detail::spinner::manner::gives_way);
    while (!stop_.load()) {
      // For each guest one of these rests.
      const auto rests = [&] { return guests_.load(std::memory_order_relaxed) > number; };
      bool helped = false;
      if (!rests()) (void)spin([&] { return (helped = help()) || rests() || stop_.load(); });
      if (helped) continue;
      const std::uint32_t calls = calls_.load();
      ++asleep_;
      if (job_.load() == nullptr && !stop_.load()) calls_.wait(calls);
      --asleep_;
      (void)help();
    }
  }

  const int most_;
  void (*const prepare_)();
  std::atomic<parted_job*> job_{nullptr};
  std::atomic<int> core_{-1};  // on which the first thread is awake
  std::atomic<int> busy_{0};   // who may be at a part of it
  std::atomic<int> guests_{0};
  std::atomic<int> ready_{0};  // those that are awake, but the crew's own
  std::atomic<int> asleep_{0};
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace topos::backend
