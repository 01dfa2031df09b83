// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a batcher and a deployment have in common: how their work ends.

#include <exception>
#include <memory>
#include <topos/core/error.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/errors.hpp>
#include <topos/executor/time_source.hpp>

namespace topos::detail {

/// What is to be called once before its first batch. A concept, since nvcc 13 takes a
/// requires-expression inside a lambda for a call.
template <class Model>
concept warms_up = requires(Model& model) {
  model.warm_up();
};

/// The end of a schedule's work, as users ask for it.
class executor_core {
 public:
  /// Takes no more work, starts what waits at once, without waiting for full batches, and blocks
  /// until all has ended; says whether it had by the deadline, by the executor's time. Throws
  /// `topos::error` inside a model and on a thread that must not wait, and does nothing there.
  [[nodiscard]] bool drain(time_source::time_point deadline = time_source::time_point::max()) {
    require_unforked();
    if (schedule_->serves_here())
      throw error("executor: a model that waits for all work waits for itself");
    require_may_wait();
    schedule_->stop();
    return schedule_->wait_idle(deadline);
  }

  /// Takes no more work and ends all that waits with `cancelled`; what runs is asked to stop, where
  /// it takes a stop token, and goes on to its end. No batch is run again: of one that fails, the
  /// items that would be end with `cancelled`, too.
  void abort() {
    require_unforked();
    schedule_->abort(std::make_exception_ptr(
        cancelled("executor: it was told to abort before this work had started")));
  }

 protected:
  executor_core(const time_source& time, std::size_t replicas)
      : schedule_(std::make_shared<schedule>(time, replicas)) {}
  ~executor_core() = default;

  const std::shared_ptr<schedule> schedule_;
};

}  // namespace topos::detail
