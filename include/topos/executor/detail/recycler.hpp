// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory for objects of one kind that come and go.

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <topos/executor/detail/quick_lock.hpp>

namespace topos::detail {

/// Keeps blocks that were given back for whoever needs one of the same size next: once as many are
/// there as are ever used at a time, nothing is allocated any more.
class recycler {
 public:
  recycler() = default;
  recycler(const recycler&) = delete;
  recycler& operator=(const recycler&) = delete;

  ~recycler() {
    while (free_ != nullptr) {
      void* const block = free_;
      free_ = free_->next;
      ::operator delete(block, align);
    }
  }

  /// The first call sets the size; of another size nothing is kept.
  [[nodiscard]] void* take(std::size_t bytes) {
    {
      const auto lock = locked_quickly(mutex_);
      if (size_ == 0) size_ = bytes;
      if (bytes == size_ && free_ != nullptr) {
        void* const block = free_;
        free_ = free_->next;
        return block;
      }
    }
    return ::operator new(bytes < sizeof(link) ? sizeof(link) : bytes, align);
  }

  void give(void* block, std::size_t bytes) noexcept {
    {
      const auto lock = locked_quickly(mutex_);
      if (bytes == size_) {
        free_ = ::new (block) link{free_};
        return;
      }
    }
    ::operator delete(block, align);
  }

 private:
  struct link {
    link* next;
  };
  static constexpr std::align_val_t align{64};

  std::mutex mutex_;
  link* free_ = nullptr;
  std::size_t size_ = 0;
};

/// For std::allocate_shared.
template <class T>
struct recycling_allocator {
  using value_type = T;

  explicit recycling_allocator(std::shared_ptr<recycler> kept) noexcept : from(std::move(kept)) {}
  template <class U>
  recycling_allocator(const recycling_allocator<U>& other) noexcept : from(other.from) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64);
    return static_cast<T*>(from->take(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { from->give(block, count * sizeof(T)); }

  friend bool operator==(const recycling_allocator& a, const recycling_allocator& b) noexcept {
    return a.from == b.from;
  }

  std::shared_ptr<recycler> from;
};

}  // namespace topos::detail
