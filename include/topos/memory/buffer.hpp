// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory on a device, shared by whoever needs it: tensors, expressions and queued work.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <topos/device/device.hpp>
#include <topos/memory/pool.hpp>
#include <topos/memory/ticket.hpp>
#include <utility>
#include <vector>

namespace topos {

/// A reference to a block of device memory: cheap to copy, the last one gives the block back.
///
/// A buffer also carries what the queue needs to know of its content: the ticket of the work that
/// writes it, and what that work failed with.
///
/// Every buffer is an owner of its block. Work that is queued holds blocks without owning them
/// (`holds`), and the block knows which queue still reads it: who owns a block alone may let later
/// work of that queue write into it.
class buffer {
 public:
  class holds;

  /// No memory.
  buffer() = default;

  /// At least `bytes` bytes on `d`, aligned to backend::alignment, with any content. Throws
  /// `out_of_memory`, and `runtime_not_started` outside of the runtime's life.
  buffer(device d, std::size_t bytes, std::source_location where = std::source_location::current())
      : block_(allocate(d, bytes, where)) {}

  /// The same for work that this thread enqueues next in a CPU's in-order queue, and that writes it
  /// all before anything else uses it: it may be what work that is enqueued there uses yet.
  [[nodiscard]] static buffer for_work(device d, std::size_t bytes, std::size_t queue,
                                       std::source_location where) {
    return buffer(allocate(d, bytes, where, queue));
  }

  /// Smaller memory is not worth to be lent.
  static constexpr std::size_t least_lent = std::size_t{128} << 10;

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
    const std::uint64_t now = references();
    return static_cast<long>(owners_in(now) + held_in(now));
  }

  /// True if memory that may be written has so many owners, of which this is one.
  [[nodiscard]] bool has_owners(std::size_t count) const noexcept {
    return block_ != nullptr && owners_in(references()) == count && !block_->read_only;
  }

  /// True if this is the only owner of memory that may be written.
  [[nodiscard]] bool is_unique() const noexcept { return has_owners(1); }

  /// True if the memory is topos' own: no other's name leads to it.
  [[nodiscard]] bool is_own() const noexcept {
    return block_ != nullptr && block_->pool != nullptr;
  }

  /// True while work is queued that needs the memory.
  [[nodiscard]] bool is_held() const noexcept { return held_in(references()) != 0; }

  /// True while work of a queue may read what is there now: what it read before the last work that
  /// writes the memory is done when that is.
  [[nodiscard]] bool is_read_by(std::size_t queue) const noexcept {
    const std::uint64_t reader = reader_in(references());
    return reader != no_reader && (reader == reader_of(queue) || reader == several_readers);
  }

  /// The same of any other queue than this one.
  [[nodiscard]] bool is_read_beside(std::size_t queue) const noexcept {
    const std::uint64_t reader = reader_in(references());
    return reader != no_reader && (reader != reader_of(queue) || reader == several_readers);
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
  // A block's one counter: owners, what queued work holds beside them, and in its highest byte the
  // queue that reads the block since it was written last.
  static constexpr unsigned held_shift = 28;
  static constexpr unsigned reader_shift = 56;
  static constexpr std::uint64_t owner = 1;
  static constexpr std::uint64_t hold = std::uint64_t{1} << held_shift;
  static constexpr std::uint64_t counts_mask = (std::uint64_t{1} << reader_shift) - 1;
  static constexpr std::uint64_t no_reader = 0;
  static constexpr std::uint64_t several_readers = 255;

  static constexpr std::uint64_t owners_in(std::uint64_t all) { return all & (hold - 1); }
  static constexpr std::uint64_t held_in(std::uint64_t all) {
    return (all & counts_mask) >> held_shift;
  }
  static constexpr std::uint64_t reader_in(std::uint64_t all) {
    return held_in(all) == 0 ? no_reader : all >> reader_shift;
  }
  // Queues with high numbers are not told from each other.
  static constexpr std::uint64_t reader_of(std::size_t queue) {
    return std::min<std::uint64_t>(queue + 1, several_readers);
  }

  struct block {
    block(device where, detail::pool* from, void* d, std::size_t b, std::shared_ptr<void> k,
          bool constant) noexcept
        : place(where), pool(from), data(d), bytes(b), keeper(std::move(k)), read_only(constant) {}
    ~block() {
      if (pool != nullptr) {
        // Borrowed, but never written: the work that used it before may do so yet.
        if (borrowed && ticket.load(std::memory_order_relaxed) == 0) pool->wait();
        pool->deallocate(data, bytes, offer);
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
    detail::pool::offer offer;
    bool borrowed = false;
  };

  // Offers what its last owner lets go of, and queued work of one queue of the CPU holds.
  static void lend(block* b, std::uint64_t now) noexcept {
    if (b->pool == nullptr || b->bytes < least_lent || b->place.kind() != device_kind::cpu) return;
    const std::uint64_t reader = reader_in(now);
    if (reader == several_readers) return;
    const std::uint64_t t = b->ticket.load(std::memory_order_acquire);
    if (reader == no_reader && t == 0) return;
    b->offer = {.data = b->data, .bytes = b->bytes};
    b->pool->lend(b->offer, reader != no_reader ? reader - 1 : detail::ticket{t}.queue());
  }

  explicit buffer(block* made) noexcept : block_(made) {}

  // Acquires what owners that are gone did before they went.
  [[nodiscard]] std::uint64_t references() const noexcept {
    return block_ ? block_->references.load(std::memory_order_acquire) : 0;
  }

  static void release(block* b, std::uint64_t kind) noexcept {
    if (b == nullptr) return;
    // The last reference need not count down: nobody is left to count with it.
    const std::uint64_t now = b->references.load(std::memory_order_acquire);
    if (kind == owner && owners_in(now) == 1 && held_in(now) != 0) lend(b, now);
    if ((now & counts_mask) == kind ||
        (b->references.fetch_sub(kind, std::memory_order_acq_rel) & counts_mask) == kind) {
      delete b;
    }
  }

  // Makes an owner's reference one of queued work, for a queue that reads the memory, or that
  // writes it (no_reader).
  static void disown(block* b, std::uint64_t reader) noexcept {
    std::uint64_t now = b->references.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
      const std::uint64_t before = reader_in(now);
      const bool alone = reader == no_reader || before == no_reader || before == reader;
      next = ((now & counts_mask) - owner + hold) | (alone ? reader : several_readers)
                                                        << reader_shift;
    } while (!b->references.compare_exchange_weak(now, next, std::memory_order_release,
                                                  std::memory_order_relaxed));
  }

  // `behind`: the queue whose work may have lent the memory.
  static block* allocate(device d, std::size_t bytes, std::source_location where,
                         std::optional<std::size_t> behind = {}) {
    detail::require_runtime(where);
    detail::pool& pool = detail::pool_of(d);
    const std::size_t rounded = detail::pool::class_of(bytes);
    // Without a pool it has nothing to give back yet.
    auto made = std::make_unique<block>(d, nullptr, nullptr, rounded, nullptr, false);
    if (behind) made->data = pool.borrow(rounded, *behind);
    made->borrowed = made->data != nullptr;
    if (!made->borrowed) made->data = pool.allocate(rounded, where);
    made->pool = &pool;
    return made.release();
  }

  block* block_ = nullptr;
};

/// Buffers as queued work keeps them: their memory, and what the queue needs to know of it.
class buffer::holds {
 public:
  /// Takes the buffers' places, as an owner for now.
  explicit holds(std::vector<buffer>&& all) noexcept : all_(std::move(all)) {}
  holds(holds&& other) noexcept
      : all_(std::move(other.all_)), disowned_(std::exchange(other.disowned_, false)) {}
  holds& operator=(holds&&) = delete;
  ~holds() {
    if (!disowned_) return;
    for (buffer& b : all_) release(std::exchange(b.block_, nullptr), hold);
  }

  /// Stops owning the memory, and keeps it for work of a queue that reads it. To be called once,
  /// where no work that an owner enqueues in that queue from now on can overtake this.
  void disown_read(std::size_t queue) noexcept { disown_all(reader_of(queue)); }

  /// The same for work that writes it, and whose ticket the memory has.
  void disown_written() noexcept { disown_all(no_reader); }

  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

 private:
  void disown_all(std::uint64_t reader) noexcept {
    for (const buffer& b : all_) {
      if (b.block_ != nullptr) disown(b.block_, reader);
    }
    disowned_ = true;
  }

  std::vector<buffer> all_;
  bool disowned_ = false;
};

/// Adds a buffer to others, if it is not among them.
inline void add_buffer(std::vector<buffer>& all, const buffer& b) {
  if (std::find(all.begin(), all.end(), b) == all.end()) all.push_back(b);
}

/// Leaves each buffer of many there once, in another order.
inline void take_once(std::vector<buffer>& all) {
  std::sort(all.begin(), all.end(),
            [](const buffer& a, const buffer& b) { return std::less<>{}(a.data(), b.data()); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace topos
