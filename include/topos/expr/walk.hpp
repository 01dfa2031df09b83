// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a kernel walks an array: as rows of columns, the rows as long as the layouts allow.

#include <algorithm>
#include <array>
#include <topos/core/layout.hpp>
#include <topos/expr/fetch_distance.hpp>

namespace topos::detail {

/// The axes of a shape, with neighbours joined where every leaf lies as if they were one.
template <std::size_t Rank>
struct walk {
  shape<Rank> extents{};                  ///< The shape itself.
  int axes = 1;                           ///< Axes after joining; the last one is the columns.
  std::array<index_t, Rank + 1> sizes{};  ///< Their extents.
  std::array<std::size_t, Rank + 1>
      last{};         ///< For each, the axis of the shape whose stride it has.
  index_t piece = 0;  ///< Columns that the kernel takes of a row before it goes on to another,
  int along = -1;     ///< which is the next one along this of the axes; -1: there is but one row.
  int leaves = 0;     ///< Of what is walked, results not counted.
  index_t ahead = fetch_distance(true);  ///< How far ahead of what is loaded leaves are fetched.

  [[nodiscard]] index_t columns() const { return sizes[axes - 1]; }
  [[nodiscard]] index_t rows() const {
    index_t product = 1;
    for (int axis = 0; axis + 1 < axes; ++axis) product *= sizes[axis];
    return product;
  }

  /// Goes down pieces of columns, along the axes over which results lie in one place.
  void go_down(const layout<Rank>& results, index_t columns_of_piece) {
    piece = std::min(piece, columns_of_piece);
    for (int axis = 0; axis + 1 < axes; ++axis) {
      if (results.strides[last[axis]] == 0) along = axis;
    }
  }
};

/// Joins axes: each leaf's layout forbids what it does not allow.
template <std::size_t Rank>
class walk_maker {
 public:
  /// The last `apart` axes are not joined with those before.
  explicit walk_maker(const shape<Rank>& extents, std::size_t apart = 0)
      : extents_(extents), apart_(apart) {}

  template <std::size_t N>
  void add(const layout<N>& l) {
    ++leaves_;
    const layout<Rank> whole = broadcast_layout(l, extents_);
    // Axes of extent 1 are left out; the others are compared with their next neighbour.
    std::size_t next = Rank;
    for (std::size_t axis = Rank; axis-- > 0;) {
      if (extents_[axis] == 1) continue;
      if (next != Rank && whole.strides[axis] != whole.strides[next] * extents_[next]) {
        broken_[axis] = true;
      }
      next = axis;
    }
  }

  [[nodiscard]] walk<Rank> make() const {
    walk<Rank> w;
    w.extents = extents_;
    w.leaves = leaves_;
    w.axes = 0;
    bool joins = false;  // whether the next axis joins the one before
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      if (apart_ != 0 && axis == Rank - apart_) joins = false;
      if (extents_[axis] == 1) continue;
      if (joins) {
        w.sizes[w.axes - 1] *= extents_[axis];
        w.last[w.axes - 1] = axis;
      } else {
        push(w, extents_[axis], axis);
      }
      joins = !broken_[axis];
    }
    // Something is always the columns.
    const bool bare = apart_ != 0 && Rank != 0 && !ends_apart(w);
    if (w.axes == 0 || bare) push(w, 1, Rank == 0 ? 0 : Rank - 1);
    w.piece = w.columns();
    w.along = w.axes - 2;
    return w;
  }

 private:
  static void push(walk<Rank>& w, index_t size, std::size_t axis) {
    w.sizes[w.axes] = size;
    w.last[w.axes] = axis;
    ++w.axes;
  }

  // Whether the walk's last axis is one of those kept apart.
  [[nodiscard]] bool ends_apart(const walk<Rank>& w) const {
    return w.axes != 0 && w.last[w.axes - 1] >= Rank - apart_;
  }

  shape<Rank> extents_;
  std::size_t apart_;
  std::array<bool, Rank> broken_{};
  int leaves_ = 0;
};

/// Looks for leaves that are walked across their rows: whose neighbours in the walk's columns lie
/// further apart than those in its rows, if these are not one element again and again.
template <std::size_t Rank>
struct crossing_finder {
  const walk<Rank>& w;
  index_t rows = 0;  ///< One after another, those among which a leaf's neighbours are.

  template <std::size_t N>
  void add(const layout<N>& l) {
    const auto strides = broadcast_layout(l, w.extents).strides;
    const auto distance = [&](int axis) {
      const index_t stride = strides[w.last[axis]];
      return stride < 0 ? -stride : stride;
    };
    index_t nearest = distance(w.axes - 1);
    index_t together = 1;
    for (int axis = w.axes - 2; axis >= 0; --axis) {
      together *= w.sizes[axis];
      if (distance(axis) == 0 || distance(axis) >= nearest) continue;
      nearest = distance(axis);
      rows = std::max(rows, together);
    }
  }
};

/// Among how many rows, one after another, a leaf's neighbours are where it is walked across its
/// rows; 0: each leaf is walked along them, or there is nothing to walk.
template <class E, std::size_t Rank>
[[nodiscard]] index_t rows_crossed(const E& e, const walk<Rank>& w) {
  if (w.axes == 1) return 0;
  crossing_finder<Rank> finder{w};
  e.leaves(finder);
  return finder.rows;
}

}  // namespace topos::detail
