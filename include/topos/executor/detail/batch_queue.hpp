// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What waits for one function on batches, and how it is cut into batches.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/future_state.hpp>
#include <topos/executor/detail/ring.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/statistics.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// One item that shares its batch with whoever else comes.
template <class In, class Out>
struct submission final : future_state<Out> {
  explicit submission(In&& value) : item(std::move(value)) {}

  In item;
  time_source::time_point enqueued;
};

/// Items that run as one batch of their own.
template <class In, class Out>
struct request final : future_state<std::vector<Out>> {
  std::vector<In> storage;    // where the items are ours
  std::span<const In> items;  // in the storage, or in what the user keeps until they are done
  time_source::time_point enqueued;
};

/// The queue of a function `std::span<const In>` -> `std::vector<Out>`.
///
/// A batch of submissions closes when it holds `max_batch_size` items, or when its oldest has
/// waited for `max_delay`; until a replica is free to start it, it grows.
template <class In, class Out>
class batch_queue final : public work_lane {
 public:
  using function = std::function<std::vector<Out>(std::size_t replica, std::span<const In> batch)>;
  using request_ptr = std::shared_ptr<request<In, Out>>;

  /// `name` is what messages call the function, which may be called by several replicas at once.
  batch_queue(std::shared_ptr<schedule> work, std::size_t replicas, const executor_options& options,
              std::string name, function f)
      : schedule_(std::move(work)),
        name_(std::move(name)),
        function_(std::move(f)),
        max_batch_size_(options.max_batch_size),
        max_delay_(options.max_delay),
        capacity_(options.queue_capacity),
        scratch_(replicas) {
    schedule_->add(*this);
  }

  /// Blocks while the queue is full.
  future<Out> submit(In&& item) {
    auto entry = std::make_shared<submission<In, Out>>(std::move(item));
    {
      auto lock = admit(1);
      entry->enqueued = schedule_->time().now();
      submissions_.push_back(entry);
      count_in(1);
    }
    schedule_->work_came();
    return future<Out>(std::move(entry));
  }

  /// Blocks while the queue is full.
  void enqueue(const request_ptr& entry) {
    {
      auto lock = admit(entry->items.size());
      entry->enqueued = schedule_->time().now();
      requests_.push_back(entry);
      count_in(entry->items.size());
    }
    schedule_->work_came();
  }

  /// Ends a request that has not started with `cancelled`; says whether it was so.
  bool cancel(const request_ptr& entry) {
    {
      auto lock = schedule_->lock();
      if (!requests_.remove(entry)) return false;
      waiting_ -= entry->items.size();
      statistics_.cancelled += entry->items.size();
    }
    schedule_->room_came();
    entry->set_error(std::make_exception_ptr(
        cancelled(concat(name_, ": the request was cancelled before it started"))));
    return true;
  }

  [[nodiscard]] statistics stats() const {
    auto lock = schedule_->lock();
    return statistics_;
  }

  [[nodiscard]] std::size_t replicas() const noexcept { return scratch_.size(); }
  [[nodiscard]] const time_source& time() const noexcept { return schedule_->time(); }

  [[nodiscard]] std::optional<time_point> due(bool draining) const override {
    if (takes_request(draining)) return requests_.front()->enqueued;
    if (submissions_.empty()) return std::nullopt;
    return submissions_due(draining);
  }

  void run(std::unique_lock<std::mutex>& lock, bool draining,
           std::size_t replica) noexcept override {
    if (takes_request(draining)) {
      run_request(lock, replica);
    } else {
      run_submissions(lock, replica);
    }
  }

 private:
  using results = std::vector<Out>;

  // Kept from batch to batch for its memory.
  struct scratch {
    std::vector<std::shared_ptr<submission<In, Out>>> entries;
    std::vector<In> items;
  };

  [[nodiscard]] std::unique_lock<std::mutex> admit(std::size_t items) {
    auto lock = schedule_->lock();
    schedule_->admit(lock, [&] {
      return waiting_ == 0 || (items <= capacity_ && waiting_ <= capacity_ - items);
    });
    return lock;
  }

  void count_in(std::size_t items) noexcept {
    waiting_ += items;
    statistics_.submitted += items;
  }

  [[nodiscard]] time_point submissions_due(bool draining) const {
    const time_point oldest = submissions_.front()->enqueued;
    if (draining || submissions_.size() >= max_batch_size_) return oldest;
    // A delay of "for ever" must not wrap around.
    return max_delay_ < time_point::max() - oldest ? oldest + max_delay_ : time_point::max();
  }

  [[nodiscard]] bool takes_request(bool draining) const {
    if (requests_.empty()) return false;
    return submissions_.empty() || requests_.front()->enqueued <= submissions_due(draining);
  }

  void run_request(std::unique_lock<std::mutex>& lock, std::size_t replica) {
    request_ptr entry = requests_.pop_front();
    const std::size_t count = entry->items.size();
    waiting_ -= count;
    lock.unlock();
    schedule_->room_came();

    std::exception_ptr failure;
    results made = call(replica, entry->items, failure);
    // Freed before the results are handed out: whoever sees them may count on it.
    std::vector<In>().swap(entry->storage);
    count_out(lock, count, failure != nullptr);
    if (failure) {
      entry->set_error(std::move(failure));
    } else {
      entry->set_value(std::move(made));
    }
    entry.reset();
    lock.lock();
  }

  void run_submissions(std::unique_lock<std::mutex>& lock, std::size_t replica) {
    auto& [entries, items] = scratch_[replica];
    const std::size_t count = std::min(submissions_.size(), max_batch_size_);
    entries.reserve(count);
    for (std::size_t i = 0; i < count; ++i) entries.push_back(submissions_.pop_front());
    waiting_ -= count;
    lock.unlock();
    schedule_->room_came();

    std::exception_ptr failure;
    results made;
    try {
      items.reserve(count);
      for (auto& entry : entries) items.push_back(std::move(entry->item));
      made = call(replica, items, failure);
    } catch (...) {  // an item that cannot be moved, or no memory for it
      failure = std::current_exception();
    }
    items.clear();
    const bool failed = failure != nullptr;
    count_out(lock, count, failed);
    for (std::size_t i = 0; i < count; ++i) {
      if (failed) {
        // The last one gets this thread's own share: the exception ends with those who look at it.
        entries[i]->set_error(i + 1 < count ? failure : std::move(failure));
      } else {
        entries[i]->set_value(std::move(made[i]));
      }
    }
    entries.clear();
    lock.lock();
  }

  [[nodiscard]] results call(std::size_t replica, std::span<const In> items,
                             std::exception_ptr& failure) {
    try {
      results made = function_(replica, items);
      if (made.size() == items.size()) return made;
      throw error(concat(name_, ": ", made.size(), " results came back for a batch of ",
                         items.size(), " items; it must return one for each, in order"));
    } catch (...) {
      failure = std::current_exception();
    }
    return {};
  }

  void count_out(std::unique_lock<std::mutex>& lock, std::size_t items, bool failed) {
    lock.lock();
    (failed ? statistics_.failed : statistics_.done) += items;
    ++statistics_.batch_sizes[items];
    lock.unlock();
  }

  const std::shared_ptr<schedule> schedule_;
  const std::string name_;
  const function function_;
  const std::size_t max_batch_size_;
  const std::chrono::nanoseconds max_delay_;
  const std::size_t capacity_;

  // Under the schedule's lock, but for the scratch: each replica has its own.
  ring<std::shared_ptr<submission<In, Out>>> submissions_;
  ring<request_ptr> requests_;
  std::size_t waiting_ = 0;
  statistics statistics_;
  std::vector<scratch> scratch_;
};

}  // namespace topos::detail
