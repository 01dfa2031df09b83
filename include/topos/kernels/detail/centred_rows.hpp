// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions about a centre on the host: both passes over a piece of a kernel's rows.

#include <algorithm>
#include <concepts>
#include <topos/kernels/centred.hpp>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/narrow_rows.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/detail/rows_together.hpp>
#include <topos/kernels/detail/turned_rows.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail::host_rows {

/// Rows of a block down the columns that both passes are over, of a piece,
inline constexpr index_t rows_of_block = 32;
inline constexpr index_t rows_of_centred_piece = 512;
/// and columns, so that a block is in the second cache; not fewer, where there are so many.
template <class T>
inline constexpr index_t centred_columns = 8192 / sizeof(T);
inline constexpr index_t least_centred_columns = 256;

/// The terms of a row in memory.
template <class Op, class T>
struct terms_row {
  using value_type = joint_values<T, Op::terms>;
  static constexpr index_t width = std::floating_point<T> ? memory_row<T>::width : 0;
  static constexpr bool has_pairs = false;
  memory_row<T> row;
  T centre;

  [[nodiscard]] value_type operator[](index_t j) const { return Op::terms_of(row[j], centre); }
  template <class Count>
    requires std::floating_point<T>
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, Count count) const {
    return Op::terms_of(row.lanes(j, count), lane::splat(centre));
  }
  [[nodiscard]] bool is_dense() const { return true; }
  [[nodiscard]] const terms_row& dense() const { return *this; }
};
/// Those of rows in memory, each about its own centre.
template <class Op, class Rows, class T>
struct terms_of_rows {
  const Rows& rows;
  index_t first;  // has centre 0
  const T* centres;
  [[nodiscard]] terms_row<Op, T> row(index_t r) const {
    return {{{memory_of<T>(rows.row(r))}}, centres[r - first]};
  }
};

/// What some outputs give; what is loaded and stored by lanes has room behind them.
template <class T, std::size_t N, index_t Most>
struct outputs_about {
  T centres[Most + most_lanes];
  T sums[N][Most + most_lanes];

  [[nodiscard]] sums_about<T, N> at(index_t k) const {
    sums_about<T, N> values;
    values.centre = centres[k];
    for (std::size_t n = 0; n != N; ++n) values.sums[n] = sums[n][k];
    return values;
  }
  void put(index_t k, const sums_about<T, N>& values) {
    centres[k] = values.centre;
    for (std::size_t n = 0; n != N; ++n) sums[n][k] = values.sums[n];
  }
  template <class B>
  void put(index_t k, const sums_about<B, N>& values) {
    lane::store(centres + k, values.centre);
    for (std::size_t n = 0; n != N; ++n) lane::store(sums[n] + k, values.sums[n]);
  }

  /// Calls `use(k, values)` for n outputs from `first` on: for some at a time by lanes.
  template <class Use>
  void for_each(index_t first, index_t n, const Use& use) const {
    if constexpr (lane::element<T> && std::floating_point<T>) {
      for (index_t k = 0; k < n; k += lane::width<T>) {
        sums_about<lane::of<T>, N> values;
        values.centre = lane::load(centres + first + k);
        for (std::size_t i = 0; i != N; ++i) values.sums[i] = lane::load(sums[i] + first + k);
        use(k, values);
      }
    } else {
      for (index_t k = 0; k < n; ++k) use(k, at(first + k));
    }
  }

  /// Joins outputs [from, from + n) of others to [0, n): of so many elements each.
  template <class Op>
  void join(const Op& /*op*/, index_t count, const outputs_about& others, index_t from,
            index_t of_others, index_t n) {
    const auto w = Op::weigh(count, of_others);
    others.for_each(from, n, [&](index_t k, const auto& b) {
      std::decay_t<decltype(b)> a;
      this->for_each(k, 1, [&](index_t, const auto& values) { a = values; });
      put(k, Op::join(a, b, w));
    });
  }

  /// Results of n of them, `step` apart.
  template <class To, class Finish>
  void finish(To* to, index_t step, index_t n, const Finish& last) const {
    using lanes = sums_about<lane::of<T>, N>;
    if constexpr (std::same_as<To, T> && has_lanes<Finish, lanes>) {
      T results[Most + most_lanes];
      for_each(0, n, [&](index_t k, const lanes& values) {
        lane::store(results + k, last.lanes(values));
      });
      assign(to, step, memory_row<T>{{results}}, 0, n);
    } else {
      for (index_t k = 0; k < n; ++k) to[k * step] = last(at(k));
    }
  }
};
template <class Kernel, index_t Most>
using outputs_of = outputs_about<typename Kernel::element_type, Kernel::value_type::terms, Most>;

/// Values in memory, of which one has been combined before.
template <centring Op, class T>
[[nodiscard]] combined_t<Op, T> about_centre(const T& combined, const T* values, index_t count) {
  const T centre = Op::centre_of(combined, count);
  const auto sums = reduce(add_terms_op{}, terms_row<Op, T>{{{values}}, centre}, 0, count);
  return {Op::settle(centre, sums, count), count};
}
template <centring Op, class T>
[[nodiscard]] combined_t<Op, T> reduce_values(const Op& /*op*/, const T* values, index_t count) {
  return about_centre<Op>(reduce_values(typename Op::first_op{}, values, count), values, count);
}

/// Columns [c, past_c) of rows [r, past_r), no more than a map's chunk.
template <centring Op, class Rows>
[[nodiscard]] auto combine_rows(const Op& op, const Rows& rows, index_t r, index_t past_r,
                                index_t c, index_t past_c) {
  using T = typename row_of<Rows>::value_type;
  const index_t width = past_c - c;
  if (past_r - r == 1) {
    const auto row = rows.row(r);
    if (const T* const at = memory_of<T>(row))
      return about_centre<Op>(T(reduce(typename Op::first_op{}, row, c, past_c)), at + c, width);
  }
  alignas(flat_block::alignment) T values[map_chunk];
  for (index_t i = r; i < past_r; ++i) assign(values + (i - r) * width, 1, rows.row(i), c, past_c);
  return reduce_values(op, values, (past_r - r) * width);
}

/// Each of the rows [r, past), of so many columns, in memory.
template <centring Op, class Rows, class Outputs>
void centre_rows(const Op& /*op*/, const Rows& rows, index_t r, index_t past, index_t columns,
                 Outputs& to) {
  using T = typename row_of<Rows>::value_type;
  reduce_each(typename Op::first_op{}, rows, r, past, columns, [&](index_t i, const T& combined) {
    to.centres[i - r] = Op::centre_of(combined, columns);
  });
  reduce_each(add_terms_op{}, terms_of_rows<Op, Rows, T>{rows, r, to.centres}, r, past, columns,
              [&](index_t i, const auto& sums) {
                to.put(i - r, Op::settle(to.centres[i - r], sums, columns));
              });
}

template <class V, std::size_t N>
[[nodiscard, gnu::always_inline]] inline joint_values<V, N> added(const joint_values<V, N>& a,
                                                                  const joint_values<V, N>& b) {
  if constexpr (floating_lanes<V>)
    return add_terms_op{}.lanes(a, b);
  else
    return add_terms_op{}(a, b);
}

// The terms of some batches of columns, or of columns: `load(values, b)` is batch b of a row.
template <centring Op, int Batches, class Outputs, class T, class Load>
[[gnu::always_inline]] inline void sum_down(const T* values, index_t pitch, index_t count,
                                            Outputs& to, index_t at, const Load& load) {
  using V = decltype(load(values, 0));
  V centres[Batches];
  joint_values<V, Op::terms> totals[Batches];
  for (int b = 0; b < Batches; ++b) {
    centres[b] = load(to.centres + at, b);
    totals[b] = Op::terms_of(load(values, b), centres[b]);
  }
  for (index_t i = 1; i < count; ++i) {
    for (int b = 0; b < Batches; ++b)
      totals[b] = added(totals[b], Op::terms_of(load(values + i * pitch, b), centres[b]));
  }
  const index_t width = sizeof(V) / sizeof(T);
  for (int b = 0; b < Batches; ++b)
    to.put(at + b * width, Op::settle(centres[b], totals[b], count));
}

/// Some columns of `count` rows in memory, `pitch` apart: their centres are known.
template <centring Op, class T, class Outputs>
void sum_terms(const Op& /*op*/, const T* values, index_t pitch, index_t count, index_t columns,
               Outputs& to, index_t at) {
  index_t j = 0;
  if constexpr (lane::element<T> && std::floating_point<T>) {
    constexpr index_t width = lane::width<T>;
    const auto batch = [](const T* from, int b) { return lane::load(from + b * width); };
    for (; j + 4 * width <= columns; j += 4 * width)
      sum_down<Op, 4>(values + j, pitch, count, to, at + j, batch);
    for (; j + width <= columns; j += width)
      sum_down<Op, 1>(values + j, pitch, count, to, at + j, batch);
    const index_t rest = columns - j;
    if (rest > 0)
      sum_down<Op, 1>(values + j, pitch, count, to, at + j,
                      [&](const T* from, int) { return lane::load_partial(from, rest); });
  } else {
    for (; j < columns; ++j)
      sum_down<Op, 1>(values + j, pitch, count, to, at + j,
                      [](const T* from, int) { return *from; });
  }
}

/// Columns [c, past) of `count` rows from r on, which lie evenly in memory, into outputs from `at`
/// on.
template <centring Op, class Rows, class Outputs>
void centre_block(const Op& op, const Rows& rows, index_t r, index_t count, index_t c, index_t past,
                  Outputs& to, index_t at) {
  using T = typename row_of<Rows>::value_type;
  const typename Op::first_op first;
  column_reducer(first, rows, to.centres + at).run(r, 1, count, c, past);
  for (index_t k = at; k < at + past - c; ++k) to.centres[k] = Op::centre_of(to.centres[k], count);
  const T* const values = memory_of<T>(rows.row(r));
  const index_t pitch = count > 1 ? memory_of<T>(rows.row(r + 1)) - values : 0;
  sum_terms(op, values + c, pitch, count, past - c, to, at);
}

/// Columns [c, past) of `count` rows, r, r + step, ..., by blocks that stay in a cache: what does
/// not lie evenly in memory is written down, some columns at a time.
template <centring Op, class Rows, class Outputs>
void centre_columns(const Op& op, const Rows& rows, index_t r, index_t step, index_t count,
                    index_t c, index_t past, Outputs& made) {
  using T = typename row_of<Rows>::value_type;
  const auto centre = [&](index_t i, index_t n, Outputs& to) {
    const index_t first = r + i * step;
    if (step == 1 && lie_evenly<T>(rows, first, n))
      return centre_block(op, rows, first, n, c, past, to, 0);
    constexpr index_t room = bytes_of_piece / sizeof(T);
    alignas(flat_block::alignment) T values[room];
    const index_t some = room / n / most_lanes * most_lanes;
    for (index_t j = c; j < past; j += some) {
      const index_t columns = std::min(some, past - j);
      for (index_t k = 0; k < n; ++k)
        assign(values + k * columns, 1, rows.row(first + k * step), j, j + columns);
      centre_block(op, partial_rows<T>{values, columns}, 0, n, 0, columns, to, j - c);
    }
  };
  centre(0, std::min(rows_of_block, count), made);
  Outputs more;
  for (index_t i = rows_of_block; i < count; i += rows_of_block) {
    const index_t n = std::min(rows_of_block, count - i);
    centre(i, n, more);
    made.join(op, i, more, 0, n, past - c);
  }
}

/// Few columns of `count` rows in memory, by wide rows.
template <centring Op, class T, class Outputs>
void centre_narrow(const Op& op, const T* values, index_t count, index_t columns, Outputs& made) {
  const index_t abreast = rows_abreast(columns, count);
  const index_t wide = count / abreast;
  const index_t rest = count - wide * abreast;
  if (wide != 0) {
    const index_t width = abreast * columns;
    centre_columns(op, partial_rows<T>{values, width}, 0, 1, wide, 0, width, made);
    for (index_t left = abreast / 2; left != 0; left /= 2)
      made.join(op, wide * (abreast / left / 2), made, left * columns, wide * (abreast / left / 2),
                left * columns);
  }
  if (rest == 0) return;
  Outputs more;
  Outputs& to = wide == 0 ? made : more;
  centre_columns(op, partial_rows<T>{values, columns}, count - rest, 1, rest, 0, columns, to);
  if (wide != 0) made.join(op, count - rest, more, 0, rest, columns);
}

/// Outputs [first, last) of a kernel along rows.
template <class Kernel>
void centre_outputs(const Kernel& kernel, index_t first, index_t last) {
  using T = typename Kernel::element_type;
  const index_t columns = kernel.columns;
  if (kernel.short_on_host.any()) {
    kernel.short_on_host.for_each_block(first, last, [&](flat_block& block) {
      const turned_rows<T> turned(kernel.rows, block);
      outputs_of<Kernel, most_short_rows> made;
      centre_block(kernel.op, turned, 0, columns, 0, block.rows, made, 0);
      typename Kernel::result_type results[most_short_rows];
      made.finish(results, 1, block.rows, kernel.finish);
      put_outputs(kernel.target, block, [&](index_t r) { return results[r]; });
    });
    return;
  }
  if (kernel.reduced != 1) {
    for (; first < last; ++first) kernel.write(first, kernel.combined(first, 0));
    return;
  }
  constexpr index_t most = 256;
  outputs_of<Kernel, most> made;
  const auto centre = [&](const auto& rows, index_t r, index_t n, index_t output) {
    centre_rows(kernel.op, rows, r, r + n, columns, made);
    typename Kernel::result_type results[most];
    made.finish(results, 1, n, kernel.finish);
    for (index_t k = 0; k < n; ++k) *kernel.place_of(output + k) = results[k];
  };
  if constexpr (Kernel::writes_down) {
    if (kernel.written_on_host.any()) {
      kernel.written_on_host.for_each(
          kernel.rows, first, last, [&](const auto& row, flat_block& block) {
            auto* const values = block.template take<T>();
            assign(values, 1, row, 0, block.size());
            centre(partial_rows<T>{values, columns}, 0, block.rows, block.first);
          });
      return;
    }
  }
  alignas(flat_block::alignment) T values[map_chunk];
  const index_t some = std::clamp<index_t>(map_chunk / columns, 1, most);
  for (; first < last; first += some) {
    const index_t n = std::min(some, last - first);
    if (memory_of<T>(kernel.rows.row(first)) != nullptr) {
      centre(kernel.rows, first, n, first);
    } else {
      for (index_t k = 0; k < n; ++k)
        assign(values + k * columns, 1, kernel.rows.row(first + k), 0, columns);
      centre(partial_rows<T>{values, columns}, 0, n, first);
    }
  }
}

/// A piece of a kernel down the columns: `count` rows from r on. Its results are final, or go to
/// `partial`, where column 0 would be at.
template <class Kernel, class To>
void centre_down(const Kernel& kernel, index_t r, index_t count, const reduction_pieces::range& of,
                 To* to, typename Kernel::value_type* partial) {
  using T = typename Kernel::element_type;
  const index_t n = of.past_c - of.c;
  outputs_of<Kernel, centred_columns<T>> made;
  if (kernel.inner == 1 &&
      are_narrow<decltype(kernel.op), decltype(kernel.rows)>(count, kernel.columns)) {
    use_narrow<bytes_of_piece>(
        kernel.rows, kernel.short_on_host, r, count, n,
        [&](const T* values, index_t) { centre_narrow(kernel.op, values, count, n, made); });
  } else {
    centre_columns(kernel.op, kernel.rows, r, kernel.inner, count, of.c, of.past_c, made);
  }
  if (kernel.whole) {
    made.finish(to + of.c * kernel.target.step, kernel.target.step, n, kernel.finish);
  } else {
    for (index_t k = 0; k < n; ++k) partial[of.c + k] = {made.at(k), count};
  }
}

}  // namespace topos::detail::host_rows
