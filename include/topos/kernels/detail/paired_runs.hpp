// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements of a row that cost less two by two, such as random numbers, computed for kernels that
/// keep none of them.

#include <algorithm>
#include <topos/core/config.hpp>
#include <topos/device/device.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail::host_rows {

/// A dense row, room for two runs of it, and what takes them.
template <class Row, class Take>
class run_taker {
 public:
  using row_type = std::decay_t<decltype(std::declval<const Row&>().dense())>;

  run_taker(const Row& row, const Take& take) : row_(row.dense()), take_(take) {}

  /// Where it is written, partners so far behind.
  [[nodiscard]] auto to(index_t apart) { return to_pairs(values_, values_ + apart, row_, false); }
  void take(index_t first, index_t from, index_t count) { take_(first, values_ + from, count); }

 private:
  row_type row_;
  const Take& take_;
  alignas(flat_block::alignment) typename Row::value_type values_[2 * map_chunk];
};

/// One dense row, whose elements o and o + distance are computed together, in runs: item i of a
/// kernel is run i, and that of the partners of its elements. It is of whole lines, or a part of
/// one.
struct paired_runs {
  index_t size = 0;  // of the row; 0: nothing is computed so
  index_t distance = 0;
  bool neighbours = false;  // partners are in one run
  index_t line = 1;
  index_t length = 1;  // of a run

  /// None.
  paired_runs() = default;

  /// Of lines of a row; none where its elements have no partners, or other lines than theirs.
  template <class Row>
  paired_runs(const Row& row, index_t count, index_t of_line) {
    if (!row.is_dense()) return;
    const auto dense = row.dense();
    distance = dense.partner();
    if (distance == 0 || distance >= count) return;
    neighbours = are_neighbours<std::decay_t<decltype(dense)>>(distance);
    line = of_line == count && count > map_chunk ? first_half(count) : of_line;
    length = line < map_chunk ? map_chunk / line * line : map_chunk;
    if (count <= map_chunk || neighbours || distance % line == 0) size = count;
  }

  friend bool operator==(const paired_runs&, const paired_runs&) = default;

  [[nodiscard]] bool any() const { return size != 0; }
  [[nodiscard]] index_t count() const {
    if (size <= map_chunk) return 1;
    const index_t first = first_half(size);
    return line <= length ? (first + length - 1) / length : first / line * of_line();
  }
  /// Elements of an item.
  [[nodiscard]] index_t cost() const { return std::min(size, neighbours ? length : 2 * length); }

  /// Runs of a line that is longer than one.
  [[nodiscard]] index_t of_line() const { return (line + length - 1) / length; }
  /// The number of the run that begins with an element, where they are parts of lines.
  [[nodiscard]] index_t number_of(index_t element) const {
    return element / line * of_line() + element % line / length;
  }

  /// Calls `take(first, values, count)` with the elements of each run of item i.
  template <class Row, class Take>
  void compute(const Row& row, index_t i, const Take& take) const {
    compute_all(i, run_taker(row, take));
  }
  /// The same for several rows, of which what is common is computed once.
  template <class... Rows, class... Takes>
  [[gnu::noinline]] void compute_all(index_t i, run_taker<Rows, Takes>&&... takers) const {
    if (size <= map_chunk) {
      assign(0, neighbours ? size : distance, distance, takers...);
      (takers.take(0, 0, size), ...);
      return;
    }
    const index_t parts = line <= length ? 1 : of_line();
    const index_t first = parts == 1 ? i * length : i / parts * line + i % parts * length;
    const index_t end = parts == 1 ? first_half(size) : (i / parts + 1) * line;
    const index_t past = std::min(first + length, end);
    const index_t partners = neighbours ? 0 : std::min(past + distance, size) - first - distance;
    const index_t apart = neighbours ? distance : past - first;
    assign(first, past, apart, takers...);
    (takers.take(first, 0, past - first), ...);
    if (partners > 0) (takers.take(first + distance, apart, partners), ...);
  }

 private:
  template <class First, class... Takers>
  void assign(index_t first, index_t past, index_t apart, First& one, Takers&... others) const {
    assign_paired_rows<typename First::row_type>(first, past, size, distance, one.to(apart),
                                                 others.to(apart)...);
  }
  // What the partners of all elements lie behind; all, where they are neighbours.
  [[nodiscard]] index_t first_half(index_t all) const { return neighbours ? all : distance; }
};

/// Has a kernel along rows of an expression, of `size` elements in all, compute its elements in
/// runs on the CPU, where they are one row of what costs less so.
template <class Kernel, expression V>
void pair_rows(Kernel& kernel, const V& v, index_t size, const device& d) {
  if constexpr (pairing_row<typename Kernel::drawn_type>) {
    if (d != cpu() || !kernel.by_rows || kernel.reduced != 1) return;
    walk<V::rank> w = walk_of(v);
    if (w.axes != 1) return;
    w.ahead = fetch_distance(is_quick<V>());
    const auto all = v.rows(w);
    const auto row = all.row(0);
    const paired_runs runs(Kernel::drawn::of(row), size, kernel.columns);
    if (!runs.any()) return;
    kernel.rows = all;
    kernel.paired_on_host = runs;
    if (kernel.outer == 1 && kernel.pieces() != 1)
      kernel.pieces_across = runs.number_of(size - 1) + 1;
  }
}

}  // namespace topos::detail::host_rows
