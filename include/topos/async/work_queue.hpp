// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An in-order queue of work on one device, and what happens when work fails.

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <topos/async/failure.hpp>
#include <topos/async/host_worker.hpp>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/work.hpp>
#include <topos/backend/backend.hpp>
#include <topos/device/runtime.hpp>
#include <topos/memory/buffer.hpp>
#include <topos/memory/ticket.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// A queue of one device. All members may be called from any thread.
///
/// Work is a callable on a stream of the device's backend: `function(const auto& stream)`. What it
/// throws, or what its inputs were poisoned with, poisons the buffers it writes, and is rethrown
/// by whoever waits for them. Before it runs, what other queues have to do to its buffers is done:
/// a CPU's queue waits on the thread that runs it, a GPU's stream by an event.
///
/// Work keeps its buffers until it is done, without owning them. While a GPU has one queue, memory
/// there is free for work to come as soon as the last work on it is launched: all is in order.
class work_queue {
 public:
  /// The first queue of a device, or (`further`) one beside it: on the CPU one thread on one core.
  work_queue(device d, std::size_t id, bool further) : device_(d), id_(id), shared_(further) {
    if (d.kind() == device_kind::cpu) {
      worker_ = std::make_unique<host_worker>(d.index(), further);
    } else {
      gpu_ = std::make_unique<backend::cuda::stream>(d.index());
    }
  }

  /// A queue on an execution-space instance of the user's. On the CPU the calling thread launches,
  /// as it does in Kokkos. `done` is the number of work that had this id before.
  template <backend::execution_space Space>
  work_queue(const Space& space, device d, std::size_t id, std::uint64_t done)
      : device_(d), id_(id), submitted_(done), done_(done), shared_(true) {
    if constexpr (backend::runs_on<Space, backend::host>::value) {
      caller_ = std::make_unique<backend::host::stream>(space);
    } else {
      gpu_ = std::make_unique<backend::cuda::stream>(space);
    }
  }

  ~work_queue() {
    end();
    host_worker::end(std::move(callbacks_));
  }

  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  [[nodiscard]] const device& where() const noexcept { return device_; }
  [[nodiscard]] std::size_t id() const noexcept { return id_; }

  /// Runs `function` after all that was submitted before, and returns at once. `elements` is how
  /// many elements it touches: little work runs in place where nothing is queued. `operation` and
  /// `where` are told with what it fails with.
  template <class Function>
  void submit(std::vector<buffer> reads, std::vector<buffer> writes, index_t elements,
              Function function, const char* operation = nullptr,
              std::source_location where = std::source_location::current()) {
    submit_work(std::move(reads), std::move(writes), elements,
                work_of<Function>(std::move(function)), operation, where);
  }

  /// Calls `task(failure)`, which must not throw, once the work of a number is done, on a thread
  /// of this queue's; `failure` is what the device reports: at once, here, if that is so already.
  /// Says false, and does nothing, if it is done already.
  bool then(std::uint64_t number, const std::function<void(std::exception_ptr)>& task);

  /// True once the work of a number is done, or its device has failed.
  [[nodiscard]] bool is_done(std::uint64_t number) {
    return has_come(number, [](const auto& end) { return end.is_done(); });
  }

  /// True once the work of a number is done, and its device reports no failure.
  [[nodiscard]] bool has_succeeded(std::uint64_t number) {
    return has_come(number, [](const auto& end) { return end.has_succeeded(); });
  }

  /// Blocks until the work of a number is done. Throws what the device reports.
  void wait(std::uint64_t number) {
    if (worker_) return worker_->wait(number);
    if (!gpu_ || number <= done_.load(std::memory_order_acquire)) return;
    require_unforked();
    const auto end = mark_of(number);
    end ? end->synchronize() : gpu_->synchronize();
    reap();
  }

  /// Blocks until all that was submitted is done.
  void drain() {
    if (worker_) worker_->drain();
    if (!gpu_) return;
    require_unforked();
    gpu_->synchronize();
    reap();
  }

  /// Blocks until all that was submitted is done, and the tasks that were to follow it.
  void finish() {
    drain();
    if (worker_) worker_->drain_followers();
    host_worker* callbacks = nullptr;
    {
      const std::lock_guard lock(mutex_);
      callbacks = callbacks_.get();
    }
    if (callbacks != nullptr) callbacks->drain();
  }

  /// The same, and no more is taken. Nobody is left to be told what fails.
  void end() noexcept {
    mutex_.lock();  // which what was let in before that has
    mutex_.unlock();
    try {
      finish();
    } catch (...) {
    }
    if (worker_) worker_->stop();
  }

  /// The number of the last work that was submitted.
  [[nodiscard]] std::uint64_t submitted() const {
    return worker_ ? worker_->submitted() : submitted_.load(std::memory_order_acquire);
  }

  /// Lets go of what work that is done used. What has failed stays, to tell who waits for it.
  void reap() { reap(nullptr); }

  /// From now on the device has other queues, which are to come `after` what was launched here
  /// before; or it has no other any more.
  void share();
  void unshare() { shared_ = false; }
  void after(work_queue& first);

 private:
  using mark = std::shared_ptr<backend::cuda::event>;
  using origins = std::optional<failure_origin>;

  // What is launched on a GPU and was not seen to be done, since the device has several queues.
  struct launched {
    std::uint64_t number;
    mark end;
    buffer::holds reads;
    buffer::holds writes;
    std::unique_ptr<work> what;  // which may have memory of its own, as that of partial results
  };

  // What waits for the CPU.
  struct queued {
    std::unique_ptr<work> what;
    std::vector<ticket> others;  // that come first
    buffer::holds reads;
    buffer::holds writes;
    origins origin;

    template <class Stream>
    void operator()(const Stream& stream) const {
      run(*what, stream, reads, writes, origin, settle(stream, others, origin));
    }
  };

  // Asks the end of the work of a number, where it is not known to have come.
  template <class Ask>
  bool has_come(std::uint64_t number, const Ask& ask) {
    if (worker_) return worker_->is_done(number);
    if (!gpu_ || number <= done_.load(std::memory_order_acquire)) return true;
    if (const auto end = mark_of(number); end ? ask(*end) : ask(*gpu_)) return true;
    // Who looked after it meanwhile has taken its mark: that one was of later work then.
    return number <= done_.load(std::memory_order_acquire);
  }

  void submit_work(std::vector<buffer> reads, std::vector<buffer> writes, index_t elements,
                   work&& what, const char* operation, std::source_location where) {
    const origins origin = operation == nullptr ? origins() : failure_origin{operation, where};
    if (gpu_) {
      launch(reads, writes, std::move(what), origin);
    } else if (caller_ || in_place_scopes() > 0) {
      run_here(reads, writes, what, origin);
    } else {
      queue_up(std::move(reads), std::move(writes), elements, std::move(what), origin);
    }
  }

  void queue_up(std::vector<buffer> reads, std::vector<buffer> writes, index_t elements,
                work&& what, const origins& origin) {
    std::vector<ticket> others = pending_elsewhere(reads, writes);
    if (others.empty() && elements <= backend::host::stream::small_work &&
        worker_->try_in_place(
            [&](const auto& stream) { run(what, stream, reads, writes, origin, nullptr); })) {
      return;
    }
    worker_->submit(
        [&](std::uint64_t number, queued& q) {
          for (const buffer& w : q.writes) w.set_ticket(ticket::of(id_, number).value);
          q.reads.disown_read(id_);
          q.writes.disown_written();
        },
        queued{std::move(what).take(), std::move(others), buffer::holds(std::move(reads)),
               buffer::holds(std::move(writes)), origin},
        elements);
  }

  // On the calling thread, before it goes on.
  void run_here(const std::vector<buffer>& reads, const std::vector<buffer>& writes,
                const work& what, const origins& origin) {
    // What is queued may still read what this overwrites.
    for (const buffer& written : writes) drain_readers(written);
    const backend::host::stream& stream = caller_ ? *caller_ : worker_->in_place();
    // Without the lock: what is waited for may enqueue work here.
    const std::exception_ptr failure = settle(stream, tickets_of(reads, writes), origin);
    std::unique_lock lock(mutex_, std::defer_lock);
    if (caller_) lock.lock();
    require_runtime(origin ? origin->where : std::source_location());
    const backend::host::thread_limit one_thread(stream);
    run(what, stream, reads, writes, origin, failure);
  }

  void launch(std::vector<buffer>& reads, std::vector<buffer>& writes, work&& what,
              const origins& origin) {
    std::vector<launched> done;  // let go of without the lock
    const std::exception_ptr failure = settle(*gpu_, pending_elsewhere(reads, writes), origin);
    const std::lock_guard lock(mutex_);
    require_runtime(origin ? origin->where : std::source_location());
    run(what, *gpu_, reads, writes, origin, failure);
    // Numbered only now: what the work has enqueued here itself comes before its end.
    const std::uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(number, std::memory_order_release);
    for (const buffer& written : writes) written.set_ticket(ticket::of(id_, number).value);
    if (shared_) {
      keep({number, nullptr, buffer::holds(std::move(reads)), buffer::holds(std::move(writes)),
            nullptr},
           std::move(what), origin);
    }
    reap(&done);
  }

  // Holds what was launched last until its end.
  void keep(launched l, work&& what, const origins& origin) {
    try {
      l.end = std::make_shared<backend::cuda::event>(device_.index());
      l.what = std::move(what).take();
      gpu_->record(*l.end);
      const std::lock_guard flight(flight_mutex_);
      in_flight_.push_back(std::move(l));
      in_flight_.back().reads.disown_read(id_);
      in_flight_.back().writes.disown_written();
    } catch (...) {
      for (const buffer& written : l.writes) written.set_poison(current_failure(origin));
      // Nothing tells its end: it is waited for before its memory goes.
      try {
        gpu_->synchronize();
      } catch (...) {  // those that wait for it are told
      }
    }
  }

  // On buffers, or on what is held of them.
  template <class Stream, class Buffers>
  static void run(const work& what, const Stream& stream, const Buffers& reads,
                  const Buffers& writes, const origins& origin,
                  std::exception_ptr failure) noexcept {
    try {
      for (const auto& read : reads) {
        if (!failure) failure = read.poison();
      }
      if (!failure) what.run(stream);
    } catch (...) {
      failure = current_failure(origin);
    }
    if (!failure) return;
    for (const auto& written : writes) written.set_poison(failure);
  }

  // Lets what runs on the stream next come after other queues' work; what that fails with.
  template <class Stream>
  static std::exception_ptr settle(const Stream& stream, const std::vector<ticket>& others,
                                   const origins& origin) noexcept {
    try {
      for (const ticket& t : others) wait_for(stream, t);
      return nullptr;
    } catch (...) {
      return current_failure(origin);
    }
  }

  // See queues.hpp: these know the other queues.
  static void wait_for(const backend::host::stream& stream, const ticket& t);
  static void wait_for(const backend::cuda::stream& stream, const ticket& t);
  static std::vector<ticket> tickets_of(const std::vector<buffer>& reads,
                                        const std::vector<buffer>& writes);
  std::vector<ticket> pending_elsewhere(const std::vector<buffer>& reads,
                                        const std::vector<buffer>& writes) const;
  void drain_readers(const buffer& b) const;

  [[nodiscard]] mark mark_of(std::uint64_t number);
  void reap(std::vector<launched>* done);

  device device_;
  std::size_t id_;
  std::unique_ptr<host_worker> worker_;            // the CPU
  std::unique_ptr<backend::host::stream> caller_;  // an adopted instance on the CPU
  std::unique_ptr<backend::cuda::stream> gpu_;
  std::recursive_mutex mutex_;  // work may enqueue further work
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> shared_;

  std::mutex flight_mutex_;
  std::deque<launched> in_flight_;
  mark history_;  // what was launched before
  std::unique_ptr<host_worker> callbacks_;
};

inline void work_queue::share() {
  const std::lock_guard lock(mutex_);
  if (gpu_ && !shared_) {
    history_ = std::make_shared<backend::cuda::event>(device_.index());
    gpu_->record(*history_);
  }
  shared_ = true;
}

inline void work_queue::after(work_queue& first) {
  if (gpu_ && first.history_) gpu_->wait(*first.history_);
}

inline bool work_queue::then(std::uint64_t number,
                             const std::function<void(std::exception_ptr)>& task) {
  require_unforked();
  if (worker_) return worker_->follow(number, [task] { task(nullptr); });
  if (is_done(number)) {
    try {
      wait(number);
      return false;
    } catch (...) {
      task(std::current_exception());
      return true;
    }
  }
  const std::lock_guard lock(mutex_);
  if (!callbacks_)
    callbacks_ = std::make_unique<host_worker>(0, true, host_worker::runs::callbacks);
  mark end = mark_of(number);
  if (!end) {
    end = std::make_shared<backend::cuda::event>(device_.index());
    gpu_->record(*end);
  }
  callbacks_->submit([](std::uint64_t, const auto&) {},
                     [task, end](const auto&) {
                       std::exception_ptr failure;
                       try {
                         end->synchronize();
                       } catch (...) {
                         failure = std::current_exception();
                       }
                       task(failure);
                     });
  return true;
}

// The end of launched work, or of later work; null if it is done or its end was not marked.
inline work_queue::mark work_queue::mark_of(std::uint64_t number) {
  const std::lock_guard flight(flight_mutex_);
  for (const launched& l : in_flight_) {
    if (l.number >= number) return l.end;
  }
  return nullptr;
}

// Into `done`, if there is one.
inline void work_queue::reap(std::vector<launched>* done) {
  std::vector<launched> here;
  std::vector<launched>& over = done != nullptr ? *done : here;
  const std::lock_guard flight(flight_mutex_);
  while (!in_flight_.empty() && in_flight_.front().end->has_succeeded()) {
    done_.store(in_flight_.front().number, std::memory_order_release);
    over.push_back(std::move(in_flight_.front()));
    in_flight_.pop_front();
  }
}

}  // namespace topos::detail
