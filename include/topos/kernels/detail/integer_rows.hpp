// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the host combines a row of integers, whose order is free.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <topos/expr/lanes.hpp>
#include <topos/expr/operations.hpp>
#include <topos/expr/settled_row.hpp>
#include <topos/kernels/detail/row_assignment.hpp>
#include <topos/kernels/detail/row_loops.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

// Of integers, whose order is free: compilers make lanes of the loops, but none of bools.
template <class Op, class Row>
[[gnu::noinline]] auto reduce_integers(const Op& op, const Row& given, index_t first,
                                       index_t last) {
  const Row row = given;
  using T = typename Row::value_type;
  using word = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
  constexpr index_t many = 256 / sizeof(word);
  word result = row[first];
  index_t j = first + 1;
  if (j + many <= last) {
    word some[many];
    TOPOS_INDEPENDENT_STEPS
    for (index_t k = 0; k < many; ++k) some[k] = row[j + k];
    for (j += many; j + many <= last; j += many) {
      TOPOS_INDEPENDENT_STEPS
      for (index_t k = 0; k < many; ++k) some[k] = op(some[k], static_cast<word>(row[j + k]));
    }
    for (const word each : some) result = op(result, each);
  }
  for (; j < last; ++j) result = op(result, static_cast<word>(row[j]));
  return static_cast<T>(result);
}

template <class To, class T>
inline constexpr bool is_quarter = std::is_integral_v<To>&& std::is_integral_v<T> &&
                                   sizeof(To) >= 4 * sizeof(T);

// What a row makes integers of that have four times as many bits, or more.
template <class To, class Row>
  requires(is_quarter<To, typename Row::value_type>)
const Row& quarter_of(const converted_row<To, Row>& row) { return converted(row); }
template <class Elements, class To>
  requires(is_quarter<To, typename Elements::value_type>)
dense_row<Elements> quarter_of(const dense_row<widened_elements<Elements, To>>& row) {
  return {row.elements.elements, row.base};
}

template <class Op, class Row>
concept sum_of_quarters = std::same_as<Op, add_op> && requires(const Row& row) {
  quarter_of(row);
};

// Of short integers: in words twice as wide, for as long as those hold any sum.
template <class Op, class Row>
  requires sum_of_quarters<Op, Row>
[[gnu::noinline]] auto reduce_integers(const Op& /*add*/, const Row& given, index_t first,
                                       index_t last) {
  using To = typename Row::value_type;
  const auto row = quarter_of(given);
  using T = typename std::decay_t<decltype(row)>::value_type;
  using wide = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  using short_word = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
  using word = std::conditional_t<sizeof(T) == 1, short_word, wide>;
  using total = std::conditional_t<sizeof(T) == 1, wide, To>;
  constexpr index_t many = 128 / sizeof(word);
  constexpr index_t most = many << 8 * sizeof(T);
  To result = 0;
  index_t j = first;
  while (j + many <= last) {
    const index_t past = std::min(last, j + most);
    word some[many] = {};
    for (; j + many <= past; j += many) {
      TOPOS_INDEPENDENT_STEPS
      for (index_t k = 0; k < many; ++k) some[k] = static_cast<word>(some[k] + row[j + k]);
    }
    total all = 0;
    for (const word each : some) all += static_cast<total>(each);
    result += static_cast<To>(all);
  }
  for (; j < last; ++j) result += static_cast<To>(row[j]);
  return result;
}

// Truths of lanes are counted where they are.
template <class To, class Row>
[[gnu::noinline]] To count_truths(const converted_row<To, Row>& given, index_t first,
                                  index_t last) {
  using word = lane::value_t<decltype(lane::ones(std::declval<lanes_t<Row>>()))>;
  constexpr index_t width = Row::width;
  constexpr index_t most = width * std::numeric_limits<std::int32_t>::max();
  const Row& truths = converted(given);
  const auto row = settled(truths);
  To result = 0;
  index_t j = first;
  while (j + width <= last) {
    const index_t past = std::min(last, j + most);
    auto some = lane::splat(word{0});
    for (; j + width <= past; j += width) some += lane::ones(row.lanes(j, lane::all{}));
    word counts[width];
    lane::store(counts, some);
    for (const word each : counts) result += static_cast<To>(each);
  }
  bool rest[width];
  assign(rest, 1, truths, j, last);
  for (index_t k = 0; k < last - j; ++k) result += static_cast<To>(rest[k]);
  return result;
}

template <class Op, class Row>
inline constexpr bool sums_truths = false;
template <class To, class Row>
inline constexpr bool sums_truths<add_op, converted_row<To, Row>> =
    makes_integers<converted_row<To, Row>>&& std::is_same_v<typename Row::value_type, bool>&&
        is_dense_row<Row>;

// Of integers that are made of lanes of another type, or of other integers: of some of those at a
// time.
template <class Op, class Row>
[[gnu::noinline]] auto reduce_drawn(const Op& op, const Row& row, index_t first, index_t last) {
  using drawn = drawn_row<Row, true>;
  constexpr index_t most = 2048;
  typename drawn::type::value_type values[most];
  typename Row::value_type result{};
  for (index_t j = first; j < last; j += most) {
    const index_t count = std::min(most, last - j);
    assign(values, 1, drawn::of(row), j, j + count);
    const auto here = reduce_integers(op, drawn::in(values), 0, count);
    result = j == first ? here : op(result, here);
  }
  return result;
}

}  // namespace topos::detail::host_rows
