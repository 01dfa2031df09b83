// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the elements of an array lie: what views rearrange without touching an element.

#include <array>
#include <source_location>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>
#include <utility>

namespace topos::detail {

/// Element (i, j, ...) is number offset + i * strides[0] + j * strides[1] + ... of its source.
template <std::size_t Rank>
struct layout {
  index_t offset = 0;
  shape<Rank> extents{};
  shape<Rank> strides{};
  friend bool operator==(const layout&, const layout&) = default;

  /// All elements of a source in row-major order, from an offset on.
  [[nodiscard]] static layout dense(const shape<Rank>& extents, index_t offset = 0) {
    layout result{offset, extents, {}};
    index_t stride = 1;
    for (std::size_t axis = Rank; axis-- > 0;) {
      result.strides[axis] = stride;
      stride *= extents[axis];
    }
    return result;
  }

  /// Whether the elements are neighbours in row-major order.
  [[nodiscard]] bool is_dense() const {
    index_t stride = 1;
    for (std::size_t axis = Rank; axis-- > 0;) {
      if (extents[axis] != 1 && strides[axis] != stride) return false;
      stride *= extents[axis];
    }
    return true;
  }
};

/// `l` repeated along new leading axes and along axes of extent 1, to a shape it broadcasts to.
template <std::size_t N, std::size_t Rank>
[[nodiscard]] layout<N> broadcast_layout(const layout<Rank>& l, const shape<N>& extents) {
  static_assert(N >= Rank, "topos: broadcasting takes no axes away");
  layout<N> result{l.offset, extents, {}};
  for (std::size_t axis = 0; axis != Rank; ++axis) {
    const std::size_t to = axis + N - Rank;
    result.strides[to] = l.extents[axis] == extents[to] ? l.strides[axis] : 0;
  }
  return result;
}

/// An axis that may be counted from the end, as NumPy's; throws `out_of_range`.
[[nodiscard]] inline std::size_t checked_axis(const char* operation, index_t axis, std::size_t rank,
                                              std::source_location where) {
  const auto count = static_cast<index_t>(rank);
  if (axis < -count || axis >= count) {
    throw out_of_range(
        concat(operation, ": axis ", axis, " is out of range for an array of ", count, " axes"),
        where);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

/// Several axes of `Rank`, in their order; throws `invalid_argument` if one is named twice.
template <std::size_t Rank, std::size_t N>
[[nodiscard]] std::array<std::size_t, N> checked_axes(const char* operation,
                                                      const std::array<index_t, N>& axes,
                                                      std::source_location where) {
  static_assert(N <= Rank, "topos: more axes are named than there are");
  std::array<bool, Rank> named{};
  std::array<std::size_t, N> checked{};
  for (std::size_t i = 0; i != N; ++i) {
    checked[i] = checked_axis(operation, axes[i], Rank, where);
    if (std::exchange(named[checked[i]], true))
      throw invalid_argument(concat(operation, ": axis ", axes[i], " is named twice"), where);
  }
  return checked;
}

/// Views: what each does to a layout. `rank` is the number of axes that it leaves.

template <std::size_t Rank>
struct permute_view {
  static constexpr std::size_t rank = Rank;
  std::array<std::size_t, Rank> axes;
  [[nodiscard]] layout<Rank> operator()(const layout<Rank>& l) const {
    layout<Rank> result = l;
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      result.extents[axis] = l.extents[axes[axis]];
      result.strides[axis] = l.strides[axes[axis]];
    }
    return result;
  }
};

template <std::size_t Rank>
struct flip_view {
  static constexpr std::size_t rank = Rank;
  std::array<bool, Rank> flipped;
  [[nodiscard]] layout<Rank> operator()(const layout<Rank>& l) const {
    layout<Rank> result = l;
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      if (!flipped[axis] || l.extents[axis] == 0) continue;
      result.offset += (l.extents[axis] - 1) * l.strides[axis];
      result.strides[axis] = -l.strides[axis];
    }
    return result;
  }
};

/// A new axis of extent 1 before axis `before`.
template <std::size_t Rank>
struct expand_view {
  static constexpr std::size_t rank = Rank;
  std::size_t before;
  [[nodiscard]] layout<Rank> operator()(const layout<Rank - 1>& l) const {
    layout<Rank> result{l.offset, {}, {}};
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      if (axis == before) {
        result.extents[axis] = 1;
        continue;
      }
      result.extents[axis] = l.extents[axis - (axis > before ? 1 : 0)];
      result.strides[axis] = l.strides[axis - (axis > before ? 1 : 0)];
    }
    return result;
  }
};

/// Without axis `axis`, at one index of it.
template <std::size_t Rank>
struct pick_view {
  static constexpr std::size_t rank = Rank;
  std::size_t picked;
  index_t index;
  [[nodiscard]] layout<Rank> operator()(const layout<Rank + 1>& l) const {
    layout<Rank> result{l.offset + index * l.strides[picked], {}, {}};
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      result.extents[axis] = l.extents[axis + (axis >= picked ? 1 : 0)];
      result.strides[axis] = l.strides[axis + (axis >= picked ? 1 : 0)];
    }
    return result;
  }
};

template <std::size_t Rank>
struct broadcast_view {
  static constexpr std::size_t rank = Rank;
  shape<Rank> extents;
  template <std::size_t From>
  [[nodiscard]] layout<Rank> operator()(const layout<From>& l) const {
    return broadcast_layout(l, extents);
  }
};

/// Along each axis: every step-th index from first on, so many of them.
template <std::size_t Rank>
struct range_view {
  static constexpr std::size_t rank = Rank;
  shape<Rank> first;
  shape<Rank> step;
  shape<Rank> count;
  [[nodiscard]] layout<Rank> operator()(const layout<Rank>& l) const {
    layout<Rank> result = l;
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      result.offset += first[axis] * l.strides[axis];
      result.strides[axis] = step[axis] * l.strides[axis];
      result.extents[axis] = count[axis];
    }
    return result;
  }
};

}  // namespace topos::detail
