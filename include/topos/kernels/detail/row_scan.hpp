// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A scan along rows: what is scanned, and how one thread does a short row.

#include <topos/kernels/detail/scan_total.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// The type in which totals are added up.
template <class T>
using running_t = std::conditional_t<std::same_as<T, float>, double, T>;

/// A scan along rows. What is added up in which order depends on the length of a row, and whether a
/// device does it.
template <class Target, class Op, class Rows>
struct row_scan {
  using row_type = decltype(std::declval<const Rows&>().row(0));
  using value_type = typename row_type::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;
  using running = running_t<value_type>;
  using op_type = Op;
  using kept = scan_total<Op, running>;
  using total_type = typename kept::type;

  Target target;
  Rows rows;
  Op op;
  total_type neutral;
  index_t count;
  index_t columns;

  /// Where a row's element goes.
  [[nodiscard]] KOKKOS_FUNCTION result_type* out_of(index_t r, index_t c) const {
    return target.elements.data + target.start(r) + c * target.step;
  }

  [[nodiscard]] KOKKOS_FUNCTION auto joins() const {
    return [this](const total_type& a, const total_type& b) { return kept::join(op, a, b); };
  }

  /// A short row, whose neighbours hide the latency of its operations.
  template <class Row>
  KOKKOS_FUNCTION void scan_straight(const Row& row, result_type* out) const {
    running so_far = kept::value(neutral);
    for (index_t k = 0; k < columns; ++k) {
      so_far = op(so_far, static_cast<running>(row[k]));
      out[k * target.step] = convert_op<result_type>{}(static_cast<value_type>(so_far));
    }
  }
};

}  // namespace topos::detail
