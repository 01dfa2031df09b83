// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory on a device, shared by whoever needs it: tensors, expressions and queued work.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <topos/device/device.hpp>
#include <topos/memory/pool.hpp>
#include <utility>
#include <vector>

namespace topos {

/// A reference to a block of device memory: cheap to copy, the last one gives the block back.
///
/// A buffer also carries what the queue needs to know of its content: the ticket of the work that
/// writes it, and what that work failed with.
///
/// Every buffer is an owner of its block. Work that is queued holds blocks without owning them
/// (`holds`), so that who owns a block alone may let later work of the same queue write into it.
class buffer {
 public:
  class holds;

  /// No memory.
  buffer() = default;

  /// At least `bytes` bytes on `d`, aligned to backend::alignment, with any content. Throws
  /// `out_of_memory`, and `runtime_not_started` outside of the runtime's life.
  buffer(device d, std::size_t bytes, std::source_location where = std::source_location::current())
      : block_(allocate(d, bytes, where)) {}

  /// Memory on `d` that another made; memory_stats does not count it. It has to stay as it is
  /// until `keeper` is released, which the last reference does, on any thread, once no work uses
  /// the memory any more; releasing must not throw. It may have any alignment.
  [[nodiscard]] static buffer adopt(device d, void* data, std::size_t bytes,
                                    std::shared_ptr<void> keeper) {
    return buffer(new block(d, nullptr, data, bytes, std::move(keeper), false));
  }

  /// The same of memory that nobody may write to: it is never unique.
  [[nodiscard]] static buffer adopt(device d, const void* data, std::size_t bytes,
                                    std::shared_ptr<void> keeper) {
    return buffer(new block(d, nullptr, const_cast<void*>(data), bytes, std::move(keeper), true));
  }

  buffer(const buffer& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(owner, std::memory_order_relaxed);
  }
  buffer(buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  buffer& operator=(buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~buffer() { release(block_, owner); }

  /// The device whose memory this is.
  [[nodiscard]] device where() const noexcept { return block_ ? block_->place : device(); }

  /// The first byte; of use on its device, and only to queued work or once that is done.
  [[nodiscard]] void* data() const noexcept { return block_ ? block_->data : nullptr; }

  /// Bytes that may be used.
  [[nodiscard]] std::size_t size() const noexcept { return block_ ? block_->bytes : 0; }

  /// How many references there are, those of queued work too.
  [[nodiscard]] long use_count() const noexcept {
    return static_cast<long>(references() & references_mask);
  }

  /// True if this is the only owner of memory that may be written: work that is enqueued on its
  /// device now may write into it, and nobody sees the difference.
  [[nodiscard]] bool is_unique() const noexcept {
    return references() >> owners_shift == 1 && !block_->read_only;
  }

  /// True while work is queued that needs the memory.
  [[nodiscard]] bool is_held() const noexcept {
    const std::uint64_t now = references();
    return (now & references_mask) != now >> owners_shift;
  }

  /// The ticket of the last queued work that writes this; 0: none, the content is there.
  [[nodiscard]] std::uint64_t ticket() const noexcept {
    return block_ ? block_->ticket.load(std::memory_order_acquire) : 0;
  }
  void set_ticket(std::uint64_t ticket) const noexcept {
    block_->ticket.store(ticket, std::memory_order_release);
  }

  /// What the work that writes this failed with; may be read once that work is done.
  [[nodiscard]] std::exception_ptr poison() const noexcept {
    return block_ ? block_->poison : nullptr;
  }
  void set_poison(std::exception_ptr failure) const noexcept {
    block_->poison = std::move(failure);
  }

  friend bool operator==(const buffer&, const buffer&) = default;

 private:
  // A block's one counter: all references in its lower half, the owners among them in its upper.
  static constexpr unsigned owners_shift = 32;
  static constexpr std::uint64_t references_mask = 0xffffffff;
  static constexpr std::uint64_t reference = 1;
  static constexpr std::uint64_t ownership = std::uint64_t{1} << owners_shift;
  static constexpr std::uint64_t owner = reference | ownership;

  struct block {
    block(device where, detail::pool* from, void* d, std::size_t b, std::shared_ptr<void> k,
          bool constant) noexcept
        : place(where), pool(from), data(d), bytes(b), keeper(std::move(k)), read_only(constant) {}
    ~block() {
      if (pool != nullptr) {
        pool->deallocate(data, bytes);
      } else if (keeper) {
        // Launched work may still use it, and what releases it knows nothing of our queue.
        backend::visit(place.kind(), [&](auto b) { decltype(b)::finish(place.index()); });
      }
    }
    block(const block&) = delete;
    block& operator=(const block&) = delete;

    device place;
    detail::pool* pool;  // null: the memory is another's
    void* data;
    std::size_t bytes;
    std::shared_ptr<void> keeper;
    bool read_only;
    std::atomic<std::uint64_t> references{owner};
    std::atomic<std::uint64_t> ticket{0};
    std::exception_ptr poison;
  };

  explicit buffer(block* made) noexcept : block_(made) {}

  // Acquires what owners that are gone did before they went.
  [[nodiscard]] std::uint64_t references() const noexcept {
    return block_ ? block_->references.load(std::memory_order_acquire) : 0;
  }

  static void release(block* b, std::uint64_t kind) noexcept {
    if (b == nullptr) return;
    // The last reference need not count down: nobody is left to count with it.
    if (b->references.load(std::memory_order_acquire) == kind ||
        (b->references.fetch_sub(kind, std::memory_order_acq_rel) & references_mask) == reference) {
      delete b;
    }
  }

  static block* allocate(device d, std::size_t bytes, std::source_location where) {
    detail::require_runtime(where);
    detail::pool& pool = detail::pool_of(d);
    const std::size_t rounded = detail::pool::class_of(bytes);
    void* data = pool.allocate(rounded, where);
    try {
      return new block(d, &pool, data, rounded, nullptr, false);
    } catch (...) {
      pool.deallocate(data, rounded);
      throw;
    }
  }

  block* block_ = nullptr;
};

/// Buffers as queued work keeps them: their memory, and what the queue needs to know of it.
class buffer::holds {
 public:
  /// Takes the buffers' places, as an owner for now.
  explicit holds(std::vector<buffer>&& all) noexcept : all_(std::move(all)) {}
  holds(holds&& other) noexcept
      : all_(std::move(other.all_)), disowned_(std::exchange(other.disowned_, std::nullopt)) {}
  holds& operator=(holds&&) = delete;
  ~holds() {
    if (!disowned_) return;
    for (buffer& b : all_) {
      if (b.where() == *disowned_) release(std::exchange(b.block_, nullptr), reference);
    }
  }

  /// Stops owning the memory on a device, and keeps it. To be called once, where the work can no
  /// longer be overtaken by work that an owner enqueues from now on.
  void disown(device d) noexcept {
    for (const buffer& b : all_) {
      if (b.block_ != nullptr && b.where() == d)
        b.block_->references.fetch_sub(ownership, std::memory_order_release);
    }
    disowned_ = d;
  }

  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

 private:
  std::vector<buffer> all_;
  std::optional<device> disowned_;  // of which memory is no longer owned
};

/// Adds a buffer to others, if it is not among them.
inline void add_buffer(std::vector<buffer>& all, const buffer& b) {
  if (std::find(all.begin(), all.end(), b) == all.end()) all.push_back(b);
}

}  // namespace topos
