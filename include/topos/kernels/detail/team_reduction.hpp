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

/// get(0) to get(n - 1), of which there is one at least, combined in an order that depends on n
/// alone; every thread of the team gets that, perhaps before others of them have called `get`.
template <class Team, class Op, class Get>
KOKKOS_FUNCTION auto combine(const Team& team, const Op& op, index_t n, const Get& get) {
  using T = decltype(get(n));
  partial_result<T> result{};
  const auto add = [&](index_t i, partial_result<T>& so_far) {
    const T value = get(i);
    so_far.value = so_far.some ? op(so_far.value, value) : value;
    so_far.some = true;
  };
  const partial_reducer<T, Op> reducer(op, &result);
  if (n < for_one_warp)
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(team.member(), n), add, reducer);
  else
    Kokkos::parallel_reduce(Kokkos::TeamVectorRange(team.member(), n), add, reducer);
  return result.value;
}

}  // namespace device_rows
}  // namespace topos::detail
