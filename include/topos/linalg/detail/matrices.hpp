// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operands of products as stacks of matrices in memory, where they lie if that is possible.

#include <array>
#include <limits>
#include <optional>
#include <source_location>
#include <topos/linalg/product.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos::detail {

template <class E>
inline constexpr bool is_memory = false;
template <class T, std::size_t Rank>
inline constexpr bool is_memory<tensor_node<T, Rank>> = true;

/// The steps of a matrix as products take them: one axis has step 1, the other's step is at least
/// the extent of that one. Steps of axes of one element are free, and chosen so. Nothing if the
/// matrix does not lie so.
[[nodiscard]] inline std::optional<std::array<index_t, 2>> matrix_steps(index_t rows,
                                                                        index_t columns,
                                                                        index_t row,
                                                                        index_t column) {
  if (columns == 1) column = 1;
  if (rows == 1) row = column == 1 ? columns : 1;
  if (columns == 1 && row < 1) return std::nullopt;
  if (column == 1 && (row >= columns || rows == 1)) return std::array{row, column};
  if (row == 1 && column >= rows) return std::array{row, column};
  return std::nullopt;
}

/// An expression as memory whose last two axes are matrices that products take: itself, if it is
/// that, or computed on `d`.
template <expression E>
  requires(E::rank >= 2)
[[nodiscard]] auto in_memory(const E& e, device d, std::source_location where) {
  if constexpr (is_memory<E>) {
    constexpr std::size_t last = E::rank - 1;
    const auto& l = e.where;
    if (size_of_shape(l.extents) == 0 ||
        matrix_steps(l.extents[last - 1], l.extents[last], l.strides[last - 1], l.strides[last])) {
      return e;
    }
    return tensor<typename E::value_type, E::rank>(e, where).node();
  } else {
    const default_device scope(d);
    return tensor<typename E::value_type, E::rank>(e, where).node();
  }
}

/// The products of two stacks of matrices that fit each other and are not empty.
template <class T, std::size_t Batch>
[[nodiscard]] matrix_product<T> product_of(const tensor_node<T, Batch + 2>& a,
                                           const tensor_node<T, Batch + 2>& b,
                                           const shape<Batch>& batch, T* c) {
  static_assert(Batch <= matrix_product<T>::most_axes);
  matrix_product<T> p{.a = a.source.elements().data + a.where.offset,
                      .b = b.source.elements().data + b.where.offset,
                      .c = c,
                      .m = a.where.extents[Batch],
                      .n = b.where.extents[Batch + 1],
                      .k = b.where.extents[Batch]};
  const auto steps_of = [](const auto& l) {
    return *matrix_steps(l.extents[Batch], l.extents[Batch + 1], l.strides[Batch],
                         l.strides[Batch + 1]);
  };
  const auto a_steps = steps_of(a.where);
  const auto b_steps = steps_of(b.where);
  p.a_row = a_steps[0];
  p.a_column = a_steps[1];
  p.b_row = b_steps[0];
  p.b_column = b_steps[1];
  for (std::size_t axis = 0; axis != Batch; ++axis) {
    if (batch[axis] == 1) continue;
    const index_t own_a = a.where.extents[axis] == 1 ? 0 : a.where.strides[axis];
    const index_t own_b = b.where.extents[axis] == 1 ? 0 : b.where.strides[axis];
    const int before = p.axes - 1;
    if (before >= 0 && p.a_steps[before] == own_a * batch[axis] &&
        p.b_steps[before] == own_b * batch[axis]) {
      p.extents[before] *= batch[axis];  // one axis with the one before
      p.a_steps[before] = own_a;
      p.b_steps[before] = own_b;
    } else {
      p.extents[p.axes] = batch[axis];
      p.a_steps[p.axes] = own_a;
      p.b_steps[p.axes++] = own_b;
    }
  }
  // Matrices one below the other, times the same one, are one matrix, if libraries take so many
  // rows.
  if (p.axes > 0 && p.b_steps[p.axes - 1] == 0 && p.a_column == 1 &&
      p.a_steps[p.axes - 1] == p.m * p.a_row &&
      p.m * p.extents[p.axes - 1] <= std::numeric_limits<int>::max()) {
    p.m *= p.extents[--p.axes];
  }
  return p;
}

}  // namespace topos::detail
