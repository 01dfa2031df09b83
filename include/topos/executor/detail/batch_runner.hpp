// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the batches of one function are run, and their results handed out.

#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/batch_queue.hpp>
#include <topos/executor/detail/failure_kind.hpp>
#include <topos/executor/detail/quick_lock.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

/// A queue and the function that its batches are for.
///
/// A batch that throws is run again in halves where that may help: without memory always, else
/// where the function is idempotent, so that with k items at fault among n there are some k log n
/// reruns. A lost replica's batch goes back to the front of the queue. Each replica has a scratch
/// of its own, which is under no lock.
template <class In, class Out, class Parameters>
class batch_runner final : public batch_queue<In, Out, Parameters> {
  using base = batch_queue<In, Out, Parameters>;
  using base::batches_;
  using base::line_;
  using base::name_;
  using base::options_;
  using base::requested_;
  using base::requests_;
  using base::running_;
  using base::schedule_;
  using base::statistics_;
  using base::takes_request;
  using base::was_late;
  using typename base::entry_ptr;
  using typename base::request_ptr;
  using typename base::time_point;

 public:
  using results = batch_results<Out>;
  using function = std::function<void(std::size_t replica, std::span<const In> batch,
                                      const Parameters&, const std::stop_token&, results&)>;
  using typename base::cost_function;
  using ran = work_lane::ran;

  /// `f` may be called by several replicas at once; `stops`: it takes a stop token.
  batch_runner(std::shared_ptr<schedule> work, std::size_t replicas, executor_options options,
               std::string name, cost_function cost, bool stops, function f)
      : base(std::move(work), replicas, std::move(options), std::move(name), std::move(cost)),
        stops_(stops),
        function_(std::move(f)),
        scratch_(replicas) {}

  /// Lets go of the function and of what has ended; after the last batch.
  void close() noexcept {
    line_.clear();
    function_ = nullptr;
  }

  ran run(std::unique_lock<std::mutex>& lock, bool draining,
          std::size_t replica) noexcept override {
    return takes_request(draining) ? run_request(lock, replica) : run_submissions(lock, replica);
  }

 private:
  // Kept from batch to batch for its memory.
  struct scratch {
    typename waiting_line<In, Out, Parameters>::selection batch;
    std::vector<In> items;
    results made;
  };

  ran run_request(std::unique_lock<std::mutex>& lock, std::size_t replica) noexcept {
    scratch& with = scratch_[replica];
    request_ptr what = requests_.pop_front();
    const std::size_t count = what->items.size();
    requested_ -= count;
    running_ += count;
    const time_point started = begin_batch(replica, count);
    for (std::size_t i = 0; i < count; ++i) statistics_.queue.add(started - what->enqueued);
    schedule_->batch_left(*this);
    lock.unlock();

    std::vector<Out> made;
    std::exception_ptr failure = fulfil(with, replica, what->items, made);
    const bool is_lost = failure && kind_of(failure) == failure_kind::lost;
    // Freed before the results are handed out: whoever sees them may count on it.
    if (!is_lost) std::vector<In>().swap(what->storage);
    relock_quickly(lock);
    running_ -= count;
    if (is_lost) {
      requested_ += count;
      requests_.push_front(std::move(what));
      return {0, failure};
    }
    (failure ? statistics_.failed : statistics_.done) += count;
    for (std::size_t i = 0; i < count; ++i)
      statistics_.total.add(schedule_->time().now() - what->enqueued);
    lock.unlock();
    if (failure) {
      what->set_error(std::move(failure));
    } else {
      what->set_value(std::move(made));
    }
    what.reset();
    relock_quickly(lock);
    return {static_cast<double>(count)};
  }

  // A request's results, all of them or the first exception; without memory for them all, half by
  // half.
  [[nodiscard]] std::exception_ptr fulfil(scratch& with, std::size_t replica,
                                          std::span<const In> items, std::vector<Out>& made) {
    std::exception_ptr failure = call(with, replica, items, Parameters{}, {});
    if (!failure) {
      if (with.made.each) {
        for (outcome<Out>& each : with.made.outcomes) {
          if (!each) return each.failure();
          made.push_back(std::move(each).value());
        }
      } else if (made.empty()) {
        made = std::move(with.made.values);
      } else {
        std::move(with.made.values.begin(), with.made.values.end(), std::back_inserter(made));
      }
      with.made = {};
      return nullptr;
    }
    if (items.size() < 2 || kind_of(failure) != failure_kind::no_memory) return failure;
    const std::size_t half = items.size() / 2;
    count_rerun();
    failure = fulfil(with, replica, items.first(half), made);
    if (failure) return failure;
    count_rerun();
    return fulfil(with, replica, items.subspan(half), made);
  }

  ran run_submissions(std::unique_lock<std::mutex>& lock, std::size_t replica) noexcept {
    scratch& with = scratch_[replica];
    const time_point now = schedule_->time().now();
    line_.take(with.batch, replica, now);
    statistics_.expired += with.batch.late.size();
    const std::size_t count = with.batch.entries.size();
    double cost = 0;
    for (const entry_ptr& e : with.batch.entries) {
      cost += static_cast<double>(e->cost);
      statistics_.queue.add(now - e->enqueued);
    }
    if (count != 0) begin_batch(replica, count);
    running_ += count;
    batches_[replica].wanted = count;
    if (stops_) batches_[replica].stop = std::stop_source();
    schedule_->batch_left(*this);
    lock.unlock();

    for (const entry_ptr& e : with.batch.late) e->set_error(was_late());
    with.batch.late.clear();
    std::exception_ptr failure;
    std::size_t held = 0;  // whose items are in the batch
    if (count != 0) {
      try {
        with.items.reserve(count);
        for (; held < count; ++held) {
          with.items.push_back(std::move(*with.batch.entries[held]->item));
          with.batch.entries[held]->item.reset();
        }
      } catch (...) {  // an item that cannot be moved, or no memory for it
        failure = std::current_exception();
      }
      if (failure) {
        deliver(with, replica, 0, count, std::exchange(failure, nullptr));
      } else {
        failure = settle(with, replica, 0, count);
      }
    }
    relock_quickly(lock);
    if (failure) give_back(with);
    running_ -= count;
    batches_[replica].stop = std::stop_source(std::nostopstate);
    lock.unlock();
    with.items.clear();
    with.batch.entries.clear();
    relock_quickly(lock);
    return {cost, failure};
  }

  // Runs a part of the batch and delivers what comes of it. Returns what the replica was lost with.
  [[nodiscard]] std::exception_ptr settle(scratch& with, std::size_t replica, std::size_t first,
                                          std::size_t last) {
    const std::size_t count = last - first;
    std::exception_ptr failure =
        call(with, replica, std::span<const In>(with.items).subspan(first, count),
             with.batch.entries[first]->parameters, batches_[replica].stop.get_token());
    const failure_kind kind = failure ? kind_of(failure) : failure_kind::ordinary;
    if (kind == failure_kind::lost) return failure;
    const bool again = failure && count > 1 &&
                       (kind == failure_kind::no_memory ||
                        (kind == failure_kind::ordinary && options_.idempotent));
    if (!again) {
      deliver(with, replica, first, last, std::move(failure));
      return nullptr;
    }
    const std::size_t middle = first + count / 2;
    count_rerun();
    if (auto gone = settle(with, replica, first, middle)) return gone;
    count_rerun();
    return settle(with, replica, middle, last);
  }

  // Hands results out, or the one exception, to those that have not ended otherwise.
  void deliver(scratch& with, std::size_t replica, std::size_t first, std::size_t last,
               std::exception_ptr failure) noexcept {
    give_up(with.items, first, last);
    {
      auto lock = schedule_->lock();
      const time_point now = schedule_->time().now();
      for (std::size_t i = first; i < last; ++i) {
        entry_ptr& e = with.batch.entries[i];
        if (e->at == phase::ended) {
          e.reset();
          continue;
        }
        e->at = phase::ended;
        --batches_[replica].wanted;
        const bool failed =
            failure || (with.made.each && !with.made.outcomes[i - first].has_value());
        ++(failed ? statistics_.failed : statistics_.done);
        statistics_.total.add(now - e->enqueued);
      }
    }
    // The last one gets this thread's own share: the exception ends with those who look at it.
    std::size_t last_one = last;
    while (last_one > first && !with.batch.entries[last_one - 1]) --last_one;
    for (std::size_t i = first; i < last_one; ++i) {
      entry_ptr& e = with.batch.entries[i];
      if (!e) continue;
      if (failure) {
        e->set_error(i + 1 < last_one ? failure : std::move(failure));
      } else if (with.made.each) {
        outcome<Out>& each = with.made.outcomes[i - first];
        if (each)
          e->set_value(std::move(each).value());
        else
          e->set_error(each.failure());
      } else {
        e->set_value(std::move(with.made.values[i - first]));
      }
      e.reset();
    }
  }

  // Ends items before their results are handed out: whoever sees these may count on it.
  static void give_up(std::vector<In>& items, std::size_t first, std::size_t last) noexcept {
    if (last - first == items.size()) return items.clear();
    if constexpr (std::is_nothrow_move_constructible_v<In>) {
      for (; first < last && first < items.size(); ++first)
        static_cast<void>(In(std::move(items[first])));
    }
  }

  // Puts what a lost replica has not settled back to the front.
  void give_back(scratch& with) noexcept {
    for (std::size_t i = with.batch.entries.size(); i-- > 0;) {
      entry_ptr& e = with.batch.entries[i];
      if (!e || e->at == phase::ended) continue;
      e->item.emplace(std::move(with.items[i]));
      line_.push_front(std::move(e));
    }
  }

  [[nodiscard]] std::exception_ptr call(scratch& with, std::size_t replica,
                                        std::span<const In> items, const Parameters& parameters,
                                        const std::stop_token& stop) noexcept {
    const time_point started = schedule_->time().now();
    std::exception_ptr failure;
    try {
      function_(replica, items, parameters, stop, with.made);
      if (with.made.size() != items.size()) {
        throw miscounted(concat(name_, ": ", with.made.size(), " results came back for a batch of ",
                                items.size(), " items; it must return one for each, in order"));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const auto lock = schedule_->lock();
    statistics_.compute.add(schedule_->time().now() - started);
    return failure;
  }

  time_point begin_batch(std::size_t replica, std::size_t count) {
    ++statistics_.batch_sizes[count];
    ++statistics_.replicas[replica].batches;
    statistics_.replicas[replica].items += count;
    return schedule_->time().now();
  }

  void count_rerun() {
    const auto lock = schedule_->lock();
    ++statistics_.reruns;
  }

  const bool stops_;  // batches have a stop token
  function function_;
  std::vector<scratch> scratch_;
};

}  // namespace topos::detail
