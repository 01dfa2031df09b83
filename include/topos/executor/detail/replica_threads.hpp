// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The threads of a set of replicas.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/options.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// A replica's whole life on its own thread: it makes what the replica needs, calls `serve()`, and
/// unmakes it. Each thread has a copy. (One type for all models: nothing here is a template.)
using replica_life =
    std::function<void(device place, std::size_t replica, const std::function<void()>& serve)>;

/// Owns one thread for each replica, from construction until all work has ended. What its threads
/// use outlives the executor: `life` and `at_end` hold it.
class replica_threads {
 public:
  /// Starts them; new tensors of a thread go to its device. Returns when all of them serve; where
  /// any throws before that, ends the others and throws the exception of the first. `at_end` is
  /// called when all of them have ended.
  replica_threads(std::shared_ptr<schedule> work, const executor_options& options,
                  const replica_life& life, std::function<void()> at_end)
      : schedule_(std::move(work)), at_end_(std::move(at_end)) {
    note_forks();
    const std::size_t count = options.devices.size() * options.replicas;
    std::vector<std::exception_ptr> failures(count);
    // Shared: its last count_down may still be returning when this constructor has gone on.
    const auto started = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(count));
    threads_.reserve(count);
    try {
      for (std::size_t replica = 0; replica < count; ++replica) {
        const device place = options.devices[replica / options.replicas];
        // `failures` by reference: whoever writes to it is joined before it goes.
        threads_.emplace_back([this, place, replica, &failures, started, life] {
          bool serving = false;
          try {
            const default_device scope(place);
            life(place, replica, [&] {
              serving = true;
              started->count_down();
              schedule_->serve(replica);
            });
          } catch (...) {
            // What a model's destructor throws has nobody left to be told.
            if (!serving) failures[replica] = std::current_exception();
          }
          if (!serving) started->count_down();
        });
      }
    } catch (...) {  // no more threads to be had
      join();
      throw;
    }
    started->wait();
    for (const std::exception_ptr& failure : failures) {
      if (!failure) continue;
      join();
      std::rethrow_exception(failure);
    }
  }

  /// Ends all work that was submitted, then the threads.
  ~replica_threads() {
    join();
    at_end_();
  }

  /// As the destructor; on one of the threads, whose work has the last of its executor, it returns
  /// at once, and another thread does all that.
  static void end(std::unique_ptr<replica_threads> last) noexcept {
    if (forked() || !last->runs_here()) return;
    replica_threads* const own = last.release();
    try {
      std::thread([own] { delete own; }).detach();
    } catch (...) {  // no thread is to be had: they stay
    }
  }

  replica_threads(const replica_threads&) = delete;
  replica_threads& operator=(const replica_threads&) = delete;

 private:
  // Whether this is one of the threads that it would wait for.
  [[nodiscard]] bool runs_here() const noexcept {
    const auto is_this = [](const std::thread& each) {
      return each.get_id() == std::this_thread::get_id();
    };
    return std::any_of(threads_.begin(), threads_.end(), is_this) || schedule_->keeps_time_here();
  }

  void join() noexcept {
    if (forked()) {  // its threads are not here to end, nor what they hold
      new auto(std::move(threads_));
      new auto(schedule_);
      return;
    }
    schedule_->stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    schedule_->stop_clock();
  }

  std::shared_ptr<schedule> schedule_;
  std::function<void()> at_end_;
  std::vector<std::thread> threads_;
};

}  // namespace topos::detail
