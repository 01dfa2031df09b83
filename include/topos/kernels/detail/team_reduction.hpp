// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the threads of a device's team combine.

#include <topos/backend/backend.hpp>
#include <topos/core/config.hpp>

namespace topos::detail {

/// What a thread of a device's team has combined so far, perhaps nothing.
template <class T>
struct partial_result {
  T value;
  bool some;
};

/// Kokkos' reducer for an operation that need not have a neutral element.
template <class T, class Op>
class partial_reducer {
 public:
  using reducer = partial_reducer;
  using value_type = partial_result<T>;
  using result_view_type = Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  KOKKOS_FUNCTION partial_reducer(const Op& op, value_type* result) : op_(op), result_(result) {}
  KOKKOS_FUNCTION void join(value_type& into, const value_type& from) const {
    if (!from.some) return;
    into.value = into.some ? op_(into.value, from.value) : from.value;
    into.some = true;
  }
  KOKKOS_FUNCTION void init(value_type& value) const { value = {T{}, false}; }
  KOKKOS_FUNCTION value_type& reference() const { return *result_; }

 private:
  Op op_;
  value_type* result_;
};

namespace device_rows {

/// Fewer values than this one warp combines, and all warps of a team do the same. How many those
/// are depends on what else the team does, and the order of what is combined must not.
inline constexpr index_t for_one_warp = 512;

/// What a thread asks for at once, of n values: of quick ones four, since it would wait for each
/// that it asked for alone. What takes long to compute is there once in the code of a thread.
template <bool Quick>
KOKKOS_FUNCTION index_t groups_of(index_t n) {
  return Quick ? (n + 3) / 4 : n;
}

/// get(0) to get(n - 1), of which there is one at least, combined by those over whom the groups are
/// spread.
template <bool Quick, class Groups, class Op, class Get>
KOKKOS_FUNCTION auto combine_over(const Groups& groups, const Op& op, index_t n, const Get& get) {
  using T = decltype(get(n));
  partial_result<T> result{};
  const auto add = [&](const T& value, partial_result<T>& so_far) {
    so_far.value = so_far.some ? T(op(so_far.value, value)) : value;
    so_far.some = true;
  };
  const auto add_one = [&](index_t i, partial_result<T>& so_far) { add(get(i), so_far); };
  const auto add_four = [&](index_t group, partial_result<T>& so_far) {
    index_t i = 4 * group;
    if (i + 4 <= n) {
      const T a = get(i);
      const T b = get(i + 1);
      const T c = get(i + 2);
      const T d = get(i + 3);
      add(T(op(T(op(a, b)), T(op(c, d)))), so_far);
    } else {
      for (; i < n; ++i) add(get(i), so_far);
    }
  };
  const partial_reducer<T, Op> reducer(op, &result);
  if constexpr (Quick)
    Kokkos::parallel_reduce(groups, add_four, reducer);
  else
    Kokkos::parallel_reduce(groups, add_one, reducer);
  return result.value;
}

/// The same by one thread: in chains of eight, so that the error of a sum grows with those.
template <class Op, class Get>
KOKKOS_FUNCTION auto combine_alone(const Op& op, index_t n, const Get& get) {
  using T = decltype(get(n));
  const index_t length = 8;
  T result{};
  for (index_t first = 0; first < n; first += length) {
    const index_t past = first + length < n ? first + length : n;
    T chain = get(first);
    for (index_t i = first + 1; i < past; ++i) chain = op(chain, get(i));
    result = first == 0 ? chain : T(op(result, chain));
  }
  return result;
}

/// The same by one warp, of fewer values than `for_one_warp`.
template <bool Quick, class Team, class Op, class Get>
KOKKOS_FUNCTION auto combine_by_warp(const Team& team, const Op& op, index_t n, const Get& get) {
  return combine_over<Quick>(Kokkos::ThreadVectorRange(team.member(), groups_of<Quick>(n)), op, n,
                             get);
}

/// The same by a team, in an order that depends on n alone; every thread of the team gets the
/// result, perhaps before others of them have called `get`.
template <bool Quick, class Team, class Op, class Get>
KOKKOS_FUNCTION auto combine(const Team& team, const Op& op, index_t n, const Get& get) {
  if (n < for_one_warp) return combine_by_warp<Quick>(team, op, n, get);
  return combine_over<Quick>(Kokkos::TeamVectorRange(team.member(), groups_of<Quick>(n)), op, n,
                             get);
}

}  // namespace device_rows
}  // namespace topos::detail
