// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of an expression by index, as NumPy's basic indexing.

#include <algorithm>
#include <limits>
#include <optional>
#include <topos/expr/expression.hpp>

namespace topos {

/// Every step-th index from `start` up to, not including, `stop`: Python's start:stop:step. What is
/// left out reaches to the end, so that `range{}` is Python's `:`. Negative indices count from the
/// end; a negative step walks backwards.
struct range {
  std::optional<index_t> start;
  std::optional<index_t> stop;
  index_t step = 1;

  constexpr range() = default;
  constexpr range(std::optional<index_t> first, std::optional<index_t> past, index_t by = 1)
      : start(first), stop(past), step(by) {}
};

namespace detail {

/// What may stand for an axis in an index: a range keeps it, an integer takes it away.
template <class I>
concept axis_index = std::same_as<I, range> || std::integral<I>;

template <class... I>
inline constexpr std::size_t axes_taken = (std::size_t{0} + ... + (std::integral<I> ? 1 : 0));

// Python's slice.indices: first index, step and count for an axis.
struct resolved_range {
  index_t first;
  index_t step;
  index_t count;
};
[[nodiscard]] inline resolved_range resolve(const range& r, index_t extent,
                                            std::source_location where) {
  if (r.step == 0) throw invalid_argument("slice: the step of a range is 0", where);
  const index_t lowest = r.step > 0 ? 0 : -1;
  const index_t highest = r.step > 0 ? extent : extent - 1;
  const auto place = [&](const std::optional<index_t>& at, index_t otherwise) {
    if (!at) return otherwise;
    return std::clamp(*at < 0 ? *at + extent : *at, lowest, highest);
  };
  const index_t first = place(r.start, r.step > 0 ? lowest : highest);
  const index_t stop = place(r.stop, r.step > 0 ? highest : lowest);
  const index_t span = r.step > 0 ? stop - first : first - stop;
  const index_t by = r.step > 0 ? r.step : -r.step;
  return {first, r.step, span <= 0 ? 0 : (span - 1) / by + 1};
}

/// The view that indices make of a shape; axes after the last index stay whole.
template <std::size_t Rank, axis_index... I>
class slice_view {
 public:
  static constexpr std::size_t rank = Rank - axes_taken<I...>;
  static_assert(sizeof...(I) <= Rank, "topos: more indices than axes");

  slice_view(const shape<Rank>& extents, [[maybe_unused]] std::source_location where,
             I... indices) {
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      first_[axis] = 0;
      step_[axis] = 1;
      count_[axis] = extents[axis];
      kept_[axis] = true;
    }
    std::size_t axis = 0;
    (set(axis++, extents, indices, where), ...);
  }

  [[nodiscard]] layout<rank> operator()(const layout<Rank>& l) const {
    layout<rank> result{l.offset, {}, {}};
    std::size_t to = 0;
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      result.offset += first_[axis] * l.strides[axis];
      if (!kept_[axis]) continue;
      result.extents[to] = count_[axis];
      result.strides[to] = step_[axis] * l.strides[axis];
      ++to;
    }
    return result;
  }

 private:
  void set(std::size_t axis, const shape<Rank>& extents, const range& r,
           std::source_location where) {
    const resolved_range found = resolve(r, extents[axis], where);
    first_[axis] = found.count == 0 ? 0 : found.first;
    step_[axis] = found.step;
    count_[axis] = found.count;
  }
  template <std::integral Index>
  void set(std::size_t axis, const shape<Rank>& extents, Index index, std::source_location where) {
    const auto i = static_cast<index_t>(index);
    if (i < -extents[axis] || i >= extents[axis]) {
      throw out_of_range(concat("slice: index ", i, " of axis ", axis, " of ", to_string(extents)),
                         where);
    }
    first_[axis] = i < 0 ? i + extents[axis] : i;
    kept_[axis] = false;
  }

  shape<Rank> first_{};
  shape<Rank> step_{};
  shape<Rank> count_{};
  std::array<bool, Rank> kept_{};
};

template <operand X, axis_index... I>
[[nodiscard]] auto slice_at(std::source_location where, const X& x, I... indices) {
  constexpr std::size_t rank = node_t<X>::rank;
  decltype(auto) node = as_node(x);
  const shape<rank> whole = node.shape();
  return node.viewed(whole, slice_view<rank, I...>(whole, where, indices...));
}

}  // namespace detail

/// A part of x by one index for each of its first axes: `slice(x, range{0, 5}, 3)` is Python's
/// x[0:5, 3]. Nothing is copied. Throws `out_of_range` for an index outside of its axis and
/// `invalid_argument` for a step of 0.
template <operand X, detail::axis_index I>
[[nodiscard]] auto slice(const X& x, I i,
                         std::source_location where = std::source_location::current()) {
  return detail::slice_at(where, x, i);
}
template <operand X, detail::axis_index I, detail::axis_index J>
[[nodiscard]] auto slice(const X& x, I i, J j,
                         std::source_location where = std::source_location::current()) {
  return detail::slice_at(where, x, i, j);
}
template <operand X, detail::axis_index... I>
[[nodiscard]] auto slice(const X& x, I... indices) {
  return detail::slice_at({}, x, indices...);
}

}  // namespace topos
