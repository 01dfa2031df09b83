// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of an expression's leaves inside a kernel: of what lies under a layout, and of scalars.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <topos/core/divisor.hpp>
#include <topos/core/layout.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/row.hpp>
#include <topos/expr/walk.hpp>

namespace topos::detail {

/// Elements that are made by their number, which takes no longer than to load them.
template <class Elements>
concept counting = requires {
  typename Elements::counting;
};

/// Rows of one source under a layout, inside a kernel. As others, they are equal where they are
/// known to hold the same elements.
template <class Elements, std::size_t Rank>
struct strided_rows {
  static constexpr std::size_t most = Rank > 1 ? Rank - 1 : 1;
  static constexpr bool may_have_axes = most > 1;  ///< of rows, of which some are no run then
  Elements elements;
  index_t base;
  index_t step;
  int leading;            // axes over which rows are counted
  divisor extents[most];  // std::array is host code to nvcc
  index_t strides[most];

  KOKKOS_FUNCTION index_t start(index_t r) const {
    index_t at = base;
    for (int axis = static_cast<int>(most) - 1; axis > 0; --axis) {  // unrolled: it is constant
      if (axis >= leading) continue;
      const index_t whole = extents[axis].quotient(r);
      at += (r - whole * extents[axis]) * strides[axis];
      r = whole;
    }
    return at + r * strides[0];
  }
  KOKKOS_FUNCTION strided_row<Elements> row(index_t r) const { return {elements, start(r), step}; }

  /// Whether rows of so many columns lie one after another.
  [[nodiscard]] bool lies_flat(index_t columns) const {
    index_t whole = columns;
    for (int axis = leading; axis-- > 0; whole *= extents[axis]) {
      if (strides[axis] != whole) return false;
    }
    return step == 1;
  }
  [[nodiscard]] flat_need need_flat(index_t columns) const {
    if constexpr (counting<Elements>) {
      return {true, sizeof(typename Elements::value_type), 1};
    } else {
      if (lies_flat(columns)) return {};
      if constexpr (strided_row<Elements>::is_quick)
        return {true, sizeof(typename Elements::in_memory), 1};
      else
        return {false};
    }
  }
  /// Some rows as one.
  [[nodiscard]] auto flat(flat_block& block) const {
    if constexpr (counting<Elements>) {
      return counted(block);
    } else {
      if constexpr (strided_row<Elements>::is_quick) {
        if (!lies_flat(block.columns)) {
          auto* const to = block.template take<typename Elements::in_memory>();
          if (!lies_flat(block)) {
            copy_block(to, block);
            return strided_row<Elements>{Elements::of(to), 0, 1};
          }
        }
      }
      return strided_row<Elements>{elements, start(block.first) + block.column, 1};
    }
  }

  /// Copies rows, on the host, from the first on: of elements in memory.
  template <class T>
  void copy(T* to, row_steps there, index_t first, index_t count,
            index_t columns) const requires std::same_as<decltype(elements.address()), const T*> {
    auto* const out = reinterpret_cast<copied_as<T>*>(to);
    const auto* const from = reinterpret_cast<const copied_as<T>*>(elements.address());
    for_each_run(first, count, [&](index_t i, index_t at, index_t n, row_steps here) {
      copy_rows(out + i * there.stride, there, from + at, here, n, columns);
    });
  }

  /// Calls `function(i, start, n, steps)` for rows, of `count` from the first on, that lie equally
  /// far apart: the n from row first + i on.
  template <class Function>
  void for_each_run(index_t first, index_t count, const Function& function) const {
    index_t n = 0;
    for (index_t i = 0; i < count; i += n) {
      n = std::min(count - i, run_from(first + i));
      function(i, start(first + i), n, row_steps{stride_of_run(), step});
    }
  }

  /// Whether that is one run.
  [[nodiscard]] bool is_one_run(index_t first, index_t count) const {
    return count <= run_from(first);
  }

  /// How many rows, from one on, lie equally far apart: a run.
  [[nodiscard]] index_t run_from(index_t r) const {
    if constexpr (may_have_axes) {
      if (leading > 1) {
        const divisor& extent = extents[leading - 1];
        return extent - (r - extent.quotient(r) * extent);
      }
    }
    return no_end;
  }
  /// How far apart rows of a run are.
  [[nodiscard]] index_t stride_of_run() const {
    if constexpr (may_have_axes)
      return strides[leading > 1 ? leading - 1 : 0];
    else
      return strides[0];
  }
  /// Whether a run is one row again and again.
  [[nodiscard]] bool repeat_in_runs() const { return stride_of_run() == 0; }
  /// Whether elements of rows of a run lie side by side.
  [[nodiscard]] bool lie_side_by_side() const { return stride_of_run() == 1; }
  /// The row that is n below one, in the same run.
  template <class Row>
  [[nodiscard, gnu::always_inline]] Row below(Row row, index_t n) const {
    row.base += n * stride_of_run();
    return row;
  }

  /// The rows without their first columns.
  [[nodiscard]] strided_rows from_column(index_t column) const {
    strided_rows rest = *this;
    rest.base += column * step;
    return rest;
  }

  friend bool operator==(const strided_rows&, const strided_rows&) = default;

 private:
  // Whether all rows are the same.
  [[nodiscard]] bool repeats() const {
    return std::all_of(strides, strides + leading, [](index_t s) { return s == 0; });
  }

  // Whether rows of a block lie one after another.
  [[nodiscard]] bool lies_flat(const flat_block& block) const {
    return step == 1 && stride_of_run() == block.columns && is_one_run(block.first, block.rows);
  }

  // Copies them into memory of the block, which may have them from before.
  template <class T>
  void copy_block(T* to, const flat_block& block) const {
    if (!repeats()) {
      from_column(block.column)
          .copy(to, {block.columns, 1}, block.first, block.rows, block.columns);
    } else if (!block.again) {
      using word = copied_as<T>;
      repeat_row(reinterpret_cast<word*>(to),
                 reinterpret_cast<const word*>(elements.address()) + base + block.column * step,
                 step, block.rows, block.columns);
    }
  }

  // Put into the memory of the block, which may have them from before.
  [[nodiscard]] auto counted(flat_block& block) const {
    using T = typename Elements::value_type;
    auto* const to = block.take<T>();
    if (!repeats()) {
      for_each_run(block.first, block.rows, [&](index_t i, index_t at, index_t n, row_steps here) {
        for (index_t r = 0; r < n; ++r) {
          for (index_t j = 0; j < block.columns; ++j)
            to[(i + r) * block.columns + j] =
                elements(at + r * here.stride + (block.column + j) * here.step);
        }
      });
    } else if (!block.again) {
      for (index_t j = 0; j < block.columns; ++j)
        to[j] = elements(base + (block.column + j) * step);
      if (block.rows > 1) repeat_row(to + block.columns, to, 1, block.rows - 1, block.columns);
    }
    return strided_row<memory_elements<T>>{{to}, 0, 1};
  }
};

/// The rows of a layout, walked as `w`.
template <class Elements, std::size_t Rank, std::size_t N>
[[nodiscard]] strided_rows<Elements, N> rows_of(const Elements& elements, const layout<Rank>& l,
                                                const walk<N>& w) {
  const layout<N> whole = broadcast_layout(l, w.extents);
  strided_rows<Elements, N> result{elements, whole.offset, 1, w.axes - 1, {}, {}};
  result.strides[0] = 0;
  if constexpr (N != 0) {
    for (int axis = 0; axis < w.axes; ++axis) {
      const index_t stride = whole.strides[w.last[axis]];
      if (axis == w.axes - 1) {
        result.step = stride;
      } else {
        result.extents[axis] = w.sizes[axis];
        result.strides[axis] = stride;
      }
    }
    if constexpr (requires { result.elements.ahead; }) {
      result.elements.ahead =
          w.along < 0 ? w.ahead
                      : fetched_ahead(w.ahead, w.columns(), w.piece, result.strides[w.along]);
    }
  }
  return result;
}

/// Those of a source of no axes.
template <class Elements>
struct scalar_rows {
  Elements elements;
  index_t at;
  KOKKOS_FUNCTION scalar_row<Elements> row(index_t /*r*/) const { return {elements, at}; }
  [[nodiscard]] index_t run_from(index_t /*r*/) const { return no_end; }
  [[nodiscard]] bool repeat_in_runs() const { return false; }  // it takes nothing to load
  [[nodiscard]] auto below(const scalar_row<Elements>& row, index_t /*n*/) const { return row; }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const { return {}; }
  [[nodiscard]] scalar_row<Elements> flat(flat_block& /*block*/) const { return {elements, at}; }

  friend bool operator==(const scalar_rows&, const scalar_rows&) = default;
};

/// Those of a scalar.
template <class T>
struct constant_rows {
  T value;
  KOKKOS_FUNCTION constant_row<T> row(index_t /*r*/) const { return {value}; }
  [[nodiscard]] index_t run_from(index_t /*r*/) const { return no_end; }
  [[nodiscard]] bool repeat_in_runs() const { return false; }  // it takes nothing to load
  [[nodiscard]] auto below(const constant_row<T>& row, index_t /*n*/) const { return row; }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const { return {}; }
  [[nodiscard]] constant_row<T> flat(flat_block& /*block*/) const { return {value}; }

  friend bool operator==(const constant_rows& a, const constant_rows& b) {
    return has_bits_of(a.value, b.value);
  }
};

}  // namespace topos::detail
