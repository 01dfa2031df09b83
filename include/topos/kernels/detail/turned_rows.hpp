// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Short rows as columns, on the host: lanes are then those of neighbouring rows, where one row has
/// too few elements for them.

#include <cstddef>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/kernels/short_rows.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

/// Whether rows of so many columns are turned: there are `most_short_rows` of them in a block then,
/// or fewer.
[[nodiscard]] inline bool are_turned(index_t columns, index_t too_long = short_row) {
  return columns > 1 && columns < too_long;
}

/// Rows of a block with their columns turned into rows, which begin `pitch` apart.
template <class T>
struct turned_rows {
  T* data;
  index_t pitch;

  /// Those of an expression that a kernel makes an output of each, where they are short; else none.
  template <class Rows>
  [[nodiscard]] static short_rows of(const device& d, const Rows& rows,
                                     const reduction_pieces& each, index_t too_long = short_row) {
    if (!each.by_rows || each.reduced != 1 || !are_turned(each.columns, too_long)) return {};
    return {d, rows, each.outer, each.columns, 2 * sizeof(T), 2};
  }

  /// The rows of a block; where they shall lie further apart, the block has to have room for that.
  template <class Rows>
  turned_rows(const Rows& rows, flat_block& block) : turned_rows(rows, block, block.rows) {}
  template <class Rows>
  turned_rows(const Rows& rows, flat_block& block, index_t apart) : pitch(apart) {
    if constexpr (lie_in_memory<T, Rows>) {
      data = block.take<T>();
      rows.for_each_run(
          block.first, block.rows, [&](index_t r, index_t at, index_t count, row_steps here) {
            turn_rows(data + r, pitch, rows.elements.address() + at, here, count, block.columns);
          });
    } else {
      const auto row = rows.flat(block);
      const T* from = nullptr;
      if constexpr (std::is_same_v<decltype(row), const memory_row<T>>) {
        from = row.elements.data + row.base;
      } else {
        auto* const computed = block.take<T>();
        assign(computed, 1, row, 0, block.size());
        from = computed;
      }
      data = block.take<T>();
      turn_rows(data, pitch, from, {block.columns, 1}, block.rows, block.columns);
    }
  }
  [[nodiscard]] T* at(index_t c) const { return data + c * pitch; }
  [[nodiscard]] memory_row<T> row(index_t c) const { return {{data}, c * pitch}; }
  [[nodiscard]] bool is_one_run(index_t /*first*/, index_t /*count*/) const { return true; }
};

/// Writes value(r) for each row r of a block to where a kernel's target has its output.
template <class Target, class Value>
void put_outputs(const Target& target, const flat_block& block, const Value& value) {
  target.for_each_run(block.first, block.rows,
                      [&](index_t r, index_t at, index_t count, row_steps there) {
                        auto* const to = target.elements.data + at;
                        if (there.stride == 1) {
                          TOPOS_INDEPENDENT_STEPS
                          for (index_t k = 0; k < count; ++k) to[k] = value(r + k);
                        } else {
                          for (index_t k = 0; k < count; ++k) to[k * there.stride] = value(r + k);
                        }
                      });
}

}  // namespace topos::detail::host_rows
