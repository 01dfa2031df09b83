// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running totals by lanes, on the host: how they are read and written, and those of a row, a batch
/// of neighbours at a time, each of which is combined with what is before it in log2 steps: Hillis
/// and Steele, "Data parallel algorithms", Commun. ACM 29 (1986) 1170.

#include <algorithm>
#include <concepts>
#include <topos/expr/call.hpp>
#include <topos/expr/detail/moved_lanes.hpp>
#include <topos/expr/lanes.hpp>

namespace topos::detail::host_rows {

/// Whether elements of T are read as lanes of running totals of type Total; not complex ones, whose
/// products by lanes are others to the bit.
template <class Op, class Total, class T>
inline constexpr bool runs_by_lanes = [] {
  if constexpr (lane::real_element<Total>)
    return lane::width<Total> > 1 && has_lanes<Op, lane::of<Total>, lane::of<Total>> &&
           (std::same_as<T, Total> || lane::widens<T, Total>);
  else
    return false;
}();

/// A batch of totals from elements in memory.
template <class Total, class T>
lane::of<Total> totals_from(const T* from) {
  if constexpr (std::same_as<T, Total>)
    return lane::load(from);
  else
    return lane::load_wide<Total>(from);
}

/// Of the first `count` elements; the others are 0.
template <class Total, class T>
lane::of<Total> totals_from(const T* from, index_t count) {
  if constexpr (std::same_as<T, Total>)
    return lane::load_partial(from, count);
  else
    return lane::load_wide<Total>(from, count);
}

/// And to memory, as numbers of their type or as floats.
template <class T, class Total>
void store_totals(T* to, const lane::of<Total>& totals) {
  if constexpr (std::same_as<T, Total>)
    lane::store(to, totals);
  else
    lane::store_narrow(to, totals);
}

/// The first `count` of them.
template <class T, class Total>
void store_totals(T* to, const lane::of<Total>& totals, index_t count) {
  if constexpr (std::same_as<T, Total>) {
    lane::store_partial(to, totals, count);
  } else {
    T values[lane::width<Total>];
    lane::store_narrow(values, totals);
    std::copy_n(values, count, to);
  }
}

/// Whether a row's running totals are made by lanes.
template <class Op, class Total, class T>
inline constexpr bool runs_along_lanes = runs_by_lanes<Op, Total, T>&& lane::has_moves<Total>;

/// A batch of neighbours, each combined with those before it among its Together ones; `none` are
/// what changes nothing.
template <index_t Together, class Op, class T>
lane::batch<T> among_neighbours(const Op& op, lane::batch<T> x, const lane::batch<T>& none) {
  const auto step = [&]<int Places>(std::integral_constant<int, Places>) {
    if constexpr (Places < Together && Together == lane::width<T>)
      x = op.lanes(lane::moved_up<Places>(x, none), x);
    else if constexpr (Places < Together)
      x = op.lanes(lane::moved_up_in_fours<Places>(x, none), x);
  };
  step(std::integral_constant<int, 1>{});
  step(std::integral_constant<int, 2>{});
  step(std::integral_constant<int, 4>{});
  step(std::integral_constant<int, 8>{});
  static_assert(Together <= 16);
  return x;
}

/// The running totals of `count` elements, from one that is before them on; the last one, if those
/// are whole batches. `neutral` changes nothing that it is combined with. Together neighbours are
/// combined before what is before them joins: all of a batch, or four of eight.
template <index_t Together, class Op, class Total, class T, class To>
[[gnu::noinline]] Total run_along(const Op& op, Total neutral, Total start, const T* from, To* to,
                                  index_t count) {
  using lanes = lane::of<Total>;
  constexpr index_t width = lane::width<Total>;
  const lanes none = lane::splat(neutral);
  lanes before = lane::splat(start);
  const auto next = [&](const lanes& elements) {
    const lanes x = among_neighbours<Together>(op, elements, none);
    lanes first = before;
    if constexpr (Together < width) {
      before = op.lanes(before, lane::splat_of<Together - 1>(x));
      first = lane::fours_of(first, before);
    }
    before = op.lanes(before, lane::splat_of<width - 1>(x));
    return op.lanes(first, x);
  };
  for (; count >= width; count -= width, from += width, to += width)
    store_totals<To, Total>(to, next(totals_from<Total>(from)));
  if (count > 0) store_totals<To, Total>(to, next(totals_from<Total>(from, count)), count);
  Total last[width];
  lane::store(last, before);
  return last[0];
}

}  // namespace topos::detail::host_rows
