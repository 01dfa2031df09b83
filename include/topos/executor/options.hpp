// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a deployment or a batcher, an item, and a stream of requests can be told.

#include <chrono>
#include <cstddef>
#include <functional>
#include <source_location>
#include <stop_token>
#include <string_view>
#include <topos/core/error.hpp>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
#include <topos/executor/progress.hpp>
#include <topos/executor/time_source.hpp>
#include <vector>

namespace topos {

/// What becomes of an item, submitted by itself, for which a queue has no room. (Who streams items
/// waits in any case.)
enum class when_full {
  block,       ///< who brings it waits; inside a model it is refused where all would wait for that
  fail,        ///< it is refused: its future throws `rejected`
  shed_oldest  ///< the oldest of the least urgent items that wait is given up for it, or it is
               ///< refused, if all are more urgent
};

/// What becomes of an item that costs more than a batch may.
enum class oversize {
  reject,  ///< its future, or the stream in its place, throws `rejected`
  alone    ///< it runs as a batch of its own
};

/// How work is batched, and where it runs.
struct executor_options {
  /// Where the replicas run; an entry that is named twice gets twice the replicas.
  std::vector<device> devices = {default_device::current()};
  /// Replicas on each device, with a thread of its own each; at most 65536 on all devices together.
  std::size_t replicas = 1;
  /// Items submitted one by one that run together, at most.
  std::size_t max_batch_size = 32;
  /// What their costs may add up to, never more; 0: anything. The cost of an item is what the
  /// endpoint's or batcher's cost function says, which several threads may call at once, else 1. A
  /// request of a stream that costs more runs as several batches, one after the other, of items
  /// that follow one another. Endpoints share a deployment's replicas by what their batches cost:
  /// where one has a cost function, all should, in one unit.
  std::size_t max_batch_cost = 0;
  oversize too_large = oversize::reject;
  /// How many waiting items are looked through for a batch of similar costs, the oldest always
  /// being one of it; 0: in order.
  std::size_t look_ahead = 0;
  /// How long an item may wait for others to share its batch; 0: only while all replicas are busy.
  /// Less where those that wait fill the queue, with `max_batch_size` of them, whatever their
  /// parameters, or where one has a deadline: then so that the batch may end before that, should it
  /// take up to twice as long as batches did of late.
  std::chrono::nanoseconds max_delay{0};
  /// Items that wait, for each endpoint: of those submitted one by one, and of those in streams'
  /// requests. A request larger than this waits until no other does.
  std::size_t queue_capacity = 4096;
  /// Bytes of the items submitted one by one that wait, with what their own `data()` holds; 0: any
  /// number. An item larger than this is let in where nothing else waits. Those of streams are not
  /// counted: there are two requests of each for each replica.
  std::size_t queue_bytes = 0;
  when_full full = when_full::block;
  /// The batch function may be called again with items that it has been called with: where it
  /// throws, parts of the batch are run by themselves until only the items at fault fail. (For want
  /// of memory, or of a device that was lost, it is called again in any case.)
  bool idempotent = false;
  /// Priorities go from 0, the least urgent, which requests of streams have, to this less 1; 256
  /// levels at most.
  std::size_t priority_levels = 1;
  /// An item of one level more counts as if it had come this much earlier: none waits for ever.
  std::chrono::nanoseconds ageing = std::chrono::milliseconds(100);
  /// Nothing starts before so many items have been submitted: for tests of what is batched how. A
  /// queue that holds fewer lets them start when it is drained. At most `queue_capacity`, unless
  /// `full` is shed_oldest. Who waits for room of `queue_bytes`, or for a stream that has so many
  /// items in more than two requests for each replica, waits for ever.
  std::size_t hold_until = 0;
  /// Must outlive the executor, and the end of its work where that work destroys it.
  const time_source* time = &steady_time::instance();
};

/// Where all items may share a batch.
struct no_parameters {
  friend bool operator==(no_parameters, no_parameters) = default;
};

/// How one item is to be treated.
template <class Parameters = no_parameters>
struct submit_options {
  /// By the executor's time: afterwards its future throws `deadline_exceeded`.
  time_source::time_point deadline = time_source::time_point::max();
  /// See `executor_options::priority_levels`; beyond the last level it is held within.
  std::size_t priority = 0;
  /// What the batch function is called with; only items with equal ones share a batch. Their == is
  /// called under the executor's lock: it must not wait, not for a tensor either, nor use
  /// executors.
  Parameters parameters{};
  /// Withdraws the item when it is asked to stop.
  std::stop_token stop{};
};

/// In which order results are handed out.
enum class result_order {
  ordered,      ///< as the items came
  as_completed  ///< whole requests, as they end: items that are to be told apart carry a number
};

/// How a range or a generator is made into requests.
struct request_options {
  /// Items in a request, which runs as one batch, whatever `max_batch_size` says, if that costs no
  /// more than `max_batch_cost`; the last one may be smaller.
  std::size_t request_size = 32;
  result_order order = result_order::ordered;
  /// Draws a bar on the terminal while requests are done; a step is a request.
  bool show_progress = false;
  /// Where and how the bar is drawn.
  progress_options progress = {};
  /// Called with the number of requests that are done, after each, by who takes the results. What
  /// it throws is ignored.
  std::function<void(std::size_t done)> on_progress = {};
};

namespace detail {

inline constexpr std::size_t most_replicas = 65'536;
inline constexpr std::size_t most_priority_levels = 256;

/// Throws `invalid_argument` for options that nothing could run with; `of` is what it calls them.
inline void check(const executor_options& options, std::string_view of = "executor options",
                  std::source_location where = std::source_location::current()) {
  const auto require = [&](bool holds, const auto&... what) {
    if (!holds) throw invalid_argument(concat(of, ": ", what...), where);
  };
  require(!options.devices.empty(), "devices must name at least one device");
  require(options.replicas > 0, "replicas must be at least 1");
  require(options.replicas <= most_replicas / options.devices.size(),
          "devices.size() * replicas must be at most ", most_replicas, ", not ",
          options.devices.size(), " * ", options.replicas);
  require(options.max_batch_size > 0, "max_batch_size must be at least 1");
  require(options.too_large == oversize::reject || options.too_large == oversize::alone,
          "too_large must be reject or alone");
  require(options.max_delay.count() >= 0, "max_delay must not be negative");
  require(options.queue_capacity > 0, "queue_capacity must be at least 1");
  require(options.full == when_full::block || options.full == when_full::fail ||
              options.full == when_full::shed_oldest,
          "full must be block, fail or shed_oldest");
  require(options.priority_levels > 0, "priority_levels must be at least 1");
  require(options.priority_levels <= most_priority_levels, "priority_levels must be at most ",
          most_priority_levels, ", not ", options.priority_levels);
  require(options.ageing.count() >= 0, "ageing must not be negative");
  require(options.full == when_full::shed_oldest || options.hold_until <= options.queue_capacity,
          "hold_until must be at most queue_capacity, ", options.queue_capacity, ", not ",
          options.hold_until, ": else nothing starts");
  require(options.time != nullptr, "time must not be null");
}

/// Throws `invalid_argument` for options that no request could be made with.
inline void check(const request_options& options,
                  std::source_location where = std::source_location::current()) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) throw invalid_argument(concat("request options: ", what), where);
  };
  require(options.request_size > 0, "request_size must be at least 1");
  require(options.order == result_order::ordered || options.order == result_order::as_completed,
          "order must be ordered or as_completed");
  require(options.progress.time != nullptr, "progress.time must not be null");
}

}  // namespace detail
}  // namespace topos
