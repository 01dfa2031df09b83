// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Entries that have left a queue.

#include <cstddef>
#include <memory>
#include <utility>

namespace topos::detail {

/// First in, first out, by the entries' own links `after`: adding one under a lock allocates
/// nothing and lets go of nothing, so that what is the user's ends when the lock is released.
template <class Entry>
class entry_list {
 public:
  entry_list() = default;
  entry_list(const entry_list&) = delete;
  entry_list& operator=(const entry_list&) = delete;
  ~entry_list() { clear(); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push_back(std::shared_ptr<Entry> e) noexcept {
    Entry* const added = e.get();
    (last_ == nullptr ? first_ : last_->after) = std::move(e);
    last_ = added;
    ++size_;
  }

  /// Null where there is none.
  [[nodiscard]] std::shared_ptr<Entry> pop_front() noexcept {
    std::shared_ptr<Entry> first = std::move(first_);
    if (first == nullptr) return nullptr;
    first_ = std::move(first->after);
    if (--size_ == 0) last_ = nullptr;
    return first;
  }

  /// One by one: a chain of links would end in as deep a recursion.
  void clear() noexcept {
    while (pop_front() != nullptr) {
    }
  }

 private:
  std::shared_ptr<Entry> first_;
  Entry* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace topos::detail
