// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What waits in the queue of a function on batches.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <stop_token>
#include <topos/executor/detail/future_state.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/outcome.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace topos::detail {

template <class In, class Out, class Parameters>
class batch_queue;

/// Bytes of an item: its own, and those of the elements that its `data()` shows.
template <class T>
[[nodiscard]] std::size_t bytes_of(const T& item) {
  if constexpr (std::ranges::contiguous_range<const T> && std::ranges::sized_range<const T>)
    return sizeof(T) + std::ranges::size(item) * sizeof(*std::ranges::data(item));
  else if constexpr (requires {
                       typename T::value_type;
                       item.memory();
                       static_cast<std::size_t>(item.size());
                     })
    return sizeof(T) + static_cast<std::size_t>(item.size()) * sizeof(typename T::value_type);
  else
    return sizeof(T);
}

template <class... T>
[[nodiscard]] std::size_t bytes_of(const std::tuple<T...>& item) {
  return std::apply([](const auto&... part) { return (std::size_t{0} + ... + bytes_of(part)); },
                    item);
}

/// How far an item has come: each step under the schedule's lock, so that it ends once, whoever
/// ends it.
enum class phase : std::uint8_t { queued, running, ended };

/// One item that shares its batch with whoever else comes.
template <class In, class Out, class Parameters>
struct submission final : future_state<Out>,
                          timed,
                          std::enable_shared_from_this<submission<In, Out, Parameters>> {
  using queue = batch_queue<In, Out, Parameters>;
  using time_point = time_source::time_point;

  submission(In&& value, Parameters&& further, queue& of)
      : item(std::move(value)), parameters(std::move(further)), home(of) {}

  bool withdraw() noexcept override { return home.withdraw(*this); }
  [[nodiscard]] const result_maker* maker() const noexcept override { return home.maker(); }
  [[nodiscard]] bool is_made_here() const noexcept override { return home.is_made_here(*this); }
  void expire() noexcept override { home.expire(*this); }

  /// Ends one that has not run, outside of the schedule's lock, since its item ends with it.
  void end_unstarted(std::exception_ptr why) noexcept {
    item.reset();
    this->set_error(std::move(why));
  }

  // Weak: whoever drops the last reference, perhaps under the schedule's lock, must not wait for a
  // callback that waits for that lock.
  struct on_stop {
    explicit on_stop(submission* of) noexcept : what(of->weak_from_this()) {}
    void operator()() const noexcept {
      if (const auto held = what.lock()) held->withdraw();
    }

    std::weak_ptr<submission> what;
  };

  std::optional<In> item;  // until its batch starts, or it ends
  [[no_unique_address]] Parameters parameters;
  queue& home;  // of whose recycler this is
  time_point enqueued{};
  time_point deadline = time_point::max();
  time_point start_by = time_point::max();  // so as to end before
  std::size_t priority = 0;
  std::size_t cost = 1;
  std::size_t bytes = 0;
  std::size_t slot = 0;      // where it runs
  std::size_t position = 0;  // in its level, while a batch is put together
  phase at = phase::queued;
  std::shared_ptr<submission> after;  // in a list of such that are let go
  std::optional<std::stop_callback<on_stop>> stop;
};

/// Counts what has ended, for who waits for the next of several.
class end_signal {
 public:
  void notify() noexcept {
    const std::lock_guard guard(mutex_);
    ++count_;
    changed_.notify_all();
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard guard(mutex_);
    return count_;
  }
  /// Blocks until more have ended than `seen`.
  void wait_beyond(std::size_t seen) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ > seen; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::size_t count_ = 0;
};

template <class In, class Out>
struct request;

/// Where requests are queued, whatever else is.
template <class In, class Out>
class request_queue {
 public:
  using request_ptr = std::shared_ptr<request<In, Out>>;

  /// Blocks while the queue is full.
  virtual void enqueue(const request_ptr& made) = 0;
  /// Ends a request that has not started with `cancelled`, and asks one that runs to stop; says
  /// whether it ended it.
  virtual bool cancel(const request_ptr& what) noexcept = 0;
  [[nodiscard]] virtual std::size_t replicas() const noexcept = 0;
  /// Who makes the results.
  [[nodiscard]] virtual const result_maker* maker() const noexcept = 0;
  /// Whether this thread runs a request.
  [[nodiscard]] virtual bool is_made_here(const request<In, Out>& what) const noexcept = 0;

 protected:
  ~request_queue() = default;
};

/// Items of a request that follow one another: a batch, or what is refused one.
struct request_part {
  std::size_t count = 0;
  std::exception_ptr refused;
};

/// Items that run as one batch of their own, or as several, one after the other.
template <class In, class Out>
struct request final : future_state<std::vector<Out>>,
                       continuation,
                       std::enable_shared_from_this<request<In, Out>> {
  explicit request(std::shared_ptr<request_queue<In, Out>> of) : home(std::move(of)) {
    quick = true;
  }
  void run() noexcept override { ended->notify(); }

  // One that runs goes on to its end: it may be reading what the user keeps until then.
  bool withdraw() noexcept override { return home->cancel(this->shared_from_this()); }
  [[nodiscard]] const result_maker* maker() const noexcept override { return home->maker(); }
  [[nodiscard]] bool is_made_here() const noexcept override { return home->is_made_here(*this); }

  /// Ends one that has not run, outside of the schedule's lock, since its items end with it.
  void end_unstarted(std::exception_ptr why) noexcept {
    std::vector<In>().swap(storage);
    parts.clear();
    this->set_error(std::move(why));
  }

  const std::shared_ptr<request_queue<In, Out>> home;

  std::vector<In> storage;          // where the items are ours
  std::span<const In> items;        // in the storage, or in what the user keeps until they are done
  std::vector<request_part> parts;  // where it is not one batch
  double cost = 0;                  // of all items
  std::vector<outcome<Out>> each;   // what came of each item, where some have failed alone
  std::shared_ptr<const void> parameters;  // of the queue's type for them
  time_source::time_point enqueued;
  std::shared_ptr<end_signal> ended;  // where somebody waits for the first of several
  std::size_t slot = 0;               // where it runs
  phase at = phase::queued;
};

}  // namespace topos::detail
