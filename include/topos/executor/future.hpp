// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A result that is still being made.

#include <chrono>
#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <topos/core/error.hpp>
#include <topos/executor/detail/future_state.hpp>
#include <topos/executor/detail/parking_place.hpp>
#include <topos/executor/detail/relay.hpp>
#include <topos/executor/detail/signature.hpp>
#include <topos/executor/errors.hpp>
#include <topos/executor/outcome.hpp>
#include <type_traits>
#include <utility>

namespace topos {

/// What a future can hold.
template <class T>
concept future_value = std::is_object_v<T> && std::movable<T>;

template <future_value T>
class future;

/// What a future of nothing holds: of a callback that returns nothing.
struct nothing {
  friend bool operator==(nothing, nothing) = default;
};

namespace detail {

template <class T>
using never_void = std::conditional_t<std::is_void_v<T>, nothing, T>;

template <class F, class T>
concept takes_outcome = std::same_as<typename only_parameter<F>::type, outcome<T>>;

// What a function of a result of type T is called with.
template <class F, class T>
using passed_to = std::conditional_t<takes_outcome<F, T>, outcome<T>, T>;

template <class F, class T>
using result_of_passed = std::invoke_result_t<F, passed_to<F, T>>;

// What comes of a function that returns this.
template <class Made>
struct content_of {
  using type = Made;
};
template <class T>
struct content_of<future<T>> {
  using type = T;
};

// The result of a function of another result, or that of the future which the function returns. It
// lets go of that, and of the function, once it has run: a chain of any length ends link by link.
template <class T, class F, class Out>
class chained final : public future_state<Out>, public relay {
 public:
  chained(std::shared_ptr<future_state<T>> from, F function)
      : from_(std::move(from)), function_(std::move(function)) {}

  // Runs it now or when the result is there; kept alive until then.
  static std::shared_ptr<chained> start(const std::shared_ptr<future_state<T>>& from, F function) {
    require_unforked();
    const auto made = std::make_shared<chained>(from, std::move(function));
    made->self_ = made;
    if (!from->then(*made)) callback_threads::all().post(*made);
    return made;
  }

  // What has started to run, or is about to, cannot be withdrawn.
  bool withdraw() noexcept override {
    const std::shared_ptr<withdrawable> first = first_source();
    return first != nullptr && first->withdraw();
  }

  [[nodiscard]] const result_maker* maker() const noexcept override {
    const std::shared_ptr<withdrawable> first = first_source();
    return first == nullptr ? nullptr : first->maker();
  }
  [[nodiscard]] bool is_made_here() const noexcept override {
    const std::shared_ptr<withdrawable> first = first_source();
    return first != nullptr && first->is_made_here();
  }

  [[nodiscard]] std::shared_ptr<withdrawable> source() const noexcept override {
    const auto lock = parking_place::of(this).lock();
    if (followed_) return followed_;
    return from_;
  }

 private:
  void call() noexcept override {
    const auto self = std::move(self_);
    const auto from = take_source();
    try {
      passed_to<F, T> value = take_from(*from);
      if constexpr (std::is_void_v<result_of_passed<F, T>>) {
        std::invoke(*std::move(function_), std::move(value));
        function_.reset();
        this->set_value(nothing{});
      } else if constexpr (std::same_as<result_of_passed<F, T>, future<Out>>) {
        future<Out> made = std::invoke(*std::move(function_), std::move(value));
        function_.reset();
        static_cast<void>(made.state(std::source_location::current()));
        follow(self, std::move(made.state_));
      } else {
        Out made = std::invoke(*std::move(function_), std::move(value));
        function_.reset();
        this->set_value(std::move(made));
      }
    } catch (...) {
      function_.reset();
      this->set_error(std::current_exception());
    }
  }

  // Has the result of another future, once that is there.
  void follow(const std::shared_ptr<chained>& self,
              std::shared_ptr<future_state<Out>> other) noexcept {
    future_state<Out>& result = *other;
    {
      const auto lock = parking_place::of(this).lock();
      followed_ = std::move(other);
    }
    self_ = self;
    quick = true;
    if (!result.then(*this)) run();
  }

  void pass_on() noexcept override {
    const auto self = std::move(self_);
    const auto result = [&] {
      const auto lock = parking_place::of(this).lock();
      return std::move(followed_);
    }();
    try {
      this->set_value(result->take());
    } catch (...) {
      this->set_error(std::current_exception());
    }
  }

  [[nodiscard]] static passed_to<F, T> take_from(future_state<T>& from) {
    if constexpr (takes_outcome<F, T>) {
      try {
        return from.take();
      } catch (...) {
        return std::current_exception();
      }
    } else {
      return from.take();
    }
  }

  // What all the functions before this one are of, or what it follows; null once that is there.
  [[nodiscard]] std::shared_ptr<withdrawable> first_source() const noexcept {
    std::shared_ptr<withdrawable> first = source();
    if (first == nullptr) return nullptr;
    while (auto before = first->source()) first = std::move(before);
    return first;
  }

  [[nodiscard]] std::shared_ptr<future_state<T>> take_source() noexcept {
    const auto lock = parking_place::of(this).lock();
    return std::move(from_);
  }

  std::shared_ptr<future_state<T>> from_;        // under the lock of this one's parking place
  std::shared_ptr<future_state<Out>> followed_;  // likewise
  std::optional<F> function_;
  std::shared_ptr<chained> self_;
};

}  // namespace detail

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

  /// Blocks until the result is there. Throws `topos::error` where nobody would make it: inside of
  /// a model, for a result of its own batch, or of an executor all of whose replicas wait for this
  /// model, or for others that do, already; on the thread that does the CPU's work, in `on_ready`
  /// for one; and in a callback of `then`, where all threads for these wait and no more are to be
  /// had.
  void wait(std::source_location where = std::source_location::current()) const {
    state(where).wait();
  }

  /// Blocks until the result is there or the time is over; says whether it is there.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> time,
                              std::source_location where = std::source_location::current()) const {
    return state(where).wait_for(time);
  }
  /// The same until a time of a clock.
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(
      std::chrono::time_point<Clock, Duration> time,
      std::source_location where = std::source_location::current()) const {
    const auto now = Clock::now();
    return state(where).wait_for(time > now ? time - now : Duration::zero());
  }

  /// Blocks as `wait`, then gives the value or throws what was thrown on the way, with its own
  /// type. Once: afterwards the future is not valid, and a second call throws `topos::error`.
  T get(std::source_location where = std::source_location::current()) {
    state(where).wait();
    return std::exchange(state_, nullptr)->take();
  }

  /// Withdraws the work: `get` will throw `cancelled`. Work that waits is never started; of work
  /// that runs the result is dropped, and whoever shares its batch notices nothing. A request of a
  /// stream that runs is only asked to stop, since it may be reading the stream's items. Says false
  /// there, and where the work has ended already.
  bool cancel(std::source_location where = std::source_location::current()) const {
    return state(where).withdraw();
  }

  /// The future of `f(value)`, called once the value is there, on a thread for callbacks: it may
  /// block, throw (its future then throws the same), or submit further work. Where the value fails,
  /// `f` is not called and the new future fails likewise, unless what it takes is an `outcome<T>`:
  /// then it is called with the failure, also with `cancelled`. (A generic lambda takes the value.)
  /// This one is not valid afterwards.
  ///
  /// Where `f` returns a `future<U>`, this gives a `future<U>`, too, with the result of that: no
  /// thread waits for it, and `cancel` withdraws what is waited for then.
  ///
  /// Functions of results are called one at a time, in the order of these, as long as each returns
  /// soon; where one takes longer, others are called beside it, on further threads. One that waits
  /// for another future's work holds a thread; one that returns that future, or a coroutine that
  /// awaits both, does not.
  ///
  /// An executor's `drain` and destructor wait for its work, not for what follows the results:
  /// `get` of this future does. At the runtime's end functions that can be called have been.
  template <std::invocable<T> F>
  auto then(F f, std::source_location where = std::source_location::current()) && {
    using made = detail::never_void<detail::result_of_passed<F, T>>;
    static_assert(future_value<made>,
                  "topos::future::then: what the function returns must be an object that can be "
                  "moved, or nothing; not a reference");
    using out = typename detail::content_of<made>::type;
    static_cast<void>(state(where));
    return future<out>(
        detail::chained<T, F, out>::start(std::exchange(state_, nullptr), std::move(f)));
  }

  /// Says how it is to be called.
  template <class F>
  void then(F&&, std::source_location = std::source_location::current()) & {
    static_assert(!sizeof(F),
                  "topos::future::then: it takes the result out of the future, which is not valid "
                  "afterwards: call it as std::move(f).then(...)");
  }

  /// What `co_await std::move(f)` waits by: gives what `get` does. The coroutine goes on at once
  /// where the result is there, else on a thread for callbacks. It must not be destroyed while it
  /// waits, since it may be going on there at any moment; to have it go on early, withdraw the work
  /// by a stop token.
  class awaiter final : detail::continuation {
   public:
    explicit awaiter(std::shared_ptr<detail::future_state<T>> state) noexcept
        : state_(std::move(state)) {}
    [[nodiscard]] bool await_ready() const noexcept { return state_->is_ready(); }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiting) noexcept {
      waiting_ = waiting;
      return state_->then(*this);
    }
    T await_resume() { return state_->take(); }

   private:
    void run() noexcept override { waiting_.resume(); }

    std::shared_ptr<detail::future_state<T>> state_;
    std::coroutine_handle<> waiting_;
  };
  awaiter operator co_await() && {
    static_cast<void>(state(std::source_location::current()));
    detail::require_unforked();
    return awaiter(std::exchange(state_, nullptr));
  }

  /// Says how it is to be awaited.
  template <class Never = T>
  awaiter operator co_await() & {
    static_assert(!sizeof(Never),
                  "topos::future: co_await takes the result out of the future, which is not valid "
                  "afterwards: write co_await std::move(f)");
    return awaiter(nullptr);
  }

 private:
  template <class, class, class>
  friend class detail::chained;

  [[nodiscard]] detail::future_state<T>& state(std::source_location where) const {
    if (!state_) {
      throw error("future: it refers to no result; was it moved from, or its result taken before?",
                  where);
    }
    return *state_;
  }

  std::shared_ptr<detail::future_state<T>> state_;
};

namespace detail {

// A result that is there from the beginning.
template <class T>
struct given_state final : future_state<T> {
  explicit given_state(T&& value) { this->store_value(std::move(value)); }
  [[nodiscard]] const result_maker* maker() const noexcept override { return nullptr; }
};

}  // namespace detail

/// The future of a value that is at hand: for a function of `then` that has some results already,
/// from a cache say, and submits the others.
template <future_value T>
[[nodiscard]] future<T> make_ready_future(T value) {
  return future<T>(std::make_shared<detail::given_state<T>>(std::move(value)));
}

}  // namespace topos
