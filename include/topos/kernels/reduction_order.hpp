// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a reduction walks its axes: by where the elements lie, not by the order of the axes.

#include <algorithm>
#include <array>
#include <topos/core/layout.hpp>
#include <topos/expr/expression.hpp>
#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/rows.hpp>
#include <utility>

namespace topos::detail {

/// Some of the axes of an array.
template <std::size_t Rank>
using axis_set = std::array<bool, Rank>;

/// Adds up, for each axis, how far apart neighbours lie in the leaves of an expression.
template <std::size_t Rank>
struct distance_finder {
  shape<Rank> extents;
  std::array<index_t, Rank> distances{};

  template <std::size_t N>
  void add(const layout<N>& l) {
    const layout<Rank> whole = broadcast_layout(l, extents);
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      distances[axis] += whole.strides[axis] < 0 ? -whole.strides[axis] : whole.strides[axis];
    }
  }
};

/// The axes in the order of a reduction: those whose neighbours lie closest together last, with the
/// reduced axes together.
///
/// Reduced axes that lie last, beyond kept ones, may be left to a second step: the first one takes
/// them for kept, and so reads memory from end to end, not in segments as short as they are.
template <std::size_t Rank>
struct reduction_order {
  permute_view<Rank> axes{};
  bool by_rows = true;     ///< The last axis is reduced; if not, rows are combined with each other.
  index_t outer = 1;       ///< Elements of the axes that are kept, before the reduced ones,
  index_t reduced = 1;     ///< of the reduced ones,
  index_t inner = 1;       ///< and of those that are kept, after them.
  index_t rest = 1;        ///< Of the inner ones: elements of each row that a second step reduces.
  axis_set<Rank> first{};  ///< The axes, in order, that are reduced, without those of the rest.

  template <expression E>
  reduction_order(const E& e, const axis_set<Rank>& set) : reduction_order(distances_in(e), set) {}

  /// Of elements whose neighbours lie so far apart.
  reduction_order(const distance_finder<Rank>& found, const axis_set<Rank>& set) {
    const shape<Rank>& extents = found.extents;
    // Axes of extent 1 lie nowhere: they come first.
    std::array<std::size_t, Rank> sorted{};
    const auto before = [&](std::size_t a, std::size_t b) {
      if ((extents[a] == 1) != (extents[b] == 1)) return extents[a] == 1;
      return extents[a] != 1 && found.distances[a] > found.distances[b];
    };
    // By insertion, which keeps the order of equals.
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      std::size_t at = axis;
      for (; at > 0 && before(axis, sorted[at - 1]); --at) sorted[at] = sorted[at - 1];
      sorted[at] = axis;
    }
    std::size_t after = Rank;  // kept axes from here on come after the reduced ones
    while (after > 0 && !set[sorted[after - 1]] && extents[sorted[after - 1]] != 1) --after;
    by_rows = after == Rank;
    std::size_t last = Rank;  // reduced axes from here on are left to a second step
    if (by_rows) {
      const auto count = [&](std::size_t from, std::size_t past) {
        index_t product = 1;
        for (; from < past; ++from) product *= set[sorted[from]] ? extents[sorted[from]] : 1;
        return product;
      };
      while (last > 0 && set[sorted[last - 1]]) --last;
      std::size_t kept = last;
      while (kept > 0 && !set[sorted[kept - 1]]) --kept;
      const auto step = [&](std::size_t i) { return found.distances[sorted[i]]; };
      const bool joined = kept < last && last < sorted.size() &&
                          step(last - 1) == step(last) * extents[sorted[last]];
      if (two_steps_pay(count(0, kept), count(last, Rank), joined)) {
        by_rows = false;
        after = kept;
      } else {
        last = Rank;
      }
    }
    std::size_t to = 0;
    const auto take = [&](std::size_t from, std::size_t past, bool reduces, index_t& count) {
      for (std::size_t i = from; i < past; ++i) {
        if (set[sorted[i]] != reduces) continue;
        first[to] = reduces && i < last;
        axes.axes[to++] = sorted[i];
        count *= extents[sorted[i]];
      }
    };
    take(0, after, false, outer);
    take(0, after, true, reduced);
    take(after, Rank, false, inner);
    take(last, Rank, true, rest);
    inner *= rest;
  }

  /// All axes in their own order, as one row of elements.
  explicit reduction_order(const shape<Rank>& extents) {
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      axes.axes[axis] = axis;
      reduced *= extents[axis];
    }
    first.fill(true);
  }

  [[nodiscard]] bool has_second_step() const { return rest != 1; }

  /// The rows of a walk in this order that have so many columns: those are of what is reduced, or
  /// of what is kept after it.
  [[nodiscard]] reduction_pieces groups(index_t columns) const {
    reduction_pieces made{by_rows, outer, reduced, inner, columns};
    if (columns != 0) (by_rows ? made.reduced : made.inner) /= columns;
    return made;
  }

  /// Makes columns of short rows, if there are many and each is one axis: lanes are then those of
  /// neighbouring rows, where a row has too few elements for them.
  void turn_short_rows(const shape<Rank>& extents) {
    if constexpr (Rank > 1) {
      if (!by_rows || reduced < 2 || reduced >= short_row) return;
      if (extents[axes.axes[Rank - 1]] != reduced) return;
      if (extents[axes.axes[Rank - 2]] < least_columns) return;
      std::rotate(axes.axes.begin(), axes.axes.end() - 1, axes.axes.end());
      std::rotate(first.begin(), first.end() - 1, first.end());
      std::swap(outer, inner);
      by_rows = false;
    }
  }

 private:
  static constexpr index_t least_columns = 32;

  template <expression E>
  static distance_finder<Rank> distances_in(const E& e) {
    distance_finder<Rank> found{e.shape()};
    e.leaves(found);
    return found;
  }

  // By the elements that each step makes one of, and whether to the first the second's rows join
  // into long ones. The second reads what the first has written: many have to become few. Long
  // segments are read as fast by themselves. The bounds are measured.
  static bool two_steps_pay(index_t of_first, index_t of_second, bool joined) {
    return of_first >= (joined ? 2 : 16) && of_second > 0 && of_second <= 32 * of_first;
  }
};

/// The axes with one of them last.
template <std::size_t Rank>
[[nodiscard]] permute_view<Rank> with_last(std::size_t axis) {
  permute_view<Rank> view{};
  std::size_t to = 0;
  for (std::size_t i = 0; i != Rank; ++i) {
    if (i != axis) view.axes[to++] = i;
  }
  view.axes[Rank - 1] = axis;
  return view;
}

/// Where the results of a reduction go, seen from the elements: one place for all that are reduced.
template <std::size_t Rank>
[[nodiscard]] layout<Rank> reduced_layout(const shape<Rank>& extents, const axis_set<Rank>& set) {
  layout<Rank> l{0, extents, {}};
  index_t stride = 1;
  for (std::size_t axis = Rank; axis-- > 0;) {
    if (set[axis]) continue;
    l.strides[axis] = stride;
    stride *= extents[axis];
  }
  return l;
}

/// How a reduction walks an expression whose axes are in order, by the layout of its results: by
/// rows, or pieces of rows that are combined with each other.
template <expression V>
[[nodiscard]] walk<V::rank> reduction_walk(const V& v, const layout<V::rank>& results,
                                           bool by_rows) {
  walk<V::rank> w = walk_of(v, {results});  // which keep the reduced axes apart from the others
  w.ahead = fetch_distance(is_quick<V>());
  // Rows are combined four at a time: a quarter of a piece is what each of them takes.
  if (!by_rows) w.go_down(results, columns_of_piece / 4);
  return w;
}

/// How a second step walks what the first one leaves, by the layout of its results.
template <std::size_t Rank>
[[nodiscard]] walk<Rank> second_walk(const layout<Rank>& results, const axis_set<Rank>& first) {
  shape<Rank> left = results.extents;
  for (std::size_t axis = 0; axis != Rank; ++axis) {
    if (first[axis]) left[axis] = 1;
  }
  walk_maker<Rank> maker(left);
  maker.add(results);
  return maker.make();
}

}  // namespace topos::detail
