// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function on batches, called with the items of many.

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <topos/executor/detail/batch_queue.hpp>
#include <topos/executor/detail/replica_threads.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/endpoint.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/item_source.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/request_stream.hpp>
#include <topos/executor/result_stream.hpp>
#include <topos/executor/statistics.hpp>
#include <utility>
#include <vector>

namespace topos {

/// A callable on a batch of items that returns as many results, in order.
template <class F, class In, class Out>
concept batch_callable =
    std::is_invocable_r_v<std::vector<Out>, F&, std::span<const In>>&& std::copy_constructible<F>;

/// Gathers items into batches and runs a callable on them, on threads of its own. All its members
/// may be called from several threads at once, but not from inside the callable: with a full queue
/// that would wait for itself.
///
/// The callable is shared by all replicas: with more than one it is called from several threads at
/// once. While it runs, new tensors of its thread go to its replica's device, which is
/// `default_device::current()`.
template <batch_item In, batch_item Out>
class batcher {
 public:
  using in = In;
  using out = Out;

  /// Throws `invalid_argument` for options that nothing could run with.
  template <batch_callable<In, Out> F>
  explicit batcher(F function, executor_options options = {})
      : schedule_((detail::check(options), std::make_shared<detail::schedule>(*options.time))),
        queue_(std::make_shared<detail::batch_queue<In, Out>>(
            schedule_, options.devices.size() * options.replicas, options, "batcher",
            [f = std::move(function)](std::size_t, std::span<const In> batch) mutable
            -> std::vector<Out> { return std::invoke(f, batch); })),
        threads_(schedule_, options, [](device, std::size_t, auto serve) { serve(); }) {}

  /// Ends all work that was submitted, then its threads.
  ~batcher() = default;

  batcher(const batcher&) = delete;
  batcher& operator=(const batcher&) = delete;

  /// Queues one item, to share its batch with whoever else comes. Blocks while the queue is full.
  future<Out> submit(In item) { return queue_->submit(std::move(item)); }

  /// The results for a range or a generator of items, in order, in requests that run as one batch
  /// each.
  template <item_source<In> S>
  result_stream<In, Out> post(S&& source, const request_options& options = {}) {
    detail::check(options);
    return {queue_, detail::make_items<In>(std::forward<S>(source)), options};
  }

  /// As `post`, but a future for each request.
  template <item_source<In> S>
  request_stream<In, Out> requests(S&& source, const request_options& options = {}) {
    detail::check(options);
    return {queue_, detail::make_items<In>(std::forward<S>(source)), options};
  }

  [[nodiscard]] statistics stats() const { return queue_->stats(); }

 private:
  std::shared_ptr<detail::schedule> schedule_;
  std::shared_ptr<detail::batch_queue<In, Out>> queue_;
  detail::replica_threads threads_;  // the last, since it uses the others until it is gone
};

}  // namespace topos
