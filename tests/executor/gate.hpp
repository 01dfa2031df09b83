// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Holds a model inside a batch until the test lets it go on.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>

class gate {
 public:
  /// Called by the model: blocks while the gate is closed.
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }

  /// Blocks until the model has been here that many times.
  void await(std::size_t arrivals) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrivals; });
  }

  void open() {
    const std::lock_guard guard(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  bool open_ = false;
};

/// `model` on batches of integers, which passes the gate before it computes. The gate outlives it.
template <class Model>
auto behind(gate& g, Model model) {
  return [&g, model](std::span<const int> batch) {
    g.pass();
    return model(batch);
  };
}
