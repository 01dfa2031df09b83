// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The threads that run what is to happen after a result.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <new>
#include <stop_token>
#include <thread>
#include <topos/core/visibility.hpp>
#include <topos/device/runtime.hpp>
#include <utility>

namespace topos::detail {

/// What is to happen when a result is there; part of whoever waits for it.
struct continuation {
  /// Called once.
  virtual void run() noexcept = 0;

  continuation* next = nullptr;
  /// Returns at once and calls nobody's code: run by the thread that brings the result.
  bool quick = false;

 protected:
  continuation() = default;
  continuation(const continuation&) = default;
  continuation& operator=(const continuation&) = default;
  ~continuation() = default;
};

/// Runs continuations in the order of their coming, one after the other; where one does not return
/// soon, a further thread goes on with the rest. So that neither a model nor another's callback
/// waits for one that blocks. At the runtime's end those that have come are waited for.
///
/// Whoever runs one has another thread to watch over it. Where none is to be had, the last one runs
/// them even so, but none of these may wait: all could be for one that is still to come.
class callback_threads {
 public:
  [[nodiscard]] TOPOS_SHARED static callback_threads& all() {
    // Never destroyed: its threads end with the program.
    static callback_threads& threads = *new callback_threads;
    return threads;
  }

  callback_threads() {
    at_end(end_of::callbacks, [this] {
      if (!forked()) finish();
    });
  }

  /// Goes on as if no more threads than this were to be had; for tests. It lives as long as they.
  void limit_to(std::size_t most) noexcept {
    const std::lock_guard guard(mutex_);
    most_ = most;
  }

  /// Whether this thread runs something that may not wait.
  [[nodiscard]] static bool may_not_wait() noexcept { return here().may_not_wait; }

  /// Runs it soon, on another thread; on this one where no thread is to be had.
  void post(continuation& c) noexcept {
    bool call = false;
    {
      std::unique_lock lock(mutex_);
      c.next = nullptr;
      (last_ == nullptr ? first_ : last_->next) = &c;
      last_ = &c;
      // A new one looks by itself, and who watches looks again.
      if (idle_ != 0)
        call = (nobody_is_at_it() || watching_ == 0) && !std::exchange(called_, true);
      else if (!may_not_wait())  // else who has called the one that this is in goes on with it
        while (first_ != nullptr && !start() && threads_ == 0) run_some(lock, false);
    }
    if (call) came_.notify_one();
  }

 private:
  static constexpr std::size_t spare = 2;

  // Blocks until all that has come has been run, but for what this thread is in the middle of.
  void finish() {
    std::unique_lock lock(mutex_);
    while (may_not_wait() && first_ != nullptr && !start()) run_some(lock, false);
    const std::size_t own = here().is_one ? 1 : 0;
    over_.wait(lock, [&] { return first_ == nullptr && running_ <= own; });
  }

  // What this thread is.
  struct place {
    bool is_one = false;        // of these, or in their place
    bool may_not_wait = false;  // for what it runs
  };
  [[nodiscard]] TOPOS_SHARED static place& here() noexcept {
    thread_local place is;
    return is;
  }

  // Says whether there is one more.
  bool start() noexcept {
    if (threads_ >= most_) return false;
    try {
      std::thread([this] { work(); }).detach();
    } catch (...) {  // no more threads to be had
      return false;
    }
    ++threads_;
    ++idle_;
    return true;
  }

  // How long one may take before another thread goes on with the rest: not long where callbacks
  // block or compute a little, and longer the more of them are held up, or all those that block
  // would soon have threads.
  [[nodiscard]] std::chrono::microseconds patience() const noexcept {
    return std::chrono::microseconds(100) * std::min<std::size_t>(held_up_ + 1, 20);
  }

  [[nodiscard]] bool nobody_is_at_it() const noexcept { return running_ == held_up_; }

  [[nodiscard]] continuation* take() noexcept {
    continuation* const c = first_;
    if (c == nullptr) return nullptr;
    first_ = c->next;
    if (first_ == nullptr) last_ = nullptr;
    ++taken_;
    return c;
  }

  // Runs what has come until another one goes on, or one of it where that may not wait.
  void run_some(std::unique_lock<std::mutex>& lock, bool may_wait) noexcept {
    const place before = std::exchange(here(), {true, !may_wait});
    ++running_;
    while (continuation* const c = take()) {
      const std::size_t mine = taken_;
      lock.unlock();
      c->run();
      lock.lock();
      if (mine <= held_up_to_) --held_up_;
      if (!may_wait || running_ - held_up_ > 1) break;
    }
    --running_;
    over_.notify_all();
    here() = before;
  }

  void work() noexcept {
    here().is_one = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      while (first_ == nullptr) {
        called_ = false;
        came_.wait(lock);
      }
      called_ = false;
      if (!nobody_is_at_it()) {
        // Somebody is, and goes on as long as nothing holds him up.
        const std::size_t before = taken_;
        ++watching_;
        came_.wait_for(lock, patience(), [&] { return first_ == nullptr || nobody_is_at_it(); });
        --watching_;
        if (first_ == nullptr || (!nobody_is_at_it() && taken_ != before)) continue;
        held_up_ = running_;
        held_up_to_ = taken_;
      }
      called_ = false;
      // There is always somebody to watch over those who run.
      const bool watched = idle_ > 1 || start();
      --idle_;
      if (watched && first_->next != nullptr && watching_ == 0 && !std::exchange(called_, true))
        came_.notify_one();
      run_some(lock, watched);
      if (idle_ >= spare) {
        --threads_;
        return;
      }
      ++idle_;
    }
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::condition_variable over_;
  continuation* first_ = nullptr;
  continuation* last_ = nullptr;
  std::size_t taken_ = 0;    // so far
  std::size_t threads_ = 0;  // that there are
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  std::size_t idle_ = 0;        // that run none
  std::size_t watching_ = 0;    // of these, that look again after some time
  std::size_t running_ = 0;     // that are in one
  std::size_t held_up_ = 0;     // of these, that nobody waits for any more
  std::size_t held_up_to_ = 0;  // `taken_` when that was said of them
  bool called_ = false;         // one that is idle, and has not come yet
};

/// Asks to stop on a thread for callbacks, for a thread that must not wait for what is called then.
class stop_request final : continuation {
 public:
  static void post(std::stop_source source) noexcept {
    if (auto* const made = new (std::nothrow) stop_request(source))
      callback_threads::all().post(*made);
    else
      source.request_stop();
  }

 private:
  explicit stop_request(std::stop_source source) noexcept : source_(std::move(source)) {}

  void run() noexcept override {
    source_.request_stop();
    delete this;
  }

  std::stop_source source_;
};

}  // namespace topos::detail
