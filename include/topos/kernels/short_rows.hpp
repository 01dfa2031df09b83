// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How kernels compute short rows on the host: several at once, as one.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <topos/device/device.hpp>
#include <topos/expr/flat_block.hpp>

namespace topos::detail {

/// Rows of fewer columns are computed together: longer ones cost no more by themselves.
inline constexpr index_t columns_apart = 112;

/// Elements that are computed together at most, and rows of two columns at least.
inline constexpr index_t most_together = 2048;
inline constexpr index_t most_short_rows = most_together / 2;

/// Whether rows are of elements of T in memory.
template <class T, class Rows>
inline constexpr bool lie_in_memory = requires(const Rows& rows) {
  { rows.elements.address() } -> std::same_as<const T*>;
  rows.lies_flat(index_t{});
};

/// The rows of a kernel, some at a time.
class short_rows {
 public:
  /// None: the kernel takes its rows one by one.
  short_rows() = default;

  /// Of an expression; none on a GPU. For each element `more` bytes are wanted, in `parts`, beside
  /// what its leaves need.
  template <class Rows>
  short_rows(const device& where, const Rows& rows, index_t count, index_t columns,
             std::size_t more = 0, std::size_t parts = 1)
      : columns_(columns) {
    if (where.kind() != device_kind::cpu || count < 2 || columns >= columns_apart || columns == 0)
      return;
    const flat_need need = rows.need_flat(columns) + flat_need{true, more, more != 0 ? parts : 0};
    if (!need.possible || (need.leaves + 1) * flat_block::alignment > memory_size) return;
    index_t elements = most_together;
    if (need.bytes != 0) {
      const std::size_t room = (memory_size - need.leaves * flat_block::alignment) / need.bytes;
      elements = std::min(elements, static_cast<index_t>(room));
    }
    at_once_ = elements / columns;
    // So that what a block writes is aligned as what its kernel writes.
    if (at_once_ > 16) at_once_ -= at_once_ % 16;
    if (at_once_ < 2) at_once_ = 0;
  }

  [[nodiscard]] bool any() const { return at_once_ != 0; }
  [[nodiscard]] index_t at_once() const { return at_once_; }

  /// Calls `function(block)` for rows [r, past) with each block of them, from which it may take
  /// memory: as much from each, in the same order.
  template <class Function>
  void for_each_block(index_t r, index_t past, const Function& function) const {
    for_each_block(r, past, 0, columns_, function);
  }
  /// The same of columns [c, past_c) of longer rows, no more than were told.
  template <class Function>
  void for_each_block(index_t r, index_t past, index_t c, index_t past_c,
                      const Function& function) const {
    alignas(flat_block::alignment) std::byte memory[memory_size];
    for (bool again = false; r < past; r += at_once_, again = true) {
      flat_block block{r, std::min(at_once_, past - r), past_c - c, at_once_, memory, again, c};
      function(block);
    }
  }

  /// The same with `function(row, block)`, where the row is all of a block's.
  template <class Rows, class Function>
  void for_each(const Rows& rows, index_t r, index_t past, const Function& function) const {
    for_each_block(r, past, [&](flat_block& block) {
      const auto row = rows.flat(block);
      function(row, block);
    });
  }

 private:
  // Together in the first-level cache.
  static constexpr std::size_t memory_size = std::size_t{16} << 10;

  index_t columns_ = 0;
  index_t at_once_ = 0;
};

}  // namespace topos::detail
