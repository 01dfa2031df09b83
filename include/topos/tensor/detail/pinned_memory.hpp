// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Host memory that GPUs copy from and to by themselves.

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <topos/backend/backend.hpp>
#include <topos/backend/room.hpp>
#include <topos/core/visibility.hpp>
#include <topos/memory/buffer.hpp>
#include <topos/memory/pool.hpp>
#include <vector>

namespace topos::detail {

/// Pinned memory by size class. Pinning costs far more than copying, so that blocks are kept until
/// the runtime ends.
class pinned_memory {
 public:
  /// Buffers of more bytes are not pinned: what is pinned the system cannot use otherwise.
  static constexpr std::size_t largest = std::size_t{256} << 20;

  [[nodiscard]] TOPOS_SHARED static pinned_memory& all() {
    static pinned_memory& cache = *new pinned_memory;  // never destroyed: see pool_of
    return cache;
  }

  /// At least `bytes` bytes with any content, for copies from or to a GPU. The last reference gives
  /// them back, once no work uses them.
  [[nodiscard]] buffer allocate(const device& gpu, std::size_t bytes) {
    const std::size_t size = pool::class_of(bytes);
    void* data = take(gpu.index(), size);
    return buffer::adopt(cpu(), data, size, std::shared_ptr<void>(data, [this, size](void* p) {
                           give_back(p, size);
                         }));
  }

 private:
  pinned_memory() {
    at_end(end_of::memory, [this] {
      const std::lock_guard lock(mutex_);
      release_cache();
      closed_ = true;
    });
    // A child may let go of what lies here.
    ::pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); },
                     [] { all().mutex_.unlock(); });
  }

  void* take(int gpu, std::size_t size) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<void*>& blocks = free_[size];
      if (!blocks.empty()) {
        void* data = blocks.back();
        blocks.pop_back();
        return data;
      }
    }
    return backend::ask_twice([&] { return backend::cuda::allocate_pinned(gpu, size); },
                              [&] {
                                const std::lock_guard lock(mutex_);
                                release_cache();
                              });
  }

  // The lock is held.
  void release_cache() noexcept {
    for (const auto& [size, blocks] : free_) {
      std::for_each(blocks.begin(), blocks.end(), backend::cuda::deallocate_pinned);
    }
    free_.clear();
  }

  void give_back(void* data, std::size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      if (!closed_) return free_[size].push_back(data);
    } catch (...) {  // no memory left to remember the block by
    }
    backend::cuda::deallocate_pinned(data);
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  bool closed_ = false;
};

}  // namespace topos::detail
