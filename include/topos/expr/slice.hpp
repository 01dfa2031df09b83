// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of an expression by index, as NumPy's basic indexing.

#include <algorithm>
#include <numeric>
#include <optional>
#include <source_location>
#include <topos/expr/expression.hpp>
#include <tuple>
#include <utility>

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

/// What an index is of which the call does not tell the type: a range in braces, or one that is not
/// given, whose axis stays whole.
struct braced : range {
  bool given = false;

  constexpr braced() = default;
  constexpr braced(std::optional<index_t> first, std::optional<index_t> past, index_t by = 1)
      : range(first, past, by), given(true) {}
};

/// What may stand for an axis in an index: a range keeps it, an integer takes it away.
template <class I>
concept axis_index = std::derived_from<I, range> || std::integral<I>;

/// How many indices a slice of so many axes has: one for each, or those whose type is told.
template <std::size_t Rank, class... I>
[[nodiscard]] constexpr std::size_t axes_indexed() {
  std::size_t axis = 0;
  std::size_t past = std::min(Rank, sizeof...(I));
  ((++axis, past = std::same_as<I, braced> ? past : std::max(past, axis)), ...);
  return past;
}

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
  // As unsigned ones, since the lowest step has no negative.
  const auto step = static_cast<std::size_t>(r.step);
  const std::size_t by = r.step > 0 ? step : 0 - step;
  const auto between = static_cast<std::size_t>(std::max<index_t>(span, 1) - 1);
  const index_t count = span <= 0 ? 0 : static_cast<index_t>(between / by + 1);
  // One index takes no step, and strides times a long one may not fit.
  return {first, count > 1 ? r.step : 1, count};
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
    const bool too_large = std::is_unsigned_v<Index> && i < 0;
    if (too_large || i < -extents[axis] || i >= extents[axis]) {
      throw out_of_range(concat("slice: index ", +index, " is out of range for axis ", axis, " of ",
                                to_string(extents)),
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

/// What indices make of a shape. Throws `invalid_argument` for ranges in braces past its axes.
template <std::size_t Rank, axis_index... I>
[[nodiscard]] auto view_at(const shape<Rank>& whole, std::source_location where, I... indices) {
  constexpr std::size_t count = axes_indexed<Rank, I...>();
  std::size_t axis = 0;
  const auto check = [&](const auto& index) {
    if constexpr (std::same_as<std::decay_t<decltype(index)>, braced>) {
      if (axis >= count && index.given)
        throw invalid_argument(
            concat("slice: index ", axis, " is beyond the axes of ", to_string(whole)), where);
    }
    ++axis;
  };
  (check(indices), ...);
  const std::tuple all(indices...);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return slice_view(whole, where, std::get<i>(all)...);
  }
  (std::make_index_sequence<count>{});
}

/// Checks that what was sliced still has its shape.
template <std::size_t Rank>
void require_sliced(const shape<Rank>& whole, const shape<Rank>& now, std::source_location where) {
  if (now == whole) return;
  throw shape_mismatch(concat("slice: the tensor had the shape ", to_string(whole),
                              " when it was sliced, and has ", to_string(now), " now"),
                       where);
}

/// The view of one element, by the number of its place along each axis.
template <std::size_t Rank>
struct element_view {
  static constexpr std::size_t rank = 0;
  shape<Rank> index;

  [[nodiscard]] layout<0> operator()(const layout<Rank>& l) const {
    return {std::inner_product(index.begin(), index.end(), l.strides.begin(), l.offset), {}, {}};
  }
};

/// The view of the element at an index, whose negative ones count from the end.
template <std::size_t Rank>
[[nodiscard]] element_view<Rank> view_of_element(const shape<Rank>& whole, shape<Rank> index,
                                                 std::source_location where) {
  for (std::size_t axis = 0; axis != Rank; ++axis) {
    if (index[axis] < -whole[axis] || index[axis] >= whole[axis]) {
      throw out_of_range(concat("item: index ", to_string(index), " is out of range for the shape ",
                                to_string(whole)),
                         where);
    }
    if (index[axis] < 0) index[axis] += whole[axis];
  }
  return {index};
}

/// The element at an index, as an expression without axes.
template <operand X>
[[nodiscard]] auto element_at(const X& x, const shape<node_t<X>::rank>& index,
                              std::source_location where) {
  decltype(auto) node = as_node(x);
  const shape<node_t<X>::rank> whole = node.shape();
  return node.viewed(whole, view_of_element(whole, index, where));
}

}  // namespace detail

/// A part of x by one index for each of its first axes, of which there are eight at most:
/// `slice(x, range{0, 5}, 3)`, or `slice(x, {0, 5}, 3)`, is Python's x[0:5, 3]. What is in braces
/// is a range; `{}`, or no index, leaves an axis whole. Nothing is copied. Throws `out_of_range`
/// for an index outside of its axis and `invalid_argument` for a step of 0.
template <operand X, detail::axis_index I = detail::braced, detail::axis_index J = detail::braced,
          detail::axis_index K = detail::braced, detail::axis_index L = detail::braced,
          detail::axis_index M = detail::braced, detail::axis_index N = detail::braced,
          detail::axis_index O = detail::braced, detail::axis_index P = detail::braced>
[[nodiscard]] auto slice(const X& x, I i = {}, J j = {}, K k = {}, L l = {}, M m = {}, N n = {},
                         O o = {}, P p = {},
                         std::source_location where = std::source_location::current()) {
  decltype(auto) node = detail::as_node(x);
  const shape<detail::node_t<X>::rank> whole = node.shape();
  return node.viewed(whole, detail::view_at(whole, where, i, j, k, l, m, n, o, p));
}

/// A slice has no indices that are tensors.
template <operand X, operand I>
void slice(const X& /*x*/, const I& /*indices*/) {
  static_assert(detail::is_never<I>,
                "topos: slice takes numbers and ranges: of a mask, write extract(mask, x) or "
                "where(mask, x, other); of indices, take(x, indices)");
}

}  // namespace topos
