// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a team does with a row: on the host one thread with SIMD lanes, on a device the threads of
/// a block. Kernels are written once, in terms of these.

#include <topos/backend/backend.hpp>
#include <topos/expr/row.hpp>

namespace topos::detail {

namespace host_rows {

/// Calls body(column, lanes that count) for each batch of columns in [first, last).
template <class T, class Body>
inline void for_batches(index_t first, index_t last, Body body) {
  index_t j = first;
  for (; j + lane::width<T> <= last; j += lane::width<T>) body(j, lane::width<T>);
  if (j < last) body(j, last - j);
}

template <class T, class Row>
inline void assign(T* out, const Row& row, index_t first, index_t last) {
  if constexpr (lane::element<T>) {
    for_batches<T>(first, last, [&](index_t j, index_t count) {
      if (count == lane::width<T>) {
        lane::store(out + j, row.lanes(j, lane::width<T>));
      } else {
        lane::store_partial(out + j, row.lanes(j, count), count);
      }
    });
  } else {
    for (index_t j = first; j < last; ++j) out[j] = row[j];
  }
}

template <class T, class Row>
inline T sum(const Row& row, index_t n) {
  // Two chains of additions, so that one does not wait for the other.
  auto even = lane::splat(T(0));
  auto odd = lane::splat(T(0));
  index_t j = 0;
  for (; j + 2 * lane::width<T> <= n; j += 2 * lane::width<T>) {
    even = even + row.lanes(j, lane::width<T>);
    odd = odd + row.lanes(j + lane::width<T>, lane::width<T>);
  }
  for (; j + lane::width<T> <= n; j += lane::width<T>) even = even + row.lanes(j, lane::width<T>);
  T total = lane::sum(even + odd);
  if (j < n) {
    T tail[lane::width<T>];
    lane::store(tail, row.lanes(j, n - j));
    for (index_t i = 0; i < n - j; ++i) total += tail[i];
  }
  return total;
}

template <class T, class Row>
inline T largest(const Row& row, index_t n) {
  T result = row[0];
  index_t j = 0;
  if (n >= lane::width<T>) {
    auto lanes = row.lanes(0, lane::width<T>);
    for (j = lane::width<T>; j + lane::width<T> <= n; j += lane::width<T>) {
      lanes = lane::max(lanes, row.lanes(j, lane::width<T>));
    }
    result = lane::largest<T>(lanes);
  }
  for (; j < n; ++j) result = row[j] > result ? row[j] : result;
  return result;
}

}  // namespace host_rows

/// out[j] = row[j] for j in [first, last).
TOPOS_HOST_BRANCH
template <class Team, class T, class Row>
KOKKOS_FUNCTION void assign(const Team& team, T* out, const Row& row, index_t first, index_t last) {
  if constexpr (Team::on_host) {
    host_rows::assign(out, row, first, last);
  } else {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), first, last),
                         [&](index_t j) { out[j] = row[j]; });
    team.barrier();
  }
}

/// The sum of the first n elements of a row, in an order that depends on n alone; every thread of
/// the team gets it.
TOPOS_HOST_BRANCH
template <class Team, class Row>
KOKKOS_FUNCTION typename Row::value_type sum(const Team& team, const Row& row, index_t n) {
  using T = typename Row::value_type;
  if constexpr (Team::on_host) {
    return host_rows::sum<T>(row, n);
  } else {
    T total{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team.member(), n),
        [&](index_t j, T& partial) { partial += row[j]; }, total);
    team.barrier();
    return total;
  }
}

/// The largest of the first n > 0 elements of a row; every thread of the team gets it.
TOPOS_HOST_BRANCH
template <class Team, class Row>
KOKKOS_FUNCTION typename Row::value_type largest(const Team& team, const Row& row, index_t n) {
  using T = typename Row::value_type;
  if constexpr (Team::on_host) {
    return host_rows::largest<T>(row, n);
  } else {
    T result{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team.member(), n),
        [&](index_t j, T& partial) { partial = row[j] > partial ? row[j] : partial; },
        Kokkos::Max<T>(result));
    team.barrier();
    return result;
  }
}

}  // namespace topos::detail
