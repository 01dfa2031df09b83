// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a team does with a row: on the host one thread with SIMD lanes, on a device the threads of
/// a block. Kernels are written once, in terms of these.

#include <algorithm>
#include <cstdint>
#include <topos/backend/backend.hpp>
#include <topos/expr/operation_row.hpp>
#include <topos/expr/operations.hpp>
#include <topos/kernels/centred.hpp>
#include <topos/kernels/detail/integer_rows.hpp>
#include <topos/kernels/detail/joint_reduction.hpp>
#include <topos/kernels/detail/row_assignment.hpp>
#include <topos/kernels/detail/team_reduction.hpp>
#include <type_traits>

namespace topos::detail {

/// Rows of fewer elements are short: by lanes they are combined four elements at a time, as rows
/// are that are combined with each other.
inline constexpr index_t short_row = 16;

namespace host_rows {

/// Batches that are combined at once: chains of operations that do not wait for each other.
inline constexpr int chains = 8;

/// Batches that a chain combines one after the other; more are cut in halves, so that the error of
/// a sum grows with the logarithm of their number: Higham, SIAM J. Sci. Comput. 14 (1993) 783.
inline constexpr index_t links = 32;

// chain[0] becomes all of them.
template <class Batch, class Combine>
inline void join_chains(Batch (&chain)[chains], const Combine& combine) {
  for (int half = chains / 2; half > 0; half /= 2) {
    for (int c = 0; c < half; ++c) chain[c] = combine(chain[c], chain[c + half]);
  }
}

template <class T, class B>
inline void store_lanes(T* to, const B& lanes) {
  lane::store(to, lanes);
}

using lane::blended;

// Of few, four by four.
template <class Op, class T>
inline T reduce_in_fours(const Op& op, const T* values, index_t count) {
  const auto four = [&](index_t i) {
    return op(op(values[i], values[i + 1]), op(values[i + 2], values[i + 3]));
  };
  index_t i = count < 4 ? 1 : 4;
  T result = count < 4 ? values[0] : four(0);
  for (; i + 4 <= count; i += 4) result = op(result, four(i));
  for (; i < count; ++i) result = op(result, values[i]);
  return result;
}

template <class Op, class Row>
inline auto reduce_short(const Op& op, const Row& row, index_t first, index_t last) {
  constexpr index_t width = Row::width;
  typename Row::value_type values[std::max(short_row, width) + width];
  const index_t count = last - first;
  // A row has an element: else g++ warns that values may be read before they are written.
  if (count < 1) __builtin_unreachable();
  for (index_t j = 0; j < count; j += width) {
    store_lanes(values + j,
                by_itself<Row>(row.lanes(first + j, count - j < width ? count - j : width)));
  }
  return reduce_in_fours(op, values, count);
}

// The lanes of a row combined with each other.
template <class Row, class Op, class B>
inline auto join_lanes(const Op& op, const B& lanes) {
  using T = typename Row::value_type;
  if constexpr (requires { op.template folded<Row::width>(lanes); }) {
    return op.template folded<Row::width>(lanes);
  } else if constexpr (lane::numbers<B> && lane::has_turns<T>) {
    const auto combine = [&](const auto& a, const auto& b) { return op.lanes(a, b); };
    return lane::fold_lanes<Row::width>(lanes, combine);
  } else {
    T values[Row::width];
    store_lanes(values, lanes);
    return lane::fold<Row::width>(values, op);
  }
}

// A row of fewer elements has no chains.
template <class Row>
inline constexpr index_t chained_row = 2 * chains* Row::width;

// Of a whole batch at least.
template <class Op, class Row>
inline auto reduce_lanes(const Op& op, const Row& row, index_t first, index_t last) {
  constexpr index_t width = Row::width;
  const auto at = [&](index_t k, auto count) { return by_itself<Row>(row.lanes(k, count)); };
  index_t j = first + width;
  auto total = at(first, lane::all{});
  if (first + chained_row<Row> <= last) {
    decltype(total) chain[chains];
    chain[0] = total;
    for (int c = 1; c < chains; ++c, j += width) chain[c] = at(j, lane::all{});
    for (; j + chains * width <= last; j += chains * width) {
      for (int c = 0; c < chains; ++c) {
        chain[c] = op.lanes(chain[c], at(j + c * width, lane::all{}));
      }
    }
    join_chains(chain, [&](const auto& a, const auto& b) { return op.lanes(a, b); });
    total = chain[0];
  }
  for (; j + width <= last; j += width) total = op.lanes(total, at(j, lane::all{}));
  if (j < last) total = blended(last - j, op.lanes(total, at(j, last - j)), total);
  return join_lanes<Row>(op, total);
}

template <class Op, class Row>
inline auto reduce_scalars(const Op& op, const Row& row, index_t first, index_t last) {
  using T = typename Row::value_type;
  if (last - first < 2 * chains) {
    T result = by_itself<Row>(row[first]);
    for (index_t j = first + 1; j < last; ++j) result = op(result, by_itself<Row>(row[j]));
    return result;
  }
  T chain[chains];
  for (int c = 0; c < chains; ++c) chain[c] = by_itself<Row>(row[first + c]);
  index_t j = first + chains;
  for (; j + chains <= last; j += chains) {
    for (int c = 0; c < chains; ++c) chain[c] = op(chain[c], by_itself<Row>(row[j + c]));
  }
  for (int c = 0; c < chains && j < last; ++j, ++c) chain[c] = op(chain[c], by_itself<Row>(row[j]));
  join_chains(chain, op);
  return chain[0];
}

template <class Operation, class Row>
constexpr bool reduces_lanes() {
  using Op = on_elements_t<Operation>;
  // Of sixteen-bit floats only what needs no rounding.
  constexpr bool chooses = std::is_same_v<Op, minimum_op> || std::is_same_v<Op, maximum_op>;
  if constexpr (Row::width != 0 && (chooses || !is_half<typename Row::value_type>)) {
    return has_lanes<Op, lanes_t<Row>, lanes_t<Row>>;
  } else {
    return false;
  }
}

/// Whether integers are widened one by one as they are combined, unless they are dense: they are
/// better written down first.
template <class Op, class Row>
inline constexpr bool widens_as_it_reduces = widens_integers<Row> && !reduces_lanes<Op, Row>();

/// Whether two operations combine such rows in the same order.
template <class Op, class Other, class Rows>
constexpr bool same_order() {
  using row = decltype(std::declval<const Rows&>().row(0));
  using dense = std::decay_t<decltype(std::declval<const row&>().dense())>;
  return reduces_lanes<Op, row>() == reduces_lanes<Other, row>() &&
         reduces_lanes<Op, dense>() == reduces_lanes<Other, dense>() && !gains_lanes<row>;
}

/// Whether such a row is combined in the same order once it is written down.
template <class Op, class Row>
constexpr bool combines_as_written() {
  using dense = std::decay_t<decltype(std::declval<const Row&>().dense())>;
  constexpr bool written = reduces_lanes<Op, memory_row<typename Row::value_type>>();
  return reduces_lanes<Op, Row>() == written && reduces_lanes<Op, dense>() == written;
}

/// Elements that are combined without cutting them in halves.
template <class Op, class Row>
inline constexpr index_t straight = links* chains*(reduces_lanes<Op, Row>() ? Row::width : 1);

/// Where more are cut.
[[nodiscard]] inline index_t middle_of(index_t first, index_t last, index_t straight) {
  return first + (last - first + 2 * straight - 1) / (2 * straight) * straight;
}

template <class Op, class Row>
inline typename Row::value_type reduce_rest(const Op& op, const Row& row, index_t first,
                                            index_t last) {
  constexpr bool by_lanes = reduces_lanes<Op, Row>();
  if constexpr (sums_truths<Op, Row>)
    return count_truths(row, first, last);
  else if constexpr (makes_integers<Row>)
    return reduce_drawn(op, row, first, last);
  else if constexpr (std::is_integral_v<typename Row::value_type> &&
                     (!by_lanes || sum_of_quarters<Op, Row>))
    return reduce_integers(op, row, first, last);
  constexpr index_t most = straight<Op, Row>;
  if (last - first > most) {
    const index_t middle = middle_of(first, last, most);
    return op(reduce_rest(op, row, first, middle), reduce_rest(op, row, middle, last));
  }
  if constexpr (!by_lanes)
    return reduce_scalars(op, row, first, last);
  else if (last - first < std::max(short_row, Row::width))
    return reduce_short(op, row, first, last);
  else
    return reduce_lanes(op, row, first, last);
}

// Of some elements of a row, which are written down first.
template <class Op, class Row>
[[gnu::noinline]] typename Row::value_type reduce_some_written(const Op& op, const Row& row,
                                                               index_t first, index_t last) {
  using T = typename Row::value_type;
  T values[straight<Op, memory_row<T>>];
  assign(values, 1, row, first, last);
  return reduce_rest(op, memory_row<T>{{values}}, 0, last - first);
}

// Of all: of a row of which something lies apart, is common, or has lanes only if it is.
template <class Op, class Row>
[[gnu::noinline]] typename Row::value_type reduce_written(const Op& op, const Row& row,
                                                          index_t first, index_t last) {
  using T = typename Row::value_type;
  constexpr index_t most = straight<Op, memory_row<T>>;
  constexpr bool in_order = !std::is_integral_v<T> && !gains_lanes<Row>;  // else it is free
  if constexpr (in_order && reduces_lanes<Op, memory_row<T>>() != reduces_lanes<Op, Row>()) {
    return reduce_rest(op, settled(Row(row)), first, last);
  } else if (last - first > most) {
    const index_t middle = middle_of(first, last, most);
    return op(reduce_written(op, row, first, middle), reduce_written(op, row, middle, last));
  } else {
    return reduce_some_written(op, row, first, last);
  }
}

template <class Op, class Row>
inline typename Row::value_type reduce(const Op& op, const Row& row, index_t first, index_t last) {
  if constexpr (gains_lanes<Row>) {
    return reduce_written(op, row, first, last);
  } else {
    if constexpr (may_have_common_parts<Row>) {
      if (have_common_parts(last - first, row)) return reduce_written(op, row, first, last);
    }
    if (row.is_dense()) return reduce_rest(op, settled(row.dense()), first, last);
    if constexpr (may_lie_apart<Row>) {
      if constexpr (widens_as_it_reduces<Op, Row>) return reduce_drawn(op, row, first, last);
      if (!is_level(row)) return reduce_written(op, row, first, last);
      if constexpr (reduces_lanes<Op, Row>()) {
        level_block<Row> block;
        return reduce_rest(op, looped(row, first, block), first, last);
      }
    }
    return reduce_rest(op, settled(Row(row)), first, last);
  }
}

/// Of values in memory, in the same order as they would be of any row.
template <class Op, class T>
inline T reduce_values(const Op& op, const T* values, index_t count) {
  if constexpr (reduces_lanes<Op, memory_row<T>>()) {
    if (count < std::max(short_row, memory_row<T>::width))
      return reduce_in_fours(op, values, count);
  }
  return reduce(op, memory_row<T>{{values}}, 0, count);
}

}  // namespace host_rows

namespace device_rows {

template <class Team, class T, class Row>
KOKKOS_FUNCTION void assign_each(const Team& team, T* out, index_t step, const Row& row,
                                 index_t first, index_t last) {
  for (index_t j = first + team.rank(); j < last; j += team.threads())
    out[(j - first) * step] = row[j];
}

/// 16 bytes of the result by each thread at once, where all lies so.
template <class Team, class T, class Row>
KOKKOS_FUNCTION void assign(const Team& team, T* out, index_t step, const Row& row, index_t first,
                            index_t last) {
  constexpr int n = pack_size<T>;
  if constexpr (n > 1) {
    if (step == 1 && is_contiguous(row) && is_packed<T, n>(out)) {
      const auto dense = contiguous(row);
      if (dense.template packs<n>(first)) {
        const auto whole = static_cast<std::uint32_t>((last - first) / n);
        // As an array of packs: nvcc splits what is stored at addresses that are cast one by one.
        auto* const packs = reinterpret_cast<pack<T, n>*>(out);
        const auto threads = static_cast<std::uint32_t>(team.threads());
        const auto at = [&](std::uint32_t i) {
          return dense.template packed<n>(first + index_t{i} * n);
        };
        auto i = static_cast<std::uint32_t>(team.rank());
        if constexpr (Row::is_quick) {
          // Two at a time, so that a thread does not wait for each.
          for (; i + threads < whole; i += 2 * threads) {
            const auto one = at(i);
            const auto other = at(i + threads);
            packs[i] = one;
            packs[i + threads] = other;
          }
        }
        for (; i < whole; i += threads) packs[i] = at(i);
        const index_t done = index_t{whole} * n;
        assign_each(team, out + done, 1, dense, first + done, last);
        return;
      }
    }
  }
  assign_each(team, out, step, row, first, last);
}

}  // namespace device_rows

/// out[(j - first) * step] = row[j] for j in [first, last).
TOPOS_HOST_BRANCH
template <class Team, class T, class Row>
KOKKOS_FUNCTION void assign(const Team& team, T* out, index_t step, const Row& row, index_t first,
                            index_t last) {
  if constexpr (Team::on_host) {
    host_rows::assign(out, step, row, first, last);
  } else {
    device_rows::assign(team, out, step, row, first, last);
    team.barrier();
  }
}

/// out[j - first] = row[j] for j in [first, last).
template <class Team, class T, class Row>
KOKKOS_FUNCTION void assign(const Team& team, T* out, const Row& row, index_t first, index_t last) {
  assign(team, out, 1, row, first, last);
}

/// Elements [first, last) of a row, of which there is one at least, combined by an associative
/// operation, in an order that depends on their number alone; every thread of the team gets it.
TOPOS_HOST_BRANCH
template <class Team, class Op, class Row>
KOKKOS_FUNCTION typename Row::value_type reduce(const Team& team, const Op& op, const Row& row,
                                                index_t first, index_t last) {
  if constexpr (Team::on_host) {
    return host_rows::reduce(op, row, first, last);
  } else {
    using T = typename Row::value_type;
    const T result = device_rows::combine_row(team, op, row, first, last - first,
                                              [](const T& value, index_t) { return value; });
    team.barrier();
    return result;
  }
}

/// The sum of the first n elements of a row.
template <class Team, class Row>
KOKKOS_FUNCTION typename Row::value_type row_sum(const Team& team, const Row& row, index_t n) {
  return n == 0 ? typename Row::value_type{} : reduce(team, add_op{}, row, 0, n);
}

/// The largest of the first n > 0 elements of a row.
template <class Team, class Row>
KOKKOS_FUNCTION typename Row::value_type row_largest(const Team& team, const Row& row, index_t n) {
  return reduce(team, maximum_op{}, row, 0, n);
}

}  // namespace topos::detail
