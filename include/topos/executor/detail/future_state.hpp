// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a future and the one who fulfils it share.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <topos/core/spinner.hpp>
#include <topos/executor/detail/callback_threads.hpp>
#include <utility>
#include <variant>

namespace topos::detail {

/// A value or an exception that arrives once, from another thread.
template <class T>
class future_state {
 public:
  future_state() = default;
  future_state(const future_state&) = delete;
  future_state& operator=(const future_state&) = delete;

  [[nodiscard]] bool is_ready() const noexcept { return ready_.load(std::memory_order_acquire); }

  void wait() const {
    if (is_ready()) return;
    thread_local spinner spin(spinner::for_another_thread);
    if (spin([&] { return is_ready(); })) return;
    std::unique_lock lock(mutex_);
    if (is_ready()) return;
    awaited_ = true;
    changed_.wait(lock, [&] { return is_ready(); });
  }

  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> time) const {
    if (is_ready()) return true;
    std::unique_lock lock(mutex_);
    if (is_ready()) return true;
    awaited_ = true;
    return changed_.wait_for(lock, time, [&] { return is_ready(); });
  }

  /// Has this run once the result is there; says false, and leaves it alone, if it is there
  /// already. At most one at a time.
  [[nodiscard]] bool then(continuation& next) noexcept {
    const std::lock_guard guard(mutex_);
    if (is_ready()) return false;
    next_ = &next;
    return true;
  }

  /// Ends it with `cancelled` if it has not ended; says whether it did.
  virtual bool withdraw() noexcept { return false; }

  /// To be called once, or `set_error` once; a value whose move throws becomes that error. Who
  /// calls either holds a reference.
  void set_value(T&& value) noexcept {
    store_value(std::move(value));
    announce();
  }
  void set_error(std::exception_ptr failure) noexcept {
    store_error(std::move(failure));
    announce();
  }

  /// The same in two steps: who is woken for one of several results finds the others there too.
  void store_value(T&& value) noexcept {
    store([&] {
      try {
        result_.template emplace<1>(std::move(value));
      } catch (...) {
        result_.template emplace<2>(std::current_exception());
      }
    });
  }
  void store_error(std::exception_ptr failure) noexcept {
    store([&] { result_.template emplace<2>(std::move(failure)); });
  }
  void announce() noexcept {
    if (awaited_) changed_.notify_all();
    continuation* const next = std::exchange(next_, nullptr);
    if (next == nullptr) return;
    if (next->quick)
      next->run();
    else
      callback_threads::all().post(*next);
  }

  /// The value, moved out, or the exception, thrown; to be called once, when ready.
  [[nodiscard]] T take() {
    if (result_.index() == 2) std::rethrow_exception(std::get<2>(std::exchange(result_, {})));
    return std::get<1>(std::move(result_));
  }

 protected:
  ~future_state() = default;

 private:
  template <class Store>
  void store(Store keep) noexcept {
    const std::lock_guard guard(mutex_);
    keep();
    ready_.store(true, std::memory_order_release);
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::atomic<bool> ready_ = false;
  // Written under the lock by who waits, and no more once it is ready.
  mutable bool awaited_ = false;
  continuation* next_ = nullptr;
  std::variant<std::monostate, T, std::exception_ptr> result_;
};

}  // namespace topos::detail
