// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the threads of a device's team combine.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/memory_elements.hpp>
#include <topos/expr/operation_row.hpp>
#include <type_traits>

namespace topos::detail::device_rows {

/// Fewer values than this one warp combines, and all warps of a team do the same. How many those
/// are depends on what else the team does, and the order of what is combined must not.
inline constexpr index_t for_one_warp = 512;

/// What a thread asks for at once: of quick values four, since it would wait for each that it asked
/// for alone. What takes long to compute is there once in the code of a thread.
template <bool Quick>
inline constexpr int at_once = Quick ? 4 : 1;

/// Some values combined as a tree.
template <class Op, class T, int N>
KOKKOS_FUNCTION T fold(const Op& op, T (&values)[N]) {
  for (int step = 1; step < N; step *= 2) {
    for (int k = 0; k + step < N; k += 2 * step)
      values[k] = static_cast<T>(op(values[k], values[k + step]));
  }
  return values[0];
}

/// An operation on what one thread combines, whose operands come in their order.
template <class Op>
KOKKOS_FUNCTION auto in_order(const Op& op) {
  if constexpr (requires { op.in_order(); })
    return op.in_order();
  else
    return op;
}

/// What make(load(i), i) gives of first, first + step, ... before n, of which there is one at
/// least, combined by one thread. It counts by 32 bits: more takes a GPU longer, and what one team
/// combines are fewer.
template <int AtOnce, class Op, class Load, class Make>
KOKKOS_FUNCTION auto combine_every(const Op& given, int first, int step, index_t n,
                                   const Load& load, const Make& make) {
  using T = std::decay_t<decltype(make(load(n), n))>;
  const auto op = in_order(given);
  const auto past = static_cast<std::uint32_t>(n);
  const auto apart = static_cast<std::uint32_t>(step);
  T result{};
  bool some = false;
  const auto add = [&](const T& value) {
    result = some ? static_cast<T>(op(result, value)) : value;
    some = true;
  };
  auto i = static_cast<std::uint32_t>(first);
  if constexpr (AtOnce > 1) {
    for (; i + (AtOnce - 1) * apart < past; i += AtOnce * apart) {
      std::decay_t<decltype(load(n))> loaded[AtOnce];
      for (int k = 0; k < AtOnce; ++k) loaded[k] = load(i + k * apart);
      T values[AtOnce];
      for (int k = 0; k < AtOnce; ++k) values[k] = make(loaded[k], i + k * apart);
      add(fold(op, values));
    }
  }
  for (; i < past; i += apart) add(make(load(i), i));
  return result;
}

/// The same of get(first), get(first + step), ...
template <int AtOnce, class Op, class Get>
KOKKOS_FUNCTION auto combine_every(const Op& op, int first, int step, index_t n, const Get& get) {
  using T = std::decay_t<decltype(get(n))>;
  return combine_every<AtOnce>(op, first, step, n, get, [](const T& x, index_t) { return x; });
}

/// The same of get(0) to get(n - 1): eight at a time, so that the error of a sum grows with those.
template <class Op, class Get>
KOKKOS_FUNCTION auto combine_alone(const Op& op, index_t n, const Get& get) {
  return combine_every<8>(op, 0, 1, n, get);
}

/// The same by one warp, of fewer values than `for_one_warp`; lane 0 gets the result.
template <bool Quick, class Team, class Op, class Get>
KOKKOS_FUNCTION auto combine_by_warp(const Team& team, const Op& op, index_t n, const Get& get) {
  using T = std::decay_t<decltype(get(n))>;
  T mine{};
  if (team.lane() < n) mine = combine_every<at_once<Quick>>(op, team.lane(), Team::lanes, n, get);
  return team.combine_lanes(mine, n < Team::lanes ? static_cast<int>(n) : Team::lanes, op);
}

/// The same by a team, in an order that depends on n alone; every thread of the team gets the
/// result, perhaps before others of them have called `get`.
template <bool Quick, class Team, class Op, class Get>
KOKKOS_FUNCTION auto combine(const Team& team, const Op& op, index_t n, const Get& get) {
  using T = std::decay_t<decltype(get(n))>;
  if (n < for_one_warp) return team.of_lane_0(T(combine_by_warp<Quick>(team, op, n, get)));
  return team.combine(T(combine_every<at_once<Quick>>(op, team.rank(), team.threads(), n, get)),
                      op);
}

/// What thread `rank` of so many combines of elements [first, first + n) of a row, as
/// make(element, number) makes values of them. It takes neighbours of 16 bytes, at once where they
/// lie so.
template <class Op, class Row, class Make>
KOKKOS_FUNCTION auto part_of_row(int rank, int threads, const Op& op, const Row& row, index_t first,
                                 index_t n, const Make& make) {
  constexpr int size = pack_size<typename Row::value_type>;
  const auto each = [&](index_t i) { return make(row[first + i], i); };
  using T = std::decay_t<decltype(each(n))>;
  if (size == 1 || n < size * threads)
    return T(combine_every<at_once<Row::is_quick>>(op, rank, threads, n, each));
  using elements = pack<typename Row::value_type, size>;
  const auto of_packs = [&](const auto& pack_at) {
    return combine_every<at_once<Row::is_quick>>(
        op, rank, threads, n / size, [&](index_t i) { return pack_at(first + i * size); },
        [&](const elements& loaded, index_t i) {
          T values[size];
          for (int k = 0; k < size; ++k) values[k] = make(loaded.value[k], i * size + k);
          return fold(in_order(op), values);
        });
  };
  const auto packed = [&] {
    if (is_contiguous(row)) {
      const auto dense = contiguous(row);
      if (dense.template packs<size>(first))
        return of_packs([&](index_t j) { return dense.template packed<size>(j); });
    }
    return of_packs([&](index_t j) {
      elements loaded;
      for (int k = 0; k < size; ++k) loaded.value[k] = row[j + k];
      return loaded;
    });
  };
  T mine = packed();
  for (index_t rest = n / size * size + rank; rest < n; rest += threads)
    mine = static_cast<T>(op(mine, each(rest)));
  return mine;
}

/// Elements of a row, as make(element, number) makes values of them, combined by a team, in an
/// order that depends on n alone; every thread gets the result.
template <class Team, class Op, class Row, class Make>
KOKKOS_FUNCTION auto combine_row(const Team& team, const Op& op, const Row& row, index_t first,
                                 index_t n, const Make& make) {
  if (n < for_one_warp) {
    return combine<Row::is_quick>(team, op, n, [&](index_t i) { return make(row[first + i], i); });
  }
  return team.combine(part_of_row(team.rank(), team.threads(), op, row, first, n, make), op);
}

/// The same by one warp, which does in turn what the warps of a team do; lane 0 gets the result.
template <class Team, class Op, class Row, class Make>
KOKKOS_FUNCTION auto combine_row_by_warp(const Team& team, const Op& op, const Row& row, index_t n,
                                         const Make& make) {
  using T = std::decay_t<decltype(make(row[n], n))>;
  T result{};
  for (int warp = 0; warp < team.warps(); ++warp) {
    const T mine =
        part_of_row(warp * Team::lanes + team.lane(), team.threads(), op, row, 0, n, make);
    const T of_warp = team.combine_lanes(mine, Team::lanes, op);
    result = warp == 0 ? of_warp : static_cast<T>(op(result, of_warp));
  }
  return result;
}
template <class Team, class Op, class Row>
KOKKOS_FUNCTION auto combine_row_by_warp(const Team& team, const Op& op, const Row& row,
                                         index_t n) {
  using T = typename Row::value_type;
  return combine_row_by_warp(team, op, row, n, [](const T& value, index_t) { return value; });
}

}  // namespace topos::detail::device_rows
