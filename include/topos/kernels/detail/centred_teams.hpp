// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions about a centre by a device's team: both passes by the same threads, as operations on
/// elements alone are done.

#include <topos/kernels/centred.hpp>
#include <topos/kernels/detail/team_reduction.hpp>
#include <type_traits>

namespace topos::detail::device_rows {

template <class Team, centring Op, class Row, class Make>
KOKKOS_FUNCTION auto combine_row(const Team& team, const Op& /*op*/, const Row& row, index_t first,
                                 index_t n, const Make& make) {
  using T = typename Row::value_type;
  const T combined = combine_row(team, typename Op::first_op{}, row, first, n, make);
  team.barrier();
  const T centre = Op::centre_of(combined, n);
  const auto sums = combine_row(team, add_terms_op{}, row, first, n, [&](const T& x, index_t i) {
    return Op::terms_of(make(x, i), centre);
  });
  return combined_t<Op, T>{Op::settle(centre, sums, n), n};
}
template <class Team, centring Op, class Row>
KOKKOS_FUNCTION auto combine_row_by_warp(const Team& team, const Op& /*op*/, const Row& row,
                                         index_t n) {
  using T = typename Row::value_type;
  const T combined = combine_row_by_warp(team, typename Op::first_op{}, row, n);
  const T centre = Op::centre_of(team.of_lane_0(combined), n);
  const auto sums = combine_row_by_warp(
      team, add_terms_op{}, row, n, [&](const T& x, index_t) { return Op::terms_of(x, centre); });
  return combined_t<Op, T>{Op::settle(centre, sums, n), n};
}
template <bool Quick, class Team, centring Op, class Get>
KOKKOS_FUNCTION auto combine(const Team& team, const Op& /*op*/, index_t n, const Get& get) {
  using T = std::decay_t<decltype(get(n))>;
  const T combined = combine<Quick>(team, typename Op::first_op{}, n, get);
  team.barrier();
  const T centre = Op::centre_of(combined, n);
  const auto sums = combine<Quick>(team, add_terms_op{}, n,
                                   [&](index_t i) { return Op::terms_of(T(get(i)), centre); });
  return combined_t<Op, T>{Op::settle(centre, sums, n), n};
}
template <bool Quick, class Team, centring Op, class Get>
KOKKOS_FUNCTION auto combine_by_warp(const Team& team, const Op& /*op*/, index_t n,
                                     const Get& get) {
  using T = std::decay_t<decltype(get(n))>;
  const T combined = combine_by_warp<Quick>(team, typename Op::first_op{}, n, get);
  const T centre = Op::centre_of(team.of_lane_0(combined), n);
  const auto sums = combine_by_warp<Quick>(
      team, add_terms_op{}, n, [&](index_t i) { return Op::terms_of(T(get(i)), centre); });
  return combined_t<Op, T>{Op::settle(centre, sums, n), n};
}
template <centring Op, class Get>
KOKKOS_FUNCTION auto combine_alone(const Op& /*op*/, index_t n, const Get& get) {
  using T = std::decay_t<decltype(get(n))>;
  const T centre = Op::centre_of(combine_alone(typename Op::first_op{}, n, get), n);
  const auto sums =
      combine_alone(add_terms_op{}, n, [&](index_t i) { return Op::terms_of(T(get(i)), centre); });
  return combined_t<Op, T>{Op::settle(centre, sums, n), n};
}

}  // namespace topos::detail::device_rows
