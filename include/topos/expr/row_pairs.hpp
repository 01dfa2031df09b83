// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of two places of a row at once, where elements come in pairs.

#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

namespace topos::detail {

/// The lanes from j and from j + distance on, each made by itself.
template <class Row>
struct row_pairs {
  Row row;
  index_t distance;

  [[nodiscard, gnu::always_inline]] auto operator()(index_t j) const {
    const auto first = row.lanes(j, lane::all{});
    return lane::pair<std::decay_t<decltype(first)>>{first, row.lanes(j + distance, lane::all{})};
  }
};

/// The same of elements that make both at once, if their partners are as far apart.
template <class Row, class Pairs>
struct partner_pairs {
  Pairs partners;
  row_pairs<Row> pairs;
  bool match;

  [[nodiscard, gnu::always_inline]] auto operator()(index_t j) const {
    return match ? partners(j) : apart(pairs, j);
  }

 private:
  // Out of line and of a copy, so that a loop keeps the original in registers.
  [[nodiscard, gnu::noinline, gnu::cold]] static auto apart(row_pairs<Row> pairs, index_t j) {
    return pairs(j);
  }
};

}  // namespace topos::detail
