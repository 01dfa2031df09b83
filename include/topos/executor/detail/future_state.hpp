// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a future and the one who fulfils it share.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <topos/async/host_worker.hpp>
#include <topos/core/error.hpp>
#include <topos/core/spinner.hpp>
#include <topos/executor/detail/callback_threads.hpp>
#include <topos/executor/detail/parking_place.hpp>
#include <topos/executor/detail/waiting_threads.hpp>
#include <utility>
#include <variant>

namespace topos::detail {

/// What a result can be called off by.
class withdrawable : public awaited {
 public:
  /// Ends it with `cancelled` if it has not ended; says whether it did.
  virtual bool withdraw() noexcept { return false; }

  /// Of a function of another result, that one, until it is there.
  [[nodiscard]] virtual std::shared_ptr<withdrawable> source() const noexcept { return nullptr; }

 protected:
  ~withdrawable() = default;
};

/// Throws `error` on a thread that does the CPU's work: a model may need that done first; and on
/// the last one for callbacks.
inline void require_may_wait() {
  if (callback_threads::may_not_wait()) {
    throw error(
        "executor: a callback would wait, while all threads for callbacks wait and no more are to "
        "be had: return the future instead, or co_await it");
  }
  if (!host_worker::works_here()) return;
  throw error(
      "executor: the thread that does the CPU's work waits for an executor, whose model may wait "
      "for that work: in on_ready and coroutines use `then` or co_await");
}

/// Is `waiting_here` that throws `error` where it does not wait.
class checked_wait : public waiting_here {
 public:
  explicit checked_wait(const awaited& what, may refuse = may::refuse)
      : waiting_here(what, allowed(refuse)) {
    if (refused()) throw error("executor: " + why());
  }

 private:
  [[nodiscard]] static may allowed(may refuse) {
    if (refuse == may::refuse) require_may_wait();
    return refuse;
  }
};

/// A value or an exception that arrives once, from another thread. One word says how far it is, so
/// that who brings it and who waits pass few cache lines to each other.
template <class T>
class future_state : public withdrawable {
 public:
  [[nodiscard]] bool is_ready() const noexcept final {
    return (word_.load(std::memory_order_acquire) & ready) != 0;
  }

  /// Throws `error` on a thread that would wait for itself.
  void wait() const { wait(waiting_here::may::refuse); }
  /// The same where it has to be waited for.
  void wait_anyway() const noexcept { wait(waiting_here::may::not_refuse); }

  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> time) const {
    if (is_ready()) return true;
    require_unforked();
    parking_place& place = parking_place::of(this);
    auto lock = place.lock();
    if (!mark_awaited()) return true;
    return place.sleep(lock, time, [&] { return is_ready(); });
  }

  /// Has this run once the result is there; says false, and leaves it alone, if it is there
  /// already. Once at most.
  [[nodiscard]] bool then(continuation& next) noexcept {
    static_assert(alignof(continuation) > (ready | awaited));
    std::uintptr_t seen = word_.load(std::memory_order_acquire);
    do {
      if ((seen & ready) != 0) return false;
    } while (!word_.compare_exchange_weak(seen, seen | reinterpret_cast<std::uintptr_t>(&next),
                                          std::memory_order_acq_rel, std::memory_order_acquire));
    return true;
  }

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
    try {
      result_.template emplace<1>(std::move(value));
    } catch (...) {
      result_.template emplace<2>(std::current_exception());
    }
    word_.fetch_or(ready, std::memory_order_acq_rel);
  }
  void store_error(std::exception_ptr failure) noexcept {
    result_.template emplace<2>(std::move(failure));
    word_.fetch_or(ready, std::memory_order_acq_rel);
  }
  void announce() noexcept {
    const std::uintptr_t word = word_.load(std::memory_order_acquire);
    if ((word & awaited) != 0) parking_place::of(this).wake();
    auto* const next = reinterpret_cast<continuation*>(word & ~(ready | awaited));
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
  static constexpr std::uintptr_t ready = 1;
  static constexpr std::uintptr_t awaited = 2;  // somebody sleeps

  void wait(waiting_here::may refuse) const {
    if (is_ready()) return;
    if (forked()) {  // who would make it is not here
      if (refuse == waiting_here::may::not_refuse) return;
      require_unforked();
    }
    const checked_wait waits(*this, refuse);
    thread_local spinner spin(spinner::for_another_thread);
    if (spin([&] { return is_ready(); })) return;
    parking_place& place = parking_place::of(this);
    auto lock = place.lock();
    if (!mark_awaited()) return;
    place.sleep(lock, [&] { return is_ready(); });
  }

  // Says that somebody is about to sleep; says whether there is still something to wait for.
  [[nodiscard]] bool mark_awaited() const noexcept {
    return (word_.fetch_or(awaited, std::memory_order_acq_rel) & ready) == 0;
  }

  // How far it is, and the address of what follows. What follows does not change once it is ready.
  mutable std::atomic<std::uintptr_t> word_ = 0;
  std::variant<std::monostate, T, std::exception_ptr> result_;
};

}  // namespace topos::detail
