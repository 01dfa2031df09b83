// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A queue's function, and calling it with batches.

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
#include <topos/executor/detail/slots.hpp>
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
  using base::schedule_;
  using base::statistics_;
  using base::times_of;
  using typename base::time_point;
  using scratch = batch_scratch<In, Out, Parameters>;

  batch_caller(std::shared_ptr<schedule> work, std::size_t replicas, executor_options options,
               std::string name, typename base::cost_function cost, bool stops, function f)
      : base(std::move(work), replicas, std::move(options), std::move(name), std::move(cost)),
        stops_(stops),
        function_(std::move(f)) {}
  ~batch_caller() = default;

  void forget_function() noexcept { function_ = nullptr; }

  /// A batch begins, under the lock; returns the time. Without memory it is in no histogram, and
  /// cannot be asked to stop.
  time_point begin_batch(std::size_t slot, std::size_t items) noexcept {
    try {
      ++statistics_.batch_sizes[items];
    } catch (const std::bad_alloc&) {
    }
    ++times_of(slot).batches;
    times_of(slot).items += items;
    batches_[slot].asked_to_stop = false;
    try {
      if (stops_) batches_[slot].stop = std::stop_source();
    } catch (const std::bad_alloc&) {
    }
    return schedule_->time().now();
  }
  void count_call(std::size_t slot, time_point started) noexcept {
    const auto lock = schedule_->lock();
    times_of(slot).compute.add(schedule_->time().now() - started);
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

  const bool stops_;  // batches have a stop token

 private:
  function function_;
};

}  // namespace topos::detail
