// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arrays with a border.

#include <algorithm>
#include <array>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos {

/// How many elements are put before those of an axis, and after them.
struct border {
  index_t before = 0;
  index_t after = 0;
};

/// A new tensor of the elements of x with a border of one value around them, of its own width on
/// either side of each axis: `pad(x, {{1, 1}, {0, 2}})`. Returns at once. Throws `invalid_argument`
/// for a width below 0, or a whole number that integers of the type do not have.
template <operand X, std::size_t Rank, detail::scalar S = int>
  requires(Rank > 0 && Rank == detail::node_t<X>::rank)
[[nodiscard]] auto pad(const X& x, const std::array<border, Rank>& widths, S value = 0,
                       std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<X>;
  constexpr std::size_t rank = Rank;
  detail::require_fits<T>("pad", value, where);
  decltype(auto) node = detail::as_node(x);
  const shape<rank> inner = node.shape();
  shape<rank> extents = inner;
  for (std::size_t axis = 0; axis != rank; ++axis) {
    const auto [before, after] = widths[axis];
    if (before < 0 || after < 0) {
      throw invalid_argument(
          detail::concat("pad: a border of ", std::min(before, after), " elements along axis ",
                         axis, "; slice takes elements away"),
          where);
    }
    if (__builtin_add_overflow(extents[axis], before, &extents[axis]) ||
        __builtin_add_overflow(extents[axis], after, &extents[axis])) {
      throw shape_mismatch(detail::concat("pad: axis ", axis, " does not fit 63 bits"), where);
    }
  }
  const device d = node.device().value_or(default_device::current());
  auto result = tensor<T, rank>::for_work(extents, d, where);
  auto place = detail::layout<rank>::dense(extents);
  if (extents != inner)
    detail::map(detail::filled<T>(detail::convert_op<T>{}(value), extents, d), result.memory(),
                place, where);
  for (std::size_t axis = 0; axis != rank; ++axis)
    place.offset += widths[axis].before * place.strides[axis];
  place.extents = inner;
  detail::map(node, result.memory(), place, where);
  return result;
}
template <operand X, detail::scalar S = int>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto pad(const X& x, const border (&widths)[detail::node_t<X>::rank], S value = 0,
                       std::source_location where = std::source_location::current()) {
  return pad(x, std::to_array(widths), value, where);
}

/// The same width on every side.
template <operand X, detail::scalar S = int>
  requires(detail::node_t<X>::rank > 0)
[[nodiscard]] auto pad(const X& x, index_t width, S value = 0,
                       std::source_location where = std::source_location::current()) {
  std::array<border, detail::node_t<X>::rank> widths;
  widths.fill({width, width});
  return pad(x, widths, value, where);
}

}  // namespace topos
