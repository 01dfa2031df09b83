// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queues of all devices.

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <topos/async/work_queue.hpp>
#include <topos/core/visibility.hpp>
#include <topos/memory/pool.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace topos::detail {

/// Makes queues when they are asked for, finds them by their tickets, and ends them with Kokkos.
class queues {
 public:
  [[nodiscard]] TOPOS_SHARED static queues& all() {
    static queues& registry = *new queues;  // never destroyed: see pool_of
    return registry;
  }

  /// The queue whose ticket this is; null if it has ended: then all its work is done.
  [[nodiscard]] std::shared_ptr<work_queue> find(const ticket& t) {
    const std::lock_guard lock(mutex_);
    return t.queue() < slots_.size() ? slots_[t.queue()].queue : nullptr;
  }

  /// The queues of a device that there are.
  [[nodiscard]] std::vector<std::shared_ptr<work_queue>> on(const device& d) {
    std::vector<std::shared_ptr<work_queue>> found = there_are();
    std::erase_if(found, [&](const auto& q) { return q->where() != d; });
    return found;
  }

  /// Those whose work may use a device's memory: its own, and those that copy between devices.
  [[nodiscard]] std::vector<std::shared_ptr<work_queue>> that_use(const device& d) {
    std::vector<std::shared_ptr<work_queue>> found = on(d);
    const std::lock_guard lock(mutex_);
    for (const auto& [place, own] : of_) {
      for (const std::size_t id : own.transfers) {
        if (place != d && id != none) found.push_back(slots_[id].queue);
      }
    }
    return found;
  }

  /// The first queue of a device; throws `runtime_not_started` outside of the runtime's life.
  [[nodiscard]] work_queue& first(const device& d, std::source_location where) {
    require_runtime(where);
    if (d.kind() == device_kind::cpu) {
      if (work_queue* q = cpu_.load(std::memory_order_acquire)) return *q;
    }
    const std::lock_guard lock(mutex_);
    require_runtime(where);
    return first(d);
  }

  /// A queue beside the first one, for one owner until `give_back`.
  [[nodiscard]] std::shared_ptr<work_queue> lend(const device& d, std::source_location where) {
    std::unique_lock lock(mutex_);
    work_queue& before = share_first(lock, d, where);
    ids& own = of_[d];
    std::shared_ptr<work_queue> q;
    if (own.idle.empty()) {
      q = join(std::make_shared<work_queue>(d, new_slot(), true), before);
    } else {
      q = join(slots_[own.idle.back()].queue, before);
      own.idle.pop_back();
    }
    ++own.lent;
    return q;
  }

  /// The queue on which a GPU's copies to the host run, or those from it: what comes is not to wait
  /// for what leaves, which waits for its computation.
  [[nodiscard]] work_queue& transfers(const device& d, bool to_host, std::source_location where) {
    std::unique_lock lock(mutex_);
    require_runtime(where);
    std::size_t& id = of_[d].transfers[to_host ? 1 : 0];
    if (id == none) {
      work_queue& before = share_first(lock, d, where);
      if (id == none) id = join(std::make_shared<work_queue>(d, new_slot(), true), before)->id();
    }
    return *slots_[id].queue;
  }

  /// A queue on the user's execution-space instance, until `give_back`.
  template <backend::execution_space Space>
  [[nodiscard]] std::shared_ptr<work_queue> adopt(const Space& space, device d,
                                                  std::source_location where) {
    std::unique_lock lock(mutex_);
    work_queue& before = share_first(lock, d, where);
    const std::size_t id = free_slot();
    auto q = join(std::make_shared<work_queue>(space, d, id, slots_[id].done), before);
    adopted_.push_back(id);
    ++of_[d].lent;
    return q;
  }

  /// Ends an owner's use of a queue. One on the user's instance ends, once its work is done.
  void give_back(std::shared_ptr<work_queue> q) {
    const bool adopted = [&] {
      const std::lock_guard lock(mutex_);
      return std::erase(adopted_, q->id()) != 0;
    }();
    if (adopted) {
      try {
        q->finish();
      } catch (...) {  // told by the tensors that failed
      }
    }
    const std::lock_guard lock(mutex_);
    if (q->id() >= slots_.size() || slots_[q->id()].queue != q) return;  // the runtime has ended
    ids& own = of_[q->where()];
    if (adopted)
      slots_[q->id()] = {nullptr, q->submitted()};
    else
      own.idle.push_back(q->id());
    --own.lent;
    leave_alone(own);
  }

 private:
  struct slot {
    std::shared_ptr<work_queue> queue;
    std::uint64_t done = 0;  // numbers that an id's former queues gave
  };

  static constexpr std::size_t none = ticket::most_queues;
  // The queues of a device.
  struct ids {
    std::size_t first = none;
    std::array<std::size_t, 2> transfers{none, none};  // from the host, and to it
    std::vector<std::size_t> idle{};                   // to be lent again
    int lent = 0;
  };

  queues() {
    // Who holds this lock may ask for a pool's: to fork takes them in that order, which is the
    // reverse of that in which they ask to.
    std::ignore = pools::all();
    // A child finds the lock open, and knows what it is.
    ::pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); },
                     [] { all().mutex_.unlock(); });
    note_forks();
  }

  // All that follow are called with the lock.

  work_queue& first(const device& d) {
    ids& own = of_[d];
    if (own.first != none) return *slots_[own.first].queue;
    const std::size_t id = new_slot();
    auto made = std::make_shared<work_queue>(d, id, false);
    slots_[id].queue = made;
    own.first = id;
    if (d.kind() == device_kind::cpu) cpu_.store(made.get(), std::memory_order_release);
    drain_for_memory(d);
    return *made;
  }

  // The first queue, which has others from now on. That waits for what it is launching, which may
  // need the lock: it is let go of meanwhile.
  work_queue& share_first(std::unique_lock<std::mutex>& lock, const device& d,
                          std::source_location where) {
    require_runtime(where);
    const std::shared_ptr<work_queue> q = slots_[first(d).id()].queue;
    struct pause {
      pause(std::unique_lock<std::mutex>& l, int& n) : lock(l), lent(n) {
        ++lent;  // so that it stays shared
        lock.unlock();
      }
      ~pause() {
        lock.lock();
        --lent;
      }
      std::unique_lock<std::mutex>& lock;
      int& lent;
    };
    {
      const pause without(lock, of_[d].lent);
      q->share();
    }
    require_runtime(where);
    return *q;
  }

  std::shared_ptr<work_queue> join(std::shared_ptr<work_queue> made, work_queue& before) {
    made->after(before);
    return slots_[made->id()].queue = std::move(made);
  }

  // Queued work holds its memory: who asks for it faster than a device computes has to wait. On the
  // CPU not who works a queue off: for that others may wait.
  void drain_for_memory(const device& d) {
    pool_of(d).wait_by([this, d] {
      if (d.kind() != device_kind::cpu || !host_worker::works_here()) drain(d);
    });
  }

  // Without the lock.
  void drain(const device& d) {
    for (const std::shared_ptr<work_queue>& q : that_use(d)) {
      try {
        q->drain();
      } catch (...) {  // told by the tensors that failed
      }
    }
  }

  // Lets a device's first queue be its only one again, if no other is used any more.
  void leave_alone(const ids& own) {
    if (own.lent > 0 || own.transfers != ids{}.transfers) return;
    for (const std::size_t id : own.idle) {
      if (!slots_[id].queue->is_done(slots_[id].queue->submitted())) return;
    }
    slots_[own.first].queue->unshare();
  }

  // For an adopted queue, which goes on with the numbers of the one that had the id before.
  std::size_t free_slot() {
    for (std::size_t id = 0; id < slots_.size(); ++id) {
      if (!slots_[id].queue) return id;
    }
    return new_slot();
  }

  // For a queue of topos' own, whose numbers begin at 1: one that tensors have tickets of would
  // have them wait.
  std::size_t new_slot() {
    if (slots_.empty()) at_end(end_of::queues, [this] { end(); });
    if (slots_.size() == ticket::most_queues) throw not_supported("too many queues");
    slots_.emplace_back();
    return slots_.size() - 1;
  }

  // Without the lock.
  [[nodiscard]] std::vector<std::shared_ptr<work_queue>> there_are() {
    std::vector<std::shared_ptr<work_queue>> found;
    const std::lock_guard lock(mutex_);
    for (const slot& s : slots_) {
      if (s.queue) found.push_back(s.queue);
    }
    return found;
  }

  // Without the lock, but for what is asked of it: queued work may ask for its queue.
  void end() {
    if (forked()) return;  // their threads are not here to end
    // What is queued may fill others, and make new ones: hence twice.
    for (int again = 0; again < 2; ++again) {
      for (const std::shared_ptr<work_queue>& q : there_are()) {
        try {
          q->finish();
        } catch (...) {  // told by the tensors that failed
        }
      }
    }
    {
      const std::lock_guard lock(mutex_);
      ended() = true;  // what follows yet is refused new queues
      cpu_.store(nullptr, std::memory_order_release);
    }
    for (const std::shared_ptr<work_queue>& q : there_are()) q->end();
    const std::lock_guard lock(mutex_);
    over_.swap(slots_);
    for (auto& [place, own] : of_) own = {.lent = own.lent};
    adopted_.clear();
  }

  std::mutex mutex_;
  std::vector<slot> slots_;
  std::vector<slot> over_;  // ended, but kept: a thread may yet come with work, which is refused
  std::map<device, ids> of_;
  std::vector<std::size_t> adopted_;
  std::atomic<work_queue*> cpu_{nullptr};
};

/// Blocks until the work of a ticket is done. Throws what its device reports.
inline void wait_for(const ticket& t) {
  if (t.value == 0) return;
  if (const std::shared_ptr<work_queue> q = queues::all().find(t)) q->wait(t.number());
}

/// True once the work of a ticket is done.
[[nodiscard]] inline bool is_done(const ticket& t) {
  if (t.value == 0) return true;
  const std::shared_ptr<work_queue> q = queues::all().find(t);
  return !q || q->is_done(t.number());
}

inline void work_queue::wait_for(const backend::host::stream& /*stream*/, const ticket& t) {
  detail::wait_for(t);
}

inline void work_queue::wait_for(const backend::cuda::stream& stream, const ticket& t) {
  const std::shared_ptr<work_queue> q = queues::all().find(t);
  if (!q) return;
  if (!q->gpu_ || q->is_done(t.number())) return q->wait(t.number());
  mark end = q->mark_of(t.number());
  if (!end) {  // of a GPU that had no further queue: what it was given by now comes first
    end = std::make_shared<backend::cuda::event>(q->device_.index());
    q->gpu_->record(*end);
  }
  stream.wait(*end);
}

inline std::vector<ticket> work_queue::tickets_of(const std::vector<buffer>& reads,
                                                  const std::vector<buffer>& writes) {
  std::vector<ticket> found;
  for (const std::vector<buffer>* all : {&reads, &writes}) {
    for (const buffer& b : *all) {
      if (b.ticket() != 0) found.push_back({b.ticket()});
    }
  }
  return found;
}

inline std::vector<ticket> work_queue::pending_elsewhere(const std::vector<buffer>& reads,
                                                         const std::vector<buffer>& writes) const {
  std::vector<ticket> found;
  for (const std::vector<buffer>* all : {&reads, &writes}) {
    for (const buffer& b : *all) {
      const ticket t{b.ticket()};
      if (t.value == 0 || t.queue() == id_) continue;
      // What has failed counts as pending: whoever waits for it is told.
      const std::shared_ptr<work_queue> q = queues::all().find(t);
      if (q && !q->has_succeeded(t.number())) found.push_back(t);
    }
  }
  return found;
}

inline void work_queue::drain_readers(const buffer& b) const {
  if (!b.is_held()) return;
  for (const std::shared_ptr<work_queue>& q : queues::all().on(device_)) {
    if (b.is_read_by(q->id())) q->drain();
  }
}

/// A queue that somebody was lent; the last one gives it back.
struct queue_lease {
  explicit queue_lease(const std::shared_ptr<work_queue>& q) : queue(q) {}
  ~queue_lease() {
    if (std::shared_ptr<work_queue> q = queue.lock()) queues::all().give_back(std::move(q));
  }
  queue_lease(const queue_lease&) = delete;
  queue_lease& operator=(const queue_lease&) = delete;

  std::weak_ptr<work_queue> queue;  // which ends with the runtime
};

/// A queue that a thread's work on its device goes to, and the choice around it.
struct chosen_queue {
  device where;
  std::shared_ptr<queue_lease> lease;
  const chosen_queue* outer;
};

/// The innermost choice of this thread.
[[nodiscard]] TOPOS_SHARED inline const chosen_queue*& chosen() noexcept {
  thread_local const chosen_queue* innermost = nullptr;
  return innermost;
}

/// The queue that this thread's work on a device goes to. Throws `runtime_not_started` outside of
/// the runtime's life.
[[nodiscard]] inline work_queue& queue_of(const device& d, std::source_location where) {
  for (const chosen_queue* c = chosen(); c != nullptr; c = c->outer) {
    if (c->where != d) continue;
    require_runtime(where);
    return *c->lease->queue.lock();
  }
  return queues::all().first(d, where);
}

/// Whether work that this thread enqueues now may write into memory, and nobody sees the
/// difference: nobody but `owners` that know of it. Throws `runtime_not_started` outside of the
/// runtime's life.
[[nodiscard]] inline bool may_overwrite(const buffer& b, std::source_location where,
                                        std::size_t owners = 1) {
  if (!b.has_owners(owners)) return false;
  if (!b.is_held()) return true;
  const std::size_t own = queue_of(b.where(), where).id();
  if (!b.is_read_beside(own)) return true;
  for (const std::shared_ptr<work_queue>& q : queues::all().that_use(b.where())) q->reap();
  return !b.is_read_beside(own);
}

}  // namespace topos::detail
