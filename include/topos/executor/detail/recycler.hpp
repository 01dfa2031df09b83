// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory for objects of one kind that come and go.

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <topos/executor/detail/quick_lock.hpp>
#include <utility>

namespace topos::detail {

/// Keeps blocks that were given back for whoever needs one of the same size next: once as many are
/// there as are ever used at a time, nothing is allocated any more.
///
/// Its owner, whose part it is and which a shared_ptr holds, lives as long as any block is out:
/// what is in them may refer to it, and need not count that on a cache line which all threads would
/// write. An owner that holds what is in its blocks has to let go of it before it is forgotten.
template <class Owner>
class recycler {
 public:
  explicit recycler(Owner& owner) : owner_(owner) {}
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
        count();
        return block;
      }
    }
    void* const made = ::operator new(bytes < sizeof(link) ? sizeof(link) : bytes, align);
    const auto lock = locked_quickly(mutex_);
    count();
    return made;
  }

  void give(void* block, std::size_t bytes) noexcept {
    std::shared_ptr<Owner> last;  // let go when the lock is
    const auto lock = locked_quickly(mutex_);
    if (bytes == size_)
      free_ = ::new (block) link{free_};
    else
      ::operator delete(block, align);
    if (--out_ == 0) last = std::move(held_);
  }

 private:
  struct link {
    link* next;
  };
  static constexpr std::align_val_t align{64};

  // One more is out; under the lock.
  void count() {
    if (out_++ == 0) held_ = owner_.shared_from_this();
  }

  Owner& owner_;
  std::mutex mutex_;
  link* free_ = nullptr;
  std::size_t size_ = 0;
  std::size_t out_ = 0;          // blocks
  std::shared_ptr<Owner> held_;  // while there are some
};

/// For std::allocate_shared.
template <class T, class Owner>
struct recycling_allocator {
  using value_type = T;

  explicit recycling_allocator(recycler<Owner>& kept) noexcept : from(&kept) {}
  template <class U>
  recycling_allocator(const recycling_allocator<U, Owner>& other) noexcept : from(other.from) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64,
                  "topos: items, results and parameters of an executor are aligned to 64 bytes at "
                  "most; put one that needs more behind a pointer");
    return static_cast<T*>(from->take(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { from->give(block, count * sizeof(T)); }

  friend bool operator==(const recycling_allocator& a, const recycling_allocator& b) noexcept {
    return a.from == b.from;
  }

  recycler<Owner>* from;
};

}  // namespace topos::detail
