// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The outputs of a reduction's kernel on the host: of rows, or of a piece down the columns.

#include <algorithm>
#include <concepts>
#include <topos/expr/detail/found_rows.hpp>
#include <topos/kernels/detail/centred_rows.hpp>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/narrow_rows.hpp>
#include <topos/kernels/detail/rows_together.hpp>
#include <topos/kernels/detail/turned_rows.hpp>

namespace topos::detail::host_rows {

/// Whether results are finished by lanes, where they lie: what has none is best left to compilers.
template <class Finish, class T, class Row = operation_row<Finish, memory_row<T>>>
inline constexpr bool finishes_lanes = Row::width > 1 && std::same_as<typename Row::value_type, T>;

// Of short rows, by columns.
template <class Kernel>
void turned_outputs(const Kernel& kernel, index_t first, index_t last) {
  using T = typename Kernel::value_type;
  kernel.short_on_host.for_each_block(first, last, [&](flat_block& block) {
    const turned_rows<T> turned(kernel.rows, block);
    T values[most_short_rows + most_lanes];
    column_reducer(kernel.op, turned, values).run(0, 1, kernel.columns, 0, block.rows);
    if constexpr (finishes_lanes<decltype(kernel.finish), T>) {
      assign(values, 1, make_row(kernel.finish, memory_row<T>{{values}}), 0, block.rows);
      put_outputs(kernel.target, block, [&](index_t r) { return values[r]; });
    } else {
      put_outputs(kernel.target, block, [&](index_t r) { return kernel.finish(values[r]); });
    }
  });
}

// Of rows by themselves.
template <class Kernel>
void outputs_of_rows(const Kernel& kernel, index_t first, index_t last) {
  using T = typename Kernel::value_type;
  if constexpr (lie_in_runs<decltype(kernel.rows)> && lie_in_runs<decltype(kernel.target)>) {
    const auto& target = kernel.target;
    const auto row = kernel.rows.row(first);
    if (kernel.target_rows == 1 && are_combined_by_runs(kernel.rows, kernel.columns) &&
        row.is_dense() && !gains_lanes<row_of<decltype(kernel.rows)>> &&
        !have_common_parts(kernel.columns, row)) {
      for (index_t past = first; first < last; first = past) {
        past =
            std::min({target.run_from(first), kernel.rows.run_from(first), last - first}) + first;
        const auto to = target.row(first);
        reduce_run(kernel.op, kernel.rows, kernel.rows.row(first), first, past, kernel.columns,
                   [&](index_t o, T value) {
                     target.elements.data[target.below(to, o - first).base] = kernel.finish(value);
                   });
      }
      return;
    }
  }
  use_found(kernel.rows, first, last, kernel.columns,
            [&](const auto& rows, index_t r, index_t past) {
              reduce_each(kernel.op, rows, r, past, kernel.columns,
                          [&](index_t o, T value) { kernel.write(o, value); });
            });
}

/// Outputs [first, last) of a kernel along rows.
template <class Kernel>
void combine_outputs(const Kernel& kernel, index_t first, index_t last) {
  using T = typename Kernel::value_type;
  const index_t columns = kernel.columns;
  if (kernel.short_on_host.any()) return turned_outputs(kernel, first, last);
  if constexpr (Kernel::writes_down) {
    if (kernel.written_on_host.any()) {
      return kernel.written_on_host.for_each(
          kernel.rows, first, last, [&](const auto& row, flat_block& block) {
            auto* const values = block.template take<T>();
            assign(values, 1, row, 0, block.size());
            reduce_each(kernel.op, partial_rows<T>{values, columns}, 0, block.rows, columns,
                        [&](index_t r, T value) { kernel.write(block.first + r, value); });
          });
    }
  }
  if (kernel.reduced == 1) {
    outputs_of_rows(kernel, first, last);
  } else {
    for (; first < last; ++first) kernel.write(first, kernel.combined(first, 0));
  }
}
template <class Kernel>
  requires centring<decltype(Kernel::op)>
void combine_outputs(const Kernel& kernel, index_t first, index_t last) {
  centre_outputs(kernel, first, last);
}

/// A piece of a kernel down the columns: `count` rows from r on. Its results are final, or go to
/// `partial`, where column 0 would be at.
template <class Kernel, class To>
void combine_down(const Kernel& kernel, index_t r, index_t count, const reduction_pieces::range& of,
                  To* to, typename Kernel::value_type* partial) {
  using T = typename Kernel::value_type;
  using op = decltype(kernel.op);
  using rows = decltype(kernel.rows);
  T values[most_columns<op, rows, T>() + most_lanes];
  if (kernel.inner == 1 && are_narrow<op, rows>(count, kernel.columns))
    combine_narrow(kernel.op, kernel.rows, kernel.short_on_host, r, count, kernel.columns, values);
  else
    column_reducer(kernel.op, kernel.rows, values).run(r, kernel.inner, count, of.c, of.past_c);
  const index_t n = of.past_c - of.c;
  const index_t step = kernel.target.step;
  if (!kernel.whole) {
    std::copy_n(values, n, partial + of.c);
  } else if constexpr (finishes_lanes<decltype(kernel.finish), T>) {
    assign(to + of.c * step, step, make_row(kernel.finish, memory_row<T>{{values}}), 0, n);
  } else {
    for (index_t k = 0; k < n; ++k) to[(of.c + k) * step] = kernel.finish(values[k]);
  }
}
template <class Kernel, class To>
  requires centring<decltype(Kernel::op)>
void combine_down(const Kernel& kernel, index_t r, index_t count, const reduction_pieces::range& of,
                  To* to, typename Kernel::value_type* partial) {
  centre_down(kernel, r, count, of, to, partial);
}

}  // namespace topos::detail::host_rows
