// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queues beside a device's own, for work that may overlap.

#include <memory>
#include <source_location>
#include <topos/async/queues.hpp>
#include <topos/device/default_device.hpp>
#include <utility>

namespace topos {

/// An in-order queue of work on a device, beside the one that it has anyway: work of different
/// queues may overlap. Cheap to copy; copies are the same queue. See queue_scope.
///
/// Tensors may be computed in one queue and used in another: the work that uses them waits for the
/// work that computes them, and for nothing else. Writing into one that another queue still reads
/// takes new memory.
///
/// On the CPU the device's own queue has all cores, and a further one has a thread on one core
/// (what runs there gives the same bits). On a GPU each is a stream.
class queue {
 public:
  /// Throws `runtime_not_started` outside of the runtime's life.
  explicit queue(topos::device d = default_device::current(),
                 std::source_location where = std::source_location::current())
      : queue(d, detail::queues::all().lend(d, where)) {}

  /// A queue that launches on an execution-space instance of Kokkos that is the user's, such as
  /// one on a stream of theirs: in order with what they launch there themselves. The instance has
  /// to work until the last copy of the queue is gone, which waits for its work.
  ///
  /// On the CPU, work in it runs on the calling thread, before the call returns.
  template <backend::execution_space Space>
  [[nodiscard]] static queue adopt(const Space& instance,
                                   std::source_location where = std::source_location::current()) {
    using own = backend::backend_of<Space>;
    const topos::device d(own::kind, own::index_of(instance), where);
    return queue(d, detail::queues::all().adopt(instance, d, where));
  }

  [[nodiscard]] topos::device device() const noexcept { return device_; }

  /// Blocks until all that was enqueued here so far is done. What failed is told by the tensors
  /// that it should have computed. Throws what the device itself reports, and `error` inside of
  /// queued work.
  void block_until_ready() const {
    if (const auto q = lease_->queue.lock()) q->drain();
  }

  /// True once all that was enqueued here so far is done.
  [[nodiscard]] bool is_ready() const {
    const auto q = lease_->queue.lock();
    return !q || q->is_done(q->submitted());
  }

  /// The handle of the queue itself, for scopes.
  [[nodiscard]] const std::shared_ptr<detail::queue_lease>& lease() const noexcept {
    return lease_;
  }

  friend bool operator==(const queue&, const queue&) = default;

 private:
  queue(topos::device d, const std::shared_ptr<detail::work_queue>& q)
      : device_(d), lease_(std::make_shared<detail::queue_lease>(q)) {}

  topos::device device_;
  std::shared_ptr<detail::queue_lease> lease_;
};

namespace detail {

/// Memory for elements of a size that work which this thread enqueues next writes, before anything
/// else uses it. On the CPU it may be lent by work that is queued before; what may run at once has
/// its own.
[[nodiscard]] inline buffer room_for_work(const device& d, std::size_t bytes, std::size_t each,
                                          std::source_location where) {
  if (d.kind() == device_kind::cpu && bytes >= buffer::least_lent &&
      bytes / each > backend::host::stream::small_work && in_place_scopes() == 0 &&
      !host_worker::works_here()) {
    return buffer::for_work(d, bytes, queue_of(d, where).id(), where);
  }
  return buffer(d, bytes, where);
}

}  // namespace detail
}  // namespace topos
