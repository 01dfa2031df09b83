// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A queue's function, and calling it with batches, and with parts of those that failed.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/batch_queue.hpp>
#include <topos/executor/detail/batch_scratch.hpp>
#include <topos/executor/detail/failure_kind.hpp>
#include <topos/executor/detail/flight.hpp>
#include <topos/executor/detail/request_results.hpp>
#include <topos/executor/detail/slots.hpp>
#include <topos/executor/errors.hpp>
#include <topos/executor/statistics.hpp>
#include <utility>

namespace topos::detail {

/// A queue and the function that its batches are for: see `batch_runner` for when it is called.
template <class In, class Out, class Parameters>
class batch_caller : public batch_queue<In, Out, Parameters> {
  using base = batch_queue<In, Out, Parameters>;
  using base::name_;

 public:
  using results = batch_results<Out>;
  using function = std::function<void(std::size_t replica, std::span<const In> batch,
                                      const Parameters&, const std::stop_token&, results&)>;

 protected:
  using base::batches_;
  using base::options_;
  using base::pace_;
  using base::schedule_;
  using base::statistics_;
  using typename base::time_point;
  using scratch = batch_scratch<In, Out, Parameters>;

  batch_caller(std::shared_ptr<schedule> work, std::size_t replicas, executor_options options,
               std::string name, typename base::cost_function cost, bool stops, function f)
      : base(std::move(work), replicas, std::move(options), std::move(name), std::move(cost)),
        stops_(stops),
        function_(std::move(f)) {}
  ~batch_caller() = default;

  void forget_function() noexcept { function_ = nullptr; }

  /// A slot begins with something, under the lock. Without memory it cannot be asked to stop.
  void occupy(std::size_t slot) noexcept {
    batches_[slot].asked_to_stop = false;
    try {
      if (stops_) batches_[slot].stop = std::stop_source();
    } catch (const std::bad_alloc&) {
    }
  }
  /// Where a slot's times are counted, under the lock.
  [[nodiscard]] replica_statistics& times_of(std::size_t slot) noexcept {
    return statistics_.replicas[slots::replica_of(slot)];
  }
  /// A batch begins, under the lock. Without memory it is in no histogram.
  void count_batch(std::size_t slot, std::size_t items) noexcept {
    try {
      ++statistics_.batch_sizes[items];
    } catch (const std::bad_alloc&) {
    }
    ++times_of(slot).batches;
    times_of(slot).items += items;
  }
  /// Under the lock: a batch of so many of a request's items begins.
  void begin_part(const scratch& with, std::size_t slot, std::size_t count) noexcept {
    count_batch(slot, count);
    const auto waited = schedule_->time().now() - with.request->enqueued;
    for (std::size_t i = 0; i < count; ++i) times_of(slot).queue.add(waited);
  }
  void count_call(std::size_t slot, time_point started) noexcept {
    const auto lock = schedule_->lock();
    const auto took = schedule_->time().now() - started;
    times_of(slot).compute.add(took);
    pace_.add(took);
  }
  void count_rerun() noexcept {
    const auto lock = schedule_->lock();
    ++statistics_.reruns;
  }

  /// Calls the function, and waits for what it leaves in flight. Says what it failed with.
  [[nodiscard]] std::exception_ptr call(scratch& with, std::size_t slot,
                                        std::span<const In> items) noexcept {
    std::exception_ptr failure = begin(with, slot, items);
    return failure || !with.made.flight ? failure : end(with, slot, items.size());
  }

  /// Calls the function, which may leave its results in flight.
  [[nodiscard]] std::exception_ptr begin(scratch& with, std::size_t slot,
                                         std::span<const In> items) noexcept {
    const Parameters& parameters =
        with.request
            ? *static_cast<const Parameters*>(with.request->parameters.get())
            : with.batch.entries[static_cast<std::size_t>(items.data() - with.items.data())]
                  ->parameters;
    with.started = schedule_->time().now();
    try {
      function_(slots::replica_of(slot), items, parameters, batches_[slot].stop.get_token(),
                with.made);
    } catch (...) {
      count_call(slot, with.started);
      return std::current_exception();
    }
    return with.made.flight ? nullptr : end(with, slot, items.size());
  }

  /// Waits for results in flight, and counts them.
  [[nodiscard]] std::exception_ptr end(scratch& with, std::size_t slot,
                                       std::size_t count) noexcept {
    std::exception_ptr failure;
    try {
      if (const auto flight = std::move(with.made.flight))
        with.made.each = flight->land(with.made.values, with.made.outcomes);
      if (with.made.size() != count) {
        throw miscounted(concat(name_, ": ", with.made.size(), " results came back for a batch of ",
                                count, " items; it must return one for each, in order"));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    count_call(slot, with.started);
    return failure;
  }

  /// Whether halves of a batch of so many may fare better than it did.
  [[nodiscard]] bool is_halved(failure_kind kind, std::size_t count) const noexcept {
    return count > 1 && (kind == failure_kind::no_memory ||
                         (kind == failure_kind::ordinary && options_.idempotent));
  }

  /// What becomes of an item that was to run again.
  [[nodiscard]] std::exception_ptr was_stopped() const noexcept {
    return this->template failure<cancelled>(
        "its batch failed, and was told to stop before this item ran without the others");
  }

  [[nodiscard]] bool is_stopped(std::size_t slot) const noexcept {
    const auto lock = schedule_->lock();
    return batches_[slot].is_stopped();
  }

  /// A request's results out of a first call, or of calls with parts of it. Says what the replica
  /// was lost with.
  [[nodiscard]] std::exception_ptr fulfil(scratch& with, std::size_t slot,
                                          std::span<const In> items, request_results<Out>& made,
                                          std::exception_ptr failure) {
    if (!failure) {
      made.add(with.made);
      return nullptr;
    }
    const failure_kind kind = kind_of(failure);
    if (kind == failure_kind::lost) return failure;
    if (!is_halved(kind, items.size())) {
      made.fail(failure, items.size());
      return nullptr;
    }
    if (is_stopped(slot)) {
      made.cancel(was_stopped(), items.size());
      return nullptr;
    }
    std::exception_ptr lost;
    for (const auto half : {items.first(items.size() / 2), items.subspan(items.size() / 2)}) {
      if (lost) break;
      count_rerun();
      lost = fulfil(with, slot, half, made, call(with, slot, half));
    }
    return lost;
  }

  /// A request's results out of its batches, one after the other. Says what the replica was lost
  /// with.
  [[nodiscard]] std::exception_ptr fulfil_parts(scratch& with, std::size_t slot,
                                                request_results<Out>& made) {
    std::span<const In> rest = with.request->items;
    for (const request_part& part : with.request->parts) {
      const auto items = rest.first(part.count);
      rest = rest.subspan(part.count);
      if (part.refused) {
        made.fail(part.refused, part.count);
        continue;
      }
      if (!goes_on(with, slot, part.count)) {
        made.cancel(this->template failure<cancelled>(
                        "the request was told to stop before this part of it started"),
                    part.count);
        continue;
      }
      if (auto lost = fulfil(with, slot, items, made, call(with, slot, items))) return lost;
    }
    return nullptr;
  }

  const bool stops_;  // batches have a stop token

 private:
  // Begins another batch of a request, of so many items, unless it was told to stop.
  [[nodiscard]] bool goes_on(const scratch& with, std::size_t slot, std::size_t count) noexcept {
    const auto lock = schedule_->lock();
    if (batches_[slot].is_stopped()) return false;
    begin_part(with, slot, count);
    return true;
  }

  function function_;
};

}  // namespace topos::detail
