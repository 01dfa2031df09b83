// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a deployment or a batcher, and a stream of requests, can be told.

#include <chrono>
#include <cstddef>
#include <source_location>
#include <topos/core/error.hpp>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
#include <topos/executor/progress.hpp>
#include <topos/executor/time_source.hpp>
#include <vector>

namespace topos {

/// How work is batched, and where it runs.
struct executor_options {
  /// Where the replicas run; an entry that is named twice gets twice the replicas.
  std::vector<device> devices = {default_device::current()};
  /// Replicas on each device, with a thread of its own each.
  std::size_t replicas = 1;
  /// Items submitted one by one that run together, at most.
  std::size_t max_batch_size = 32;
  /// How long an item may wait for others to share its batch; 0: only while all replicas are busy.
  std::chrono::nanoseconds max_delay{0};
  /// Items that wait, for each endpoint; who brings more blocks until there is room. A request
  /// larger than this waits until nothing else does.
  std::size_t queue_capacity = 4096;
  /// Must outlive the executor.
  const time_source* time = &steady_time::instance();
};

/// How a range or a generator is made into requests.
struct request_options {
  /// Items in a request, which runs as one batch; the last one may be smaller.
  std::size_t request_size = 32;
  /// Draws a bar on the terminal while requests are done.
  bool show_progress = false;
  /// Where and how the bar is drawn.
  progress_options progress = {};
};

namespace detail {

/// Throws `invalid_argument` for options that nothing could run with.
inline void check(const executor_options& options,
                  std::source_location where = std::source_location::current()) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) throw invalid_argument(concat("executor options: ", what), where);
  };
  require(!options.devices.empty(), "devices must name at least one device");
  require(options.replicas > 0, "replicas must be at least 1");
  require(options.max_batch_size > 0, "max_batch_size must be at least 1");
  require(options.max_delay.count() >= 0, "max_delay must not be negative");
  require(options.queue_capacity > 0, "queue_capacity must be at least 1");
  require(options.time != nullptr, "time must not be null");
}

/// Throws `invalid_argument` for options that no request could be made with.
inline void check(const request_options& options,
                  std::source_location where = std::source_location::current()) {
  if (options.request_size == 0) {
    throw invalid_argument("request options: request_size must be at least 1", where);
  }
}

}  // namespace detail
}  // namespace topos
