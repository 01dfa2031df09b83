// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One in-order queue of work per device, and what happens when work fails.

#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <span>
#include <topos/async/host_worker.hpp>
#include <topos/backend/backend.hpp>
#include <topos/device/runtime.hpp>
#include <topos/memory/buffer.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// Work that touches at least this many elements is queued even where it could run in place.
inline constexpr index_t always_queued = std::numeric_limits<index_t>::max();

/// Whether this thread runs its CPU work itself: see in_place_scope.
[[nodiscard]] inline int& in_place_scopes() noexcept {
  thread_local int scopes = 0;
  return scopes;
}

/// The queue of one device. All members may be called from any thread.
///
/// Work is a callable on a stream of the device's backend: `work(const auto& stream)`. What it
/// throws, or what its inputs were poisoned with, poisons the buffers it writes, and is rethrown
/// by whoever waits for them.
class queue {
 public:
  explicit queue(device d) : device_(d) {
    if (d.kind() == device_kind::cpu) {
      worker_ = std::make_unique<host_worker>(d.index());
    } else {
      gpu_ = std::make_unique<backend::cuda::stream>(d.index());
    }
  }

  ~queue() {
    try {
      drain();
    } catch (...) {  // nobody is left to be told
    }
  }

  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  [[nodiscard]] const device& where() const noexcept { return device_; }

  /// Runs `work` after all that was submitted before, and returns at once. `elements` is how many
  /// elements it touches: little work runs in place where nothing is queued.
  template <class Work>
  void submit(std::vector<buffer> reads, std::vector<buffer> writes, index_t elements, Work work) {
    if (worker_) {
      if (in_place_scopes() > 0) {
        for (const buffer& read : reads) worker_->wait(read.ticket());
        // Work that is queued may still read what this overwrites.
        for (const buffer& written : writes) {
          if (written.is_held()) worker_->drain();
        }
        const backend::host::thread_limit one_thread(worker_->in_place());
        run(work, worker_->in_place(), reads, writes);
        return;
      }
      if (elements < backend::host::stream::small_work &&
          worker_->try_in_place([&](const auto& stream) { run(work, stream, reads, writes); })) {
        return;
      }
      std::vector<buffer::hold> read(hold(reads));
      std::vector<buffer::hold> written(hold(writes));
      // Moving a vector leaves its elements where they are.
      const std::span<buffer::hold> all[] = {read, written};
      worker_->submit(
          [&](std::uint64_t ticket) {
            for (const buffer::hold& w : all[1]) w.set_ticket(ticket);
            for (const std::span<buffer::hold> holds : all) {
              for (buffer::hold& h : holds) {
                if (h.where() == device_) h.disown();  // another device's queue overtakes this one
              }
            }
          },
          [work = std::move(work), read = std::move(read),
           written = std::move(written)](const auto& stream) { run(work, stream, read, written); });
    } else {
      // Recursive: work may enqueue further work.
      const std::lock_guard lock(mutex_);
      ++submitted_;
      for (const buffer& written : writes) written.set_ticket(submitted_);
      run(work, *gpu_, reads, writes);
    }
  }

  /// True once what writes `b` is done.
  [[nodiscard]] bool is_ready(const buffer& b) const {
    if (b.ticket() == 0) return true;
    return worker_ ? worker_->is_done(b.ticket()) : gpu_->idle();
  }

  /// Blocks until what writes `b` is done, and rethrows what it failed with.
  void wait(const buffer& b) {
    if (b.ticket() != 0) {
      if (worker_) {
        worker_->wait(b.ticket());
      } else {
        gpu_->synchronize();
      }
    }
    if (const std::exception_ptr failure = b.poison()) std::rethrow_exception(failure);
  }

  /// Blocks until all that was submitted is done.
  void drain() {
    if (worker_) {
      worker_->drain();
    } else {
      gpu_->synchronize();
    }
  }

 private:
  static std::vector<buffer::hold> hold(std::vector<buffer>& all) {
    std::vector<buffer::hold> holds;
    holds.reserve(all.size());
    for (buffer& each : all) holds.emplace_back(std::move(each));
    return holds;
  }

  // On buffers, or on what is held of them.
  template <class Work, class Stream, class Buffers>
  static void run(const Work& work, const Stream& stream, const Buffers& reads,
                  const Buffers& writes) noexcept {
    std::exception_ptr failure;
    for (const auto& read : reads) {
      if (!failure) failure = read.poison();
    }
    if (!failure) {
      try {
        work(stream);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (!failure) return;
    for (const auto& written : writes) written.set_poison(failure);
  }

  device device_;
  std::unique_ptr<host_worker> worker_;
  std::unique_ptr<backend::cuda::stream> gpu_;
  std::recursive_mutex mutex_;
  std::uint64_t submitted_ = 0;
};

/// The queues of all devices, each made when first asked for and ended with Kokkos.
class queues {
 public:
  [[nodiscard]] static queues& all() {
    static queues& registry = *new queues;  // never destroyed: see pool_of
    return registry;
  }

  /// The queue of a device; null once the runtime has ended: then all its work is done.
  [[nodiscard]] queue* find(const device& d) {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(d);
    return found == queues_.end() ? nullptr : found->second.get();
  }

  /// The queue of a device; throws `runtime_not_started` outside of the runtime's life.
  [[nodiscard]] queue& get(const device& d, std::source_location where) {
    require_runtime(where);
    const std::lock_guard lock(mutex_);
    if (queues_.empty()) Kokkos::push_finalize_hook([this] { end(); });
    std::unique_ptr<queue>& made = queues_[d];
    if (!made) made = std::make_unique<queue>(d);
    return *made;
  }

 private:
  void end() {
    std::vector<queue*> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [d, q] : queues_) all.push_back(q.get());
    }
    // Without the lock: queued work may ask for its queue. Each queue's end drains it again.
    for (queue* q : all) {
      try {
        q->drain();
      } catch (...) {  // told by the tensors that failed
      }
    }
    const std::lock_guard lock(mutex_);
    queues_.clear();
  }

  std::mutex mutex_;
  std::map<device, std::unique_ptr<queue>> queues_;
};

/// The queue of a device.
[[nodiscard]] inline queue& queue_of(const device& d, std::source_location where) {
  return queues::all().get(d, where);
}

}  // namespace topos::detail
