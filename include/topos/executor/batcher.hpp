// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function on batches, called with the items of many.

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/batch_runner.hpp>
#include <topos/executor/detail/executor_core.hpp>
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

/// A callable on a batch of items that returns as many results, in order, in one of the forms of
/// `batch_function`.
template <class F, class In, class Out, class Parameters = no_parameters>
concept batch_callable = std::move_constructible<F> &&
    (detail::returns_results<F, In, Out, Parameters> ||
     detail::fills_results<F, In, Out, Parameters> ||
     detail::computes_rows<F, In, Out, Parameters>);

/// Gathers items into batches and runs a callable on them, on threads of its own. All its members
/// may be called from several threads at once, and from inside the callable too, but that an item
/// for which there will be no room before the callable returns is refused there.
///
/// The callable is shared by all replicas: with more than one it is called from several threads at
/// once. While it runs, new tensors of its thread go to its replica's device, which is
/// `default_device::current()`. Where it has a member `warm_up()`, that is called once on each
/// replica's thread before the constructor returns.
template <batch_item In, batch_item Out, std::equality_comparable Parameters = no_parameters>
class batcher : public detail::executor_core {
 public:
  using in = In;
  using out = Out;

  /// `cost`: what an item counts for in a batch; 1 where there is none. Throws `invalid_argument`
  /// for options that nothing could run with.
  template <class F>
    requires(!std::same_as<F, batcher> && batch_callable<F, In, Out, Parameters>)
  explicit batcher(F function, executor_options options = {},
                   std::function<std::size_t(const In&)> cost = {})
      : executor_core((detail::check(options), *options.time),
                      options.devices.size() * options.replicas) {
    const auto shared = std::make_shared<F>(std::move(function));
    queue_ = std::make_shared<queue>(
        schedule_, options.devices.size() * options.replicas, options, "batcher", std::move(cost),
        detail::can_stop<F, In, Out, Parameters>,
        [shared](std::size_t, std::span<const In> batch, const Parameters& parameters,
                 const std::stop_token& stop, detail::batch_results<Out>& to) {
          detail::call_batch(*shared, batch, parameters, stop, to);
        });
    threads_ = std::make_unique<detail::replica_threads>(
        schedule_, options,
        [shared](device, std::size_t, const auto& serve) {
          if constexpr (detail::warms_up<F>) shared->warm_up();
          serve();
        },
        [queue = queue_] { queue->close(); });
  }

  /// A function of another form.
  template <class F>
    requires(!std::same_as<F, batcher> && !batch_callable<F, In, Out, Parameters>)
  explicit batcher(F /*function*/, executor_options options = {},
                   std::function<std::size_t(const In&)> /*cost*/ = {})
      : executor_core(*options.time, 1) {
    constexpr bool fills =
        detail::takes_further<F, Parameters, std::span<const In>, std::span<Out>>;
    static_assert(fills,
                  "topos::batcher: the function takes a std::span<const In> and returns a "
                  "std::vector<Out>, or takes a std::span<Out> as well and returns nothing; or it "
                  "takes and returns tensors, of one axis more than an item: see batch_function");
    static_assert(!fills,
                  "topos::batcher: results that a function fills must have a default constructor, "
                  "since they are there before it is called; else it returns a std::vector<Out>");
  }

  /// Ends all work that was submitted, then its threads. Blocks until then, but where an item, a
  /// result or a model has the last of it and ends on one of these threads: then they go on to the
  /// end of the work by themselves, for which `options.time` and the runtime must be there yet.
  ~batcher() { detail::replica_threads::end(std::move(threads_)); }

  batcher(const batcher&) = delete;  // nor can it be moved: hold it by a pointer
  batcher& operator=(const batcher&) = delete;

  /// Queues one item, to share its batch with whoever else comes. Where the queue is full it
  /// blocks, unless the options say otherwise. Throws `rejected` once the executor shuts down, what
  /// the last replica was lost with, `topos::error` where it would block a thread that must not
  /// wait, as in queued work, and what moving the item in throws; all else that goes wrong comes
  /// out of the future.
  future<Out> submit(In item, submit_options<Parameters> options = {}) {
    return queue_->submit(std::move(item), std::move(options));
  }

  /// The results for a range or a generator of items, or for items in braces, in requests that run
  /// as one batch each. A range that is a variable is read where it is, and must outlive the
  /// results; a generator is moved or copied in. Blocks while there is no room for a request,
  /// whatever `full` says.
  template <class S>
  result_stream<In, Out> map(S&& source, const request_options& options = {},
                             Parameters parameters = {}) {
    detail::check(options);
    return {queue_, detail::make_items<In>(std::forward<S>(source)), options,
            std::make_shared<const Parameters>(std::move(parameters))};
  }
  result_stream<In, Out> map(std::initializer_list<In> source, const request_options& options = {},
                             Parameters parameters = {}) {
    return map(std::vector<In>(source), options, std::move(parameters));
  }

  /// As `map`, but a future for each request.
  template <class S>
  request_stream<In, Out> requests(S&& source, const request_options& options = {},
                                   Parameters parameters = {}) {
    detail::check(options);
    return {queue_, detail::make_items<In>(std::forward<S>(source)), options,
            std::make_shared<const Parameters>(std::move(parameters))};
  }
  request_stream<In, Out> requests(std::initializer_list<In> source,
                                   const request_options& options = {},
                                   Parameters parameters = {}) {
    return requests(std::vector<In>(source), options, std::move(parameters));
  }

  [[nodiscard]] statistics stats() const { return queue_->stats(); }

 private:
  using queue = detail::batch_runner<In, Out, Parameters>;

  std::shared_ptr<queue> queue_;
  std::unique_ptr<detail::replica_threads> threads_;
};

}  // namespace topos
