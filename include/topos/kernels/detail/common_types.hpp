// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which types of parts are met again in rows, and are worth to be looked for: known to the
/// compiler. See common_subexpressions.hpp.

#include <concepts>
#include <cstddef>
#include <topos/expr/operation_row.hpp>
#include <topos/expr/operations.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

/// What it takes to write an element down and to load it, in sums.
inline constexpr int weight_of_keeping = 5;
/// What takes more than that twice is looked for.
inline constexpr int least_weight = weight_of_keeping + 2;
/// What a quotient takes of numbers that processors divide by lanes, which they do slowly.
inline constexpr int weight_of_quotient = 8;
/// What any function takes, and any element that is made.
inline constexpr int weight_of_function = 24;

/// Whether what is written down of a row can stand for it: it has the same lanes, and it can be
/// told from others.
template <class Row>
inline constexpr bool can_be_kept = (Row::width == 0 ||
                                     Row::width == memory_row<typename Row::value_type>::width) &&
                                    std::equality_comparable<Row>;

/// What an element of a row takes besides loads and besides functions in it that are looked for; 0
/// for rows that kernels make of others.
template <class Row>
inline constexpr int weight = 0;
/// Whether a row is looked for.
template <class Row>
inline constexpr bool is_heavy = [] {
  if constexpr (weight<Row> >= least_weight)
    return can_be_kept<Row>;
  else
    return false;
}();

/// Whether such a row is a function, or elements that are made, and not arithmetic.
template <class Row>
inline constexpr bool is_function = is_heavy<Row>;
template <class Indices, class Op, class... Rows>
inline constexpr bool is_function<operation_row_of<Indices, Op, Rows...>> =
    !std::is_base_of_v<quick, Op> && !std::is_base_of_v<brief, Op> &&
    is_heavy<operation_row_of<Indices, Op, Rows...>>;

template <class Row>
  requires requires { Row::is_quick; }
inline constexpr int weight<Row> = Row::is_quick ? 0 : weight_of_function;
template <class Indices, class Op, class... Rows>
inline constexpr int weight<operation_row_of<Indices, Op, Rows...>> =
    (std::is_same_v<Op, divide_op>                                  ? weight_of_quotient
     : std::is_base_of_v<quick, Op> || std::is_base_of_v<brief, Op> ? 1
                                                                    : weight_of_function) +
    ((is_function<Rows> ? 0 : weight<Rows>)+...);

/// How many rows are looked for in one.
template <class Row>
inline constexpr int heavy_parts = is_heavy<Row> ? 1 : 0;
template <class Indices, class Op, class... Rows>
inline constexpr int heavy_parts<operation_row_of<Indices, Op, Rows...>> =
    (is_heavy<operation_row_of<Indices, Op, Rows...>> ? 1 : 0) + (heavy_parts<Rows> + ...);

template <class... Rows>
struct row_types {
  static constexpr std::size_t size = sizeof...(Rows);
  template <class Row>
  static constexpr bool has = (std::is_same_v<Row, Rows> || ...);
};
template <class... A, class... B>
constexpr row_types<A..., B...> operator|(row_types<A...> /*a*/, row_types<B...> /*b*/) {
  return {};
}

/// The rows that an operation is on.
template <class Row>
struct operands_of_row {
  using type = row_types<>;
};
template <class Indices, class Op, class... Rows>
struct operands_of_row<operation_row_of<Indices, Op, Rows...>> {
  using type = row_types<Rows...>;
};

/// Types of rows that were met in an expression, and those that were met again. Functions in one
/// that is met again are met again, too: rows of one type may be different, and of the same
/// operands.
template <class Met, class Again>
struct met_rows {
  using met = Met;
  using again = Again;
};
template <class... Met, class... Again, class Row>
constexpr auto operator+(met_rows<row_types<Met...>, row_types<Again...>> all,
                         std::type_identity<Row> row) {
  using known = row_types<Met...>;
  const auto inside = [](auto found) {
    return [&]<class... Rows>(row_types<Rows...>) {
      return (found + ... + std::type_identity<Rows>{});
    }(typename operands_of_row<Row>::type{});
  };
  if constexpr (heavy_parts<Row> == 0)
    return all;
  else if constexpr (!is_heavy<Row>)
    return inside(all);
  else if constexpr (!known::template has<Row>)
    return inside(met_rows<row_types<Met..., Row>, row_types<Again...>>{});
  else if constexpr (row_types<Again...>::template has<Row>)
    return all;
  else
    return met_rows<known, row_types<Again..., Row>>{} - row;
}
// The functions in a row, which were met, are met again.
template <class Met, class... Again, class Row>
constexpr auto operator-(met_rows<Met, row_types<Again...>> all, std::type_identity<Row> /*row*/) {
  constexpr bool adds = is_function<Row> && !row_types<Again...>::template has<Row>;
  const auto inside = [](auto found) {
    return [&]<class... Rows>(row_types<Rows...>) {
      return (found - ... - std::type_identity<Rows>{});
    }(typename operands_of_row<Row>::type{});
  };
  if constexpr (heavy_parts<Row> == 0)
    return all;
  else if constexpr (adds)
    return inside(met_rows<Met, row_types<Again..., Row>>{});
  else
    return inside(all);
}
template <class... Rows>
using met_in = decltype((met_rows<row_types<>, row_types<>>{} + ... + std::type_identity<Rows>{}));

// What an element of arithmetic takes besides parts that are looked for themselves.
template <class Again, class Row>
inline constexpr int weight_beside = weight<Row>;
template <class Again, class Indices, class Op, class... Rows>
inline constexpr int weight_beside<Again, operation_row_of<Indices, Op, Rows...>> =
    weight<operation_row_of<Indices, Op, Rows...>> -
    ((is_function<Rows>           ? 0
      : Again::template has<Rows> ? weight<Rows>
                                  : weight<Rows> - weight_beside<Again, Rows>)+...);

// Leaves out what costs little beside others of them, which are written down: squares of two sums,
// where each sum is found again, are but products.
template <class... Again>
constexpr auto without_light(row_types<Again...> all) {
  return (row_types<>{} | ... | [] {
    if constexpr (weight_beside<decltype(all), Again> >= least_weight)
      return row_types<Again>{};
    else
      return row_types<>{};
  }());
}

// Adds the types of what costs less by two, which it would not do beside what is written down.
template <class... Common, class Row>
constexpr auto operator+(row_types<Common...> all, std::type_identity<Row> /*row*/) {
  using operands = typename operands_of_row<Row>::type;
  if constexpr (!Row::has_pairs || decltype(all)::template has<Row>)
    return all;
  else if constexpr (operands::size != 0)
    return [all]<class... Rows>(row_types<Rows...>) {
      return (all + ... + std::type_identity<Rows>{});
    }(operands{});
  else
    return row_types<Common..., Row>{};
}

template <class Again, class... Rows>
struct kept_types {
  using type = decltype((Again{} + ... + std::type_identity<Rows>{}));
};
template <class... Rows>
struct kept_types<row_types<>, Rows...> {
  using type = row_types<>;
};

/// Types of which several parts of some rows are, and of what is to be written down with them.
template <class... Rows>
using common_types =
    typename kept_types<decltype(without_light(typename met_in<Rows...>::again{})), Rows...>::type;

/// Whether one of some rows may have parts that are common with another.
template <class... Rows>
inline constexpr bool may_share_parts = met_in<Rows...>::met::size <
                                        (met_in<Rows>::met::size + ...);

}  // namespace topos::detail::host_rows
