// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work for a queue.

#include <limits>
#include <memory>
#include <topos/backend/backend.hpp>
#include <utility>

namespace topos::detail {

/// Work that touches so many elements is queued even where it could run in place, and is run by the
/// queue's own thread alone: that which shares it with the threads of OpenMP.
inline constexpr index_t always_queued = std::numeric_limits<index_t>::max();

/// A callable on a stream of any backend: one type for all, so that what queues and runs it is
/// compiled once, and not for each kernel.
class work {
 public:
  virtual ~work() = default;

  virtual void run(const backend::host::stream& stream) const = 0;
  virtual void run(const backend::cuda::stream& stream) const = 0;

  /// Moves the callable to where it may stay.
  [[nodiscard]] virtual std::unique_ptr<work> take() && = 0;
};

template <class Function>
class work_of final : public work {
 public:
  explicit work_of(Function&& function) : function_(std::move(function)) {}

  [[nodiscard]] Function& function() { return function_; }

  void run(const backend::host::stream& stream) const override { function_(stream); }
  void run(const backend::cuda::stream& stream) const override {
    stream.launch([&] { function_(stream); });
  }
  [[nodiscard]] std::unique_ptr<work> take() && override {
    return std::unique_ptr<work>(new work_of(std::move(function_)));
  }

 private:
  Function function_;
};

}  // namespace topos::detail
