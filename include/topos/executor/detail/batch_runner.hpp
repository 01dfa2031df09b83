// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the batches of one function are run, and their results handed out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/batch_caller.hpp>
#include <topos/executor/detail/batch_scratch.hpp>
#include <topos/executor/detail/failure_kind.hpp>
#include <topos/executor/detail/flight.hpp>
#include <topos/executor/detail/quick_lock.hpp>
#include <topos/executor/detail/request_results.hpp>
#include <topos/executor/detail/slots.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// A queue and the function that its batches are for.
///
/// A batch that throws is run again in halves where that may help: without memory always, else
/// where the function is idempotent, so that with k items at fault among n there are some k log n
/// reruns. What was told to stop is not run again: the items that were to be end as cancelled. A
/// lost replica's batch goes back to the front of the queue, or fails if it was told to stop. Each
/// slot has a scratch of its own, under no lock: only its replica's thread uses it.
template <class In, class Out, class Parameters>
class batch_runner final : public batch_caller<In, Out, Parameters> {
  using base = batch_caller<In, Out, Parameters>;
  using base::batches_;
  using base::begin;
  using base::begin_part;
  using base::call;
  using base::count_batch;
  using base::count_rerun;
  using base::end;
  using base::fulfil;
  using base::fulfil_parts;
  using base::is_halved;
  using base::line_;
  using base::occupy;
  using base::options_;
  using base::requested_;
  using base::requests_;
  using base::running_;
  using base::schedule_;
  using base::statistics_;
  using base::takes_request;
  using base::times_of;
  using base::was_late;
  using base::was_stopped;
  using typename base::entry_ptr;
  using typename base::request_ptr;
  using typename base::time_point;

 public:
  using typename base::cost_function;
  using typename base::function;
  using ran = work_lane::ran;

  /// `f` may be called by several replicas at once; `stops`: it takes a stop token.
  batch_runner(std::shared_ptr<schedule> work, std::size_t replicas, executor_options options,
               std::string name, cost_function cost, bool stops, function f)
      : base(std::move(work), replicas, std::move(options), std::move(name), std::move(cost), stops,
             std::move(f)),
        scratch_(slots::first_of(replicas)) {
    for (scratch& each : scratch_) line_.prepare(each.batch);
  }

  /// Lets go of the function and of what has ended; after the last batch.
  void close() noexcept {
    line_.clear();
    this->forget_function();
  }

  ran run(std::unique_lock<std::mutex>& lock, bool draining, std::size_t slot) noexcept override {
    scratch& with = scratch_[slot];
    const bool whole = takes_request(draining);
    const double cost = whole ? take_request(with, slot) : take_submissions(with, slot);
    schedule_->batch_left();
    lock.unlock();
    while (const entry_ptr e = with.batch.late.pop_front()) e->end_unstarted(was_late());
    with.batch.over.clear();
    std::exception_ptr failure = whole ? nullptr : hold_items(with, slot);
    if (!failure && !with.all().empty() && !with.in_parts()) {
      failure = begin(with, slot, with.all());
      if (!failure && with.made.flight) {
        if (will_tell(*with.made.flight)) {
          lock_quickly(lock);
          return {cost, nullptr, true};
        }
        failure = end(with, slot, with.all().size());
      }
    }
    return {cost, finish(lock, with, slot, std::move(failure))};
  }

  [[nodiscard]] bool has_landed(std::size_t slot) const noexcept override {
    return scratch_[slot].made.flight->has_landed();
  }

  std::exception_ptr land(std::unique_lock<std::mutex>& lock, std::size_t slot) noexcept override {
    scratch& with = scratch_[slot];
    lock.unlock();
    return finish(lock, with, slot, end(with, slot, with.all().size()));
  }

 private:
  using scratch = batch_scratch<In, Out, Parameters>;

  // Whether the schedule will be told of the landing; not where there is nothing to wait for.
  [[nodiscard]] bool will_tell(flight<Out>& of) const noexcept {
    try {
      if (of.has_landed()) return false;
      of.tell([s = schedule_] { s->landed(); });
      return true;
    } catch (...) {  // no memory for it
      return false;
    }
  }

  // Under the lock: what is to run next, and its cost.
  double take_request(scratch& with, std::size_t slot) {
    with.request = requests_.pop_front();
    with.request->at = phase::running;
    with.request->slot = slot;
    const std::size_t count = with.request->items.size();
    requested_ -= count;
    running_ += count;
    occupy(slot);
    if (!with.in_parts()) begin_part(with, slot, count);
    return with.request->cost;
  }
  double take_submissions(scratch& with, std::size_t slot) {
    const time_point now = schedule_->time().now();
    line_.take(with.batch, slot, now);
    statistics_.expired += with.batch.late.size();
    const std::size_t count = with.batch.entries.size();
    double cost = 0;
    for (const entry_ptr& e : with.batch.entries) {
      cost += static_cast<double>(e->cost);
      times_of(slot).queue.add(now - e->enqueued);
    }
    if (count != 0) {
      occupy(slot);
      count_batch(slot, count);
    }
    with.taken = count + with.batch.late.size();
    running_ += with.taken;
    batches_[slot].wanted = count;
    return cost;
  }

  // Moves the items of submissions together. One that cannot be moved fails by itself; where there
  // is no memory for them, says so.
  [[nodiscard]] std::exception_ptr hold_items(scratch& with, std::size_t slot) noexcept {
    auto& entries = with.batch.entries;
    try {
      with.items.reserve(entries.size());
    } catch (...) {
      return std::current_exception();
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      try {
        with.items.push_back(std::move(*entries[i]->item));
        entries[i]->item.reset();
      } catch (...) {
        entries[i]->item.reset();
        hand_out(with, slot, i, i + 1, std::current_exception());
      }
    }
    if (with.items.size() < entries.size()) std::erase(entries, nullptr);
    return nullptr;
  }

  // Hands out what came of the first call, or runs parts again where it failed. Says why this
  // replica can run no more, if so. Returns with the lock held.
  [[nodiscard]] std::exception_ptr finish(std::unique_lock<std::mutex>& lock, scratch& with,
                                          std::size_t slot, std::exception_ptr failure) noexcept {
    return with.request ? finish_request(lock, with, slot, std::move(failure))
                        : finish_submissions(lock, with, slot, std::move(failure));
  }

  [[nodiscard]] std::exception_ptr finish_request(std::unique_lock<std::mutex>& lock, scratch& with,
                                                  std::size_t slot,
                                                  std::exception_ptr failure) noexcept {
    request_ptr& what = with.request;
    const std::size_t count = what->items.size();
    std::vector<Out> values;
    std::size_t failed = count;
    std::size_t stopped = 0;
    bool is_lost = false;
    try {
      request_results<Out> made;  // ends here: exceptions end with those who look at them
      failure = with.in_parts() ? fulfil_parts(with, slot, made)
                                : fulfil(with, slot, what->items, made, std::move(failure));
      is_lost = failure != nullptr;
      if (!is_lost) {
        failed = made.failed();
        stopped = made.cancelled();
        failure = made.failure();
        what->each = std::move(made).outcomes();
        values = std::move(made).values();
      }
    } catch (...) {  // no memory to put results together
      failure = std::current_exception();
    }
    with.made = {};
    lock_quickly(lock);
    batches_[slot].stop = std::stop_source(std::nostopstate);
    if (is_lost && !batches_[slot].asked_to_stop && put_back(what)) {
      what->at = phase::queued;
      running_ -= count;
      requested_ += count;
      what.reset();
      schedule_->wake(schedule_->work_came());
      return failure;
    }
    what->at = phase::ended;
    statistics_.done += count - failed;
    statistics_.failed += failed - stopped;
    statistics_.cancelled += stopped;
    for (std::size_t i = 0; i < count; ++i)
      times_of(slot).total.add(schedule_->time().now() - what->enqueued);
    lock.unlock();
    std::exception_ptr lost = is_lost ? failure : nullptr;
    // Freed before the results are handed out: whoever sees them may count on it.
    std::vector<In>().swap(what->storage);
    what->parts.clear();
    if (failure)
      what->set_error(std::move(failure));
    else
      what->set_value(std::move(values));
    what.reset();
    lock_quickly(lock);
    running_ -= count;
    return lost;
  }

  // A request to the front of the queue; says whether there is memory for it.
  [[nodiscard]] bool put_back(const request_ptr& what) noexcept {
    try {
      requests_.push_front(what);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  [[nodiscard]] std::exception_ptr finish_submissions(std::unique_lock<std::mutex>& lock,
                                                      scratch& with, std::size_t slot,
                                                      std::exception_ptr failure) noexcept {
    const std::size_t count = with.batch.entries.size();
    std::exception_ptr lost;
    if (with.items.size() < count)  // they could not be moved
      deliver(with, slot, 0, count, std::move(failure));
    else if (count != 0)
      lost = settle(with, slot, 0, count, std::move(failure));
    if (lost) {
      restore_items(with, slot);
      give_back(with, slot, lost);
    }
    with.clear();
    lock_quickly(lock);
    running_ -= with.taken;
    batches_[slot].stop = std::stop_source(std::nostopstate);
    return lost;
  }

  // Delivers what came of calling with a part of the batch, or calls with parts of that. Returns
  // what the replica was lost with.
  [[nodiscard]] std::exception_ptr settle(scratch& with, std::size_t slot, std::size_t first,
                                          std::size_t last, std::exception_ptr failure) {
    const failure_kind kind = failure ? kind_of(failure) : failure_kind::ordinary;
    if (kind == failure_kind::lost) return failure;
    if (!failure || !is_halved(kind, last - first)) {
      deliver(with, slot, first, last, std::move(failure));
      return nullptr;
    }
    if (!is_wanted(with, slot, first, last)) {
      failure = nullptr;  // ends here: the items have seen nothing of it
      deliver(with, slot, first, last, was_stopped(), &statistics::cancelled);
      return nullptr;
    }
    const auto rerun = [&](std::size_t from, std::size_t to) {
      count_rerun();
      return settle(with, slot, from, to,
                    call(with, slot, std::span<const In>(with.items).subspan(from, to - from)));
    };
    const std::size_t middle = first + (last - first) / 2;
    if (auto gone = rerun(first, middle)) return gone;
    return rerun(middle, last);
  }

  // Whether somebody still waits for what comes of a part of the batch, which was not told to stop.
  [[nodiscard]] bool is_wanted(const scratch& with, std::size_t slot, std::size_t first,
                               std::size_t last) const {
    const auto lock = schedule_->lock();
    if (batches_[slot].is_stopped()) return false;
    const auto part = std::span(with.batch.entries).subspan(first, last - first);
    return std::any_of(part.begin(), part.end(),
                       [](const entry_ptr& e) { return e->at != phase::ended; });
  }

  // Hands results out, or the one exception, to those that have not ended otherwise.
  void deliver(scratch& with, std::size_t slot, std::size_t first, std::size_t last,
               std::exception_ptr failure,
               std::uint64_t statistics::*as = &statistics::failed) noexcept {
    with.give_up(first, last);
    hand_out(with, slot, first, last, std::move(failure), as);
  }

  // As `deliver`, whatever became of the items.
  void hand_out(scratch& with, std::size_t slot, std::size_t first, std::size_t last,
                std::exception_ptr failure,
                std::uint64_t statistics::*as = &statistics::failed) noexcept {
    {
      auto lock = schedule_->lock();
      const time_point now = schedule_->time().now();
      for (std::size_t i = first; i < last; ++i) {
        entry_ptr& e = with.batch.entries[i];
        if (e->at == phase::ended) {
          with.batch.over.push_back(std::move(e));
          continue;
        }
        e->at = phase::ended;
        --batches_[slot].wanted;
        const bool failed =
            failure || (with.made.each && !with.made.outcomes[i - first].has_value());
        ++(failed ? statistics_.*as : statistics_.done);
        times_of(slot).total.add(now - e->enqueued);
      }
    }
    with.tell(first, last, std::move(failure));
  }

  // Of what a lost replica has not settled. An item that cannot be moved back fails by itself.
  void restore_items(scratch& with, std::size_t slot) noexcept {
    for (std::size_t i = 0; i < with.batch.entries.size(); ++i) {
      if (!with.batch.entries[i]) continue;
      try {
        with.batch.entries[i]->item.emplace(std::move(with.items[i]));
      } catch (...) {
        hand_out(with, slot, i, i + 1, std::current_exception());
      }
    }
  }

  // Puts what a lost replica has not settled back to the front, or fails it, if asked to stop or
  // without memory.
  void give_back(scratch& with, std::size_t slot, const std::exception_ptr& failure) noexcept {
    auto& entries = with.batch.entries;
    {
      const auto lock = schedule_->lock();
      try {
        for (std::size_t i = entries.size(); i-- > 0 && !batches_[slot].asked_to_stop;) {
          if (!entries[i] || entries[i]->at == phase::ended) continue;
          line_.push_front(entries[i]);
          entries[i].reset();
        }
      } catch (const std::bad_alloc&) {
      }
      schedule_->wake(schedule_->work_came());
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i]) continue;  // else it has ended meanwhile, or is to
      entries[i]->item.reset();
      hand_out(with, slot, i, i + 1, failure);
    }
  }

  std::vector<scratch> scratch_;
};

}  // namespace topos::detail
