// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of a table picked by index: an embedding look-up that fuses with what follows.

#include <cstdint>
#include <optional>
#include <topos/expr/expression.hpp>
#include <vector>

namespace topos {

namespace detail {

template <class T>
struct gather_rows {
  const T* table;
  const std::int32_t* indices;
  index_t count;
  index_t columns;
  index_t row_step;     // 0: one index for every row
  index_t column_step;  // 0: one column for every column

  // An index outside of the table is clamped to it: a kernel has nobody to tell.
  KOKKOS_FUNCTION memory_row<T> row(index_t r) const {
    const index_t wanted = indices[r * row_step];
    const index_t i = wanted < 0 ? 0 : wanted < count ? wanted : count - 1;
    return {table + i * columns, column_step};
  }
};

template <class T>
struct [[nodiscard]] gather_node {
  using value_type = T;
  static constexpr std::size_t rank = 2;
  tensor_node<T, 2> table;
  tensor_node<std::int32_t, 1> indices;

  [[nodiscard]] topos::shape<2> shape() const { return {indices.extents[0], table.extents[1]}; }
  [[nodiscard]] std::optional<topos::device> device() const { return table.device(); }
  void collect(std::vector<buffer>& reads) const {
    table.collect(reads);
    indices.collect(reads);
  }
  template <std::size_t N>
  [[nodiscard]] bool is_whole(const topos::shape<N>& /*target*/) const {
    return false;  // its rows lie apart
  }
  [[nodiscard]] gather_rows<T> rows(const walk<2>& /*w*/) const {
    return {static_cast<const T*>(table.memory.data()) + table.offset,
            static_cast<const std::int32_t*>(indices.memory.data()) + indices.offset,
            table.extents[0],
            table.extents[1],
            indices.extents[0] == 1 ? 0 : 1,
            table.extents[1] == 1 ? 0 : 1};
  }
};

}  // namespace detail

/// The rows of a table, (n, columns), that `indices`, (m), names: an expression (m, columns).
/// Indices outside of the table are clamped to it. Throws `invalid_argument` if the table is
/// empty, `device_mismatch` if the two are on different devices.
template <class Table, class Indices>
  requires requires(const Table& t, const Indices& i) {
    detail::gather_node<typename Table::value_type>{t.node(), i.node()};
  }
[[nodiscard]] auto take(const Table& table, const Indices& indices,
                        std::source_location where = std::source_location::current()) {
  if (table.shape()[0] == 0) throw invalid_argument("take: the table has no rows", where);
  if (table.device() != indices.device()) {
    throw device_mismatch(
        detail::concat("take: the table ", to_string(table.shape()), " is on ", table.device(),
                       ", the indices ", to_string(indices.shape()), " are on ", indices.device(),
                       "; move one of them with device_put first"),
        where);
  }
  return detail::gather_node<typename Table::value_type>{table.node(), indices.node()};
}

}  // namespace topos
