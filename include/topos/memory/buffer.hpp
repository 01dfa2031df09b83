// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory on a device, shared by whoever needs it: tensors, expressions and queued work.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <topos/device/device.hpp>
#include <topos/memory/pool.hpp>

namespace topos {

/// A reference to a block of device memory: cheap to copy, the last one gives the block back.
///
/// A buffer also carries what the queue needs to know of its content: the ticket of the work that
/// writes it, and what that work failed with.
class buffer {
 public:
  /// No memory.
  buffer() = default;

  /// At least `bytes` bytes on `d`, aligned to backend::alignment, with any content. Throws
  /// `out_of_memory`, and `runtime_not_started` outside of the runtime's life.
  buffer(device d, std::size_t bytes, std::source_location where = std::source_location::current())
      : block_(allocate(d, bytes, where)) {}

  /// The device whose memory this is.
  [[nodiscard]] device where() const noexcept { return block_ ? block_->owner->where() : device(); }

  /// The first byte; of use on its device, and only to queued work or once that is done.
  [[nodiscard]] void* data() const noexcept { return block_ ? block_->data : nullptr; }

  /// Bytes that may be used.
  [[nodiscard]] std::size_t size() const noexcept { return block_ ? block_->bytes : 0; }

  /// How many references there are.
  [[nodiscard]] long use_count() const noexcept { return block_.use_count(); }

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
  struct block {
    block(detail::pool* p, void* d, std::size_t b) noexcept : owner(p), data(d), bytes(b) {}
    ~block() { owner->deallocate(data, bytes); }
    block(const block&) = delete;
    block& operator=(const block&) = delete;

    detail::pool* owner;
    void* data;
    std::size_t bytes;
    std::atomic<std::uint64_t> ticket{0};
    std::exception_ptr poison;
  };

  static std::shared_ptr<block> allocate(device d, std::size_t bytes, std::source_location where) {
    detail::require_runtime(where);
    detail::pool& pool = detail::pool_of(d);
    const std::size_t rounded = detail::pool::class_of(bytes);
    void* data = pool.allocate(rounded, where);
    try {
      return std::make_shared<block>(&pool, data, rounded);
    } catch (...) {
      pool.deallocate(data, rounded);
      throw;
    }
  }

  std::shared_ptr<block> block_;
};

}  // namespace topos
