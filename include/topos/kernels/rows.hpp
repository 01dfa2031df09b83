// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a team does with a row: on the host one thread with SIMD lanes, on a device the threads of
/// a block. Kernels are written once, in terms of these.

#include <topos/backend/backend.hpp>
#include <topos/expr/operations.hpp>
#include <topos/expr/row.hpp>

namespace topos::detail {

namespace host_rows {

template <class T, class Row>
inline void assign_dense(T* out, const Row& row, index_t first, index_t last) {
  if constexpr (Row::width != 0) {
    index_t j = first;
    for (; j + Row::width <= last; j += Row::width) lane::store(out + j, row.lanes(j, lane::all{}));
    if (j < last) lane::store_partial(out + j, row.lanes(j, last - j), last - j);
  } else {
    for (index_t j = first; j < last; ++j) out[j] = row[j];
  }
}

template <class T, class Elements>
inline void assign_dense(T* out, const strided_row<Elements>& row, index_t first, index_t last) {
  for (index_t j = first; j < last; ++j) out[j] = row[j];  // lanes would be gathered one by one
}

template <class T, class Row>
inline void assign(T* out, index_t step, const Row& row, index_t first, index_t last) {
  if (step != 1) {
    for (index_t j = first; j < last; ++j) out[j * step] = row[j];
  } else if (row.is_dense()) {
    assign_dense(out, row.dense(), first, last);
  } else {
    assign_dense(out, row, first, last);
  }
}

/// Pairs of whole batches from columns [first, last) and the same `distance` further on.
template <class T, class Row>
inline index_t assign_pairs(T* out, const Row& row, index_t first, index_t last, index_t distance) {
  index_t j = first;
  for (; j + Row::width <= last; j += Row::width) {
    const auto both = row.lanes_pair(j, j + distance);
    lane::store(out + j, both.first);
    lane::store(out + j + distance, both.second);
  }
  return j;
}

/// Batches that are combined at once: chains of operations that do not wait for each other, and as
/// many as keep the error of a sum small.
inline constexpr int chains = 8;

template <class Op, class Row>
inline auto reduce_lanes(const Op& op, const Row& row, index_t first, index_t last) {
  using T = typename Row::value_type;
  constexpr index_t width = Row::width;
  const auto combine = [&](T a, T b) { return op(a, b); };
  index_t j = first;
  T result = row[j];
  if (j + width <= last) {
    auto total = row.lanes(j, lane::all{});
    j += width;
    if (j + (2 * chains - 1) * width <= last) {
      decltype(total) chain[chains];
      chain[0] = total;
      for (int c = 1; c < chains; ++c, j += width) chain[c] = row.lanes(j, lane::all{});
      for (; j + chains * width <= last; j += chains * width) {
        for (int c = 0; c < chains; ++c) {
          chain[c] = op.lanes(chain[c], row.lanes(j + c * width, lane::all{}));
        }
      }
      for (int half = chains / 2; half > 0; half /= 2) {
        for (int c = 0; c < half; ++c) chain[c] = op.lanes(chain[c], chain[c + half]);
      }
      total = chain[0];
    }
    for (; j + width <= last; j += width) total = op.lanes(total, row.lanes(j, lane::all{}));
    result = lane::fold<T>(total, combine);
  } else {
    ++j;
  }
  if (j < last) {
    T tail[width];
    lane::store(tail, row.lanes(j, last - j));
    for (index_t i = 0; i < last - j; ++i) result = op(result, tail[i]);
  }
  return result;
}

template <class Op, class Row>
inline auto reduce_scalars(const Op& op, const Row& row, index_t first, index_t last) {
  using T = typename Row::value_type;
  if (last - first < 2 * chains) {
    T result = row[first];
    for (index_t j = first + 1; j < last; ++j) result = op(result, row[j]);
    return result;
  }
  T chain[chains];
  for (int c = 0; c < chains; ++c) chain[c] = row[first + c];
  index_t j = first + chains;
  for (; j + chains <= last; j += chains) {
    for (int c = 0; c < chains; ++c) chain[c] = op(chain[c], row[j + c]);
  }
  for (int c = 0; j < last; ++j, ++c) chain[c] = op(chain[c], row[j]);
  for (int half = chains / 2; half > 0; half /= 2) {
    for (int c = 0; c < half; ++c) chain[c] = op(chain[c], chain[c + half]);
  }
  return chain[0];
}

template <class Op, class Row>
inline auto reduce_rest(const Op& op, const Row& row, index_t first, index_t last) {
  if constexpr (Row::width != 0) {
    using batch = lanes_t<Row>;
    if constexpr (has_lanes<Op, batch, batch>) return reduce_lanes(op, row, first, last);
  }
  return reduce_scalars(op, row, first, last);
}

template <class Op, class Row>
inline auto reduce(const Op& op, const Row& row, index_t first, index_t last) {
  return row.is_dense() ? reduce_rest(op, row.dense(), first, last)
                        : reduce_rest(op, row, first, last);
}

}  // namespace host_rows

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

/// out[j] = row[j] for j in [first, last).
TOPOS_HOST_BRANCH
template <class Team, class T, class Row>
KOKKOS_FUNCTION void assign(const Team& team, T* out, const Row& row, index_t first, index_t last) {
  if constexpr (Team::on_host) {
    host_rows::assign(out, 1, row, first, last);
  } else {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), first, last),
                         [&](index_t j) { out[j] = row[j]; });
    team.barrier();
  }
}

/// Elements [first, last) of a row, of which there is one at least, combined by an associative
/// operation, in an order that depends on their number alone; every thread of the team gets it.
TOPOS_HOST_BRANCH
template <class Team, class Op, class Row>
KOKKOS_FUNCTION typename Row::value_type reduce(const Team& team, const Op& op, const Row& row,
                                                index_t first, index_t last) {
  using T = typename Row::value_type;
  if constexpr (Team::on_host) {
    return host_rows::reduce(op, row, first, last);
  } else {
    partial_result<T> result{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team.member(), first, last),
        [&](index_t j, partial_result<T>& partial) {
          partial.value = partial.some ? op(partial.value, row[j]) : row[j];
          partial.some = true;
        },
        partial_reducer<T, Op>(op, &result));
    team.barrier();
    return result.value;
  }
}

/// The sum of the first n elements of a row.
template <class Team, class Row>
KOKKOS_FUNCTION typename Row::value_type sum(const Team& team, const Row& row, index_t n) {
  return n == 0 ? typename Row::value_type{} : reduce(team, add_op{}, row, 0, n);
}

/// The largest of the first n > 0 elements of a row.
template <class Team, class Row>
KOKKOS_FUNCTION typename Row::value_type largest(const Team& team, const Row& row, index_t n) {
  return reduce(team, maximum_op{}, row, 0, n);
}

}  // namespace topos::detail
