// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A device's pool: memory that is given back is kept for the next tensor of that size.
///
/// Fresh memory costs more than most kernels that fill it (page faults on the CPU, a
/// synchronisation on a GPU), so blocks go to a list of their size class and come back from there.
/// Classes are multiples of 256 bytes up to 1 KiB, then four to a power of two, of whose blocks at
/// most a fifth is unused, then multiples of 2 MiB. What is kept and what is in use come to no more
/// than twice what was in use at once, or 1 GiB: beyond that all that is kept is given back.
///
/// Memory that nobody owns any more, but that work which is queued on the CPU yet uses, is lent to
/// what is queued behind it: a loop that runs ahead goes round in the memory of two of its steps.
///
/// Who enqueues work faster than a device does it would take memory for each of its results. Where
/// queued work may hold 256 MiB in more than four blocks, and none is free, it is waited for: after
/// that the blocks are free that it needed.

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <source_location>
#include <topos/backend/backend.hpp>
#include <topos/backend/room.hpp>
#include <topos/core/visibility.hpp>
#include <topos/device/device.hpp>
#include <topos/device/runtime.hpp>
#include <topos/memory/memory_stats.hpp>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

/// The memory of one device. All members may be called from any thread.
class pool {
 public:
  explicit pool(device d) : device_(d) {}

  [[nodiscard]] const device& where() const noexcept { return device_; }

  /// Rounds a size up to its class; sizes over 1 GiB are rounded to 2 MiB only.
  [[nodiscard]] static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    constexpr std::size_t huge = std::size_t{2} << 20;
    constexpr std::size_t large = std::size_t{1} << 30;
    if (bytes <= backend::alignment) return backend::alignment;
    const std::size_t step = bytes > large ? huge : std::bit_floor(bytes - 1) / 4;
    const std::size_t unit = std::max(step, backend::alignment);
    return (bytes + unit - 1) / unit * unit;
  }

  /// Memory of `bytes` (a class size). Waits for queued work where that holds much of it. Throws
  /// `out_of_memory` if the limit or the device is exhausted even after the cache was given back,
  /// and that work waited for.
  [[nodiscard]] void* allocate(std::size_t bytes, std::source_location where) {
    try {
      std::unique_lock lock(mutex_);
      if (is_far_ahead(bytes)) {
        lock.unlock();
        wait();
        lock.lock();
        settled_ = in_use();
      }
      return take(bytes, where);
    } catch (const out_of_memory&) {
      if (!wait()) throw;
    }
    const std::lock_guard lock(mutex_);
    return take(bytes, where);
  }

  /// Has `wait` wait for work that holds memory, where there is none left. It must not throw.
  void wait_by(std::function<void()> wait) {
    const std::lock_guard lock(mutex_);
    wait_ = std::move(wait);
  }

  /// Waits for queued work, which gives back what it holds. Says false where none is known of.
  bool wait() const {
    const auto wait = [&] {
      const std::lock_guard lock(mutex_);
      return wait_;
    }();
    if (wait) wait();
    return wait != nullptr;
  }

  /// A block without owners that queued work uses yet: what is enqueued in that work's queue later
  /// may write into it already.
  struct offer {
    void* data = nullptr;
    std::size_t bytes = 0;
    std::size_t queue = 0;
    bool open = false;   // it can be taken
    bool taken = false;  // the memory is another block's now
  };

  /// Offers a block to work that is enqueued in a queue.
  void lend(offer& o, std::size_t queue) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      offers_.push_back(&o);
      o.queue = queue;
      o.open = true;
    } catch (...) {  // no memory to remember it by: nobody takes it
    }
  }

  /// Memory of `bytes` (a class size) that work of a queue has to itself, once what is enqueued
  /// there by now is done; null if there is none. The last that was offered: it will be in a cache.
  [[nodiscard]] void* borrow(std::size_t bytes, std::size_t queue) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(offers_.rbegin(), offers_.rend(), [&](const offer* o) {
      return o->bytes == bytes && o->queue == queue;
    });
    if (found == offers_.rend()) return nullptr;
    offer& o = **found;
    offers_.erase(std::next(found).base());
    o.open = false;
    o.taken = true;
    return o.data;
  }

  /// Takes memory back. On devices with a queue of their own this is in queue order: whoever gets
  /// the block next uses it later in the same queue.
  void deallocate(void* pointer, std::size_t bytes, const offer& lent) noexcept {
    const std::lock_guard lock(mutex_);
    if (lent.taken) return;
    if (lent.open) std::erase(offers_, &lent);
    in_use_ -= bytes;
    --blocks_in_use_;
    try {
      if (!closed_) {
        free_[bytes].push_back(pointer);
        cached_ += bytes;
        return;
      }
    } catch (...) {  // no memory left to remember the block by: give it back instead
    }
    give_back(pointer, bytes);
  }

  void deallocate(void* pointer, std::size_t bytes) noexcept {
    deallocate(pointer, bytes, offer());
  }

  /// Gives cached memory back to the device.
  void empty_cache() noexcept {
    const std::lock_guard lock(mutex_);
    release_cache();
  }

  /// From now on keeps nothing: the runtime has ended.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    release_cache();
    closed_ = true;
  }

  /// Lets no other thread in until `unlock`.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  void set_limit(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
  }

  [[nodiscard]] memory_statistics statistics() const {
    const std::lock_guard lock(mutex_);
    return {in_use_, peak_, cached_, limit_};
  }

 private:
  struct blocks {
    std::size_t count = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] blocks in_use() const noexcept { return {blocks_in_use_, in_use_}; }

  // Whether queued work may hold too much to take fresh memory beside it: what has come into use
  // since it was waited for, or since less was in use.
  bool is_far_ahead(std::size_t bytes) {
    constexpr blocks few{4, std::size_t{256} << 20};
    settled_ = {std::min(settled_.count, blocks_in_use_), std::min(settled_.bytes, in_use_)};
    return in_use_ + bytes > settled_.bytes + few.bytes &&
           blocks_in_use_ > settled_.count + few.count && cached_blocks(bytes) == nullptr;
  }

  void* take(std::size_t bytes, std::source_location where) {
    if (limit_ != 0 && in_use_ + bytes > limit_) {
      throw out_of_memory(concat(device_, ": ", bytes, " bytes more than the ", in_use_,
                                 " in use would exceed the limit of ", limit_, " bytes"),
                          where);
    }
    void* pointer = take_cached(bytes);
    if (pointer == nullptr) {
      if (in_use_ + cached_ + bytes > most_held(bytes)) release_cache();
      pointer = take_fresh(bytes, where);
    }
    in_use_ += bytes;
    ++blocks_in_use_;
    peak_ = std::max(peak_, in_use_);
    return pointer;
  }

  // What may be in use and cached together, `bytes` more in use. Sizes that do not come again would
  // pile up else: a CPU hands memory out that it does not have.
  [[nodiscard]] std::size_t most_held(std::size_t bytes) const noexcept {
    constexpr std::size_t little = std::size_t{1} << 30;
    return limit_ != 0 ? limit_ : std::max(little, 2 * std::max(peak_, in_use_ + bytes));
  }

  // The free blocks of a size; null if there are none.
  [[nodiscard]] std::vector<void*>* cached_blocks(std::size_t bytes) noexcept {
    const auto found = free_.find(bytes);
    return found == free_.end() || found->second.empty() ? nullptr : &found->second;
  }

  void* take_cached(std::size_t bytes) noexcept {
    std::vector<void*>* const all = cached_blocks(bytes);
    if (all == nullptr) return nullptr;
    void* pointer = all->back();
    all->pop_back();
    cached_ -= bytes;
    return pointer;
  }

  void* take_fresh(std::size_t bytes, std::source_location where) {
    const auto ask = [&] {
      return backend::visit(device_.kind(),
                            [&](auto b) { return decltype(b)::allocate(device_.index(), bytes); });
    };
    try {
      return backend::ask_twice(ask, [&] { release_cache(); });
    } catch (const out_of_memory& failure) {
      throw out_of_memory(concat(failure.what(), "; ", in_use_, " bytes are in use"), where);
    }
  }

  void give_back(void* pointer, std::size_t bytes) noexcept {
    backend::visit(device_.kind(),
                   [&](auto b) { decltype(b)::deallocate(device_.index(), pointer, bytes); });
  }

  void release_cache() noexcept {
    for (auto& [bytes, blocks] : free_) {
      for (void* pointer : blocks) give_back(pointer, bytes);
    }
    free_.clear();
    cached_ = 0;
  }

  device device_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::vector<offer*> offers_;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::size_t cached_ = 0;
  std::size_t blocks_in_use_ = 0;
  blocks settled_;  // of those, what queued work did not hold when it was last waited for
  std::size_t limit_ = 0;
  bool closed_ = false;
  std::function<void()> wait_;
};

/// The pools of all devices; they outlive every tensor, static ones too.
class pools {
 public:
  [[nodiscard]] TOPOS_SHARED static pools& all() {
    static pools& registry = *new pools;  // never destroyed: tensors may outlive main
    return registry;
  }

  [[nodiscard]] pool& of(const device& d) {
    if (d == cpu()) return host_;
    const std::lock_guard lock(mutex_);
    const auto found = others_.find(d);
    if (found != others_.end()) return found->second;
    pool& made = others_.try_emplace(d, d).first->second;
    at_end(end_of::memory, [&made] { made.close(); });
    return made;
  }

 private:
  pools() {
    at_end(end_of::memory, [this] { host_.close(); });
    backend::gpu_room() = [](int gpu) { all().of(device(device_kind::cuda, gpu)).empty_cache(); };
    // A child finds them whole and open: what other threads are at then is not there to end.
    ::pthread_atfork([] { all().lock(); }, [] { all().unlock(); }, [] { all().unlock(); });
  }

  void lock() {
    mutex_.lock();
    host_.lock();
    for (auto& [place, each] : others_) each.lock();
  }
  void unlock() {
    for (auto& [place, each] : others_) each.unlock();
    host_.unlock();
    mutex_.unlock();
  }

  pool host_{cpu()};  // which all ask for: found without the lock
  std::mutex mutex_;
  std::map<device, pool> others_;
};

[[nodiscard]] inline pool& pool_of(const device& d) { return pools::all().of(d); }

}  // namespace detail

/// What a device's memory holds.
[[nodiscard]] inline memory_statistics memory_stats(const device& d) {
  return detail::pool_of(d).statistics();
}

/// Bounds what tensors on a device may hold, in bytes; 0 takes the bound away. What is in use
/// already stays; an allocation over the bound waits for queued work that holds memory of the
/// device, and throws `out_of_memory` if that was not enough.
inline void set_memory_limit(const device& d, std::size_t bytes) {
  detail::pool_of(d).set_limit(bytes);
}

/// Gives memory that is kept for tensors to come back to the device.
inline void empty_cache(const device& d) { detail::pool_of(d).empty_cache(); }

}  // namespace topos
