// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A queue that keeps its memory.

#include <cstddef>
#include <utility>
#include <vector>

namespace topos::detail {

/// First in, first out; grows by doubling and allocates nothing once it has been as long as it
/// gets.
template <class T>
class ring {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] T& operator[](std::size_t i) noexcept {
    return slots_[(first_ + i) & (slots_.size() - 1)];
  }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
    return slots_[(first_ + i) & (slots_.size() - 1)];
  }
  [[nodiscard]] const T& front() const noexcept { return slots_[first_]; }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    ++size_;
    (*this)[size_ - 1] = std::move(value);
  }

  void push_front(T value) {
    if (size_ == slots_.size()) grow();
    first_ = (first_ + slots_.size() - 1) & (slots_.size() - 1);
    ++size_;
    slots_[first_] = std::move(value);
  }

  [[nodiscard]] T pop_front() noexcept {
    T value = std::exchange(slots_[first_], T{});
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
    return value;
  }

  /// Takes out all entries of which `unwanted(entry)`, and keeps the order of the others.
  template <class Unwanted>
  void remove_if(Unwanted unwanted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (unwanted((*this)[i])) continue;
      if (kept != i) (*this)[kept] = std::move((*this)[i]);
      ++kept;
    }
    for (std::size_t i = kept; i < size_; ++i) (*this)[i] = T{};
    size_ = kept;
  }

  /// Takes out the first entry that equals `value`; says whether there was one. Linear in the size.
  bool remove(const T& value) noexcept {
    std::size_t i = 0;
    while (i < size_ && !((*this)[i] == value)) ++i;
    if (i == size_) return false;
    for (; i + 1 < size_; ++i) (*this)[i] = std::move((*this)[i + 1]);
    (*this)[i] = T{};
    --size_;
    return true;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // as many as a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace topos::detail
