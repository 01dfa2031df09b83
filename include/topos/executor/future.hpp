// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A result that is still being made.

#include <chrono>
#include <concepts>
#include <memory>
#include <source_location>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/future_state.hpp>
#include <type_traits>
#include <utility>

namespace topos {

/// Work that was withdrawn before it started.
struct cancelled : error {
  // Spelled out: nvcc 13 breaks down on a second class that inherits this constructor.
  explicit cancelled(const std::string& message,
                     std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// What a future can hold.
template <class T>
concept future_value = std::is_object_v<T> && std::movable<T>;

/// A value or an exception that another thread makes; whoever holds it takes it once. Always ends,
/// also when the executor that made it is destroyed. Dropping it drops the result, not the work.
template <future_value T>
class [[nodiscard]] future {
 public:
  /// Refers to nothing.
  future() noexcept = default;
  explicit future(std::shared_ptr<detail::future_state<T>> state) noexcept
      : state_(std::move(state)) {}
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  /// False once the result is taken, and for a future that was moved from.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }

  /// Whether `get` would return or throw at once.
  [[nodiscard]] bool is_ready(std::source_location where = std::source_location::current()) const {
    return state(where).is_ready();
  }

  /// Blocks until the result is there.
  void wait(std::source_location where = std::source_location::current()) const {
    state(where).wait();
  }

  /// Blocks until the result is there or the time is over; says whether it is there.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> time,
                              std::source_location where = std::source_location::current()) const {
    return state(where).wait_for(time);
  }

  /// Blocks, then gives the value or throws what was thrown on the way, with its own type. Once:
  /// afterwards the future is not valid, and a second call throws `topos::error`.
  T get(std::source_location where = std::source_location::current()) {
    state(where).wait();
    return std::exchange(state_, nullptr)->take();
  }

 private:
  [[nodiscard]] detail::future_state<T>& state(std::source_location where) const {
    if (!state_) {
      throw error("future: it refers to no result; was it moved from, or its result taken before?",
                  where);
    }
    return *state_;
  }

  std::shared_ptr<detail::future_state<T>> state_;
};

}  // namespace topos
