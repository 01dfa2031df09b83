// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operations on rows, which are rows: see row.hpp. They also have
///
///     is_contiguous(),      as is_dense() and dense(), where operations need not be simple: what a
///     contiguous()          device asks for
///
/// and, as rows in memory have, and what is gathered (see gather_row.hpp),
///
///     some(j)               lanes from element j on, some batches of them: see some_lanes
///     bytes_levelled        of an element, in all that may lie apart
///     level_until(j)        up to which column nothing does, from j on; j, if something does
///     levelled(j, block)    the row, of the kind whose loops have nothing to ask: if it is not
///                           level, of elements j to j + block.columns, of which what lies apart
///                           is copied; see level_block

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <topos/expr/call.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/row.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

// The lanes that an operation on rows computes at once: those of all its rows, if they agree.
template <class Op, class Result, class... Rows>
constexpr index_t width_of_operation() {
  constexpr index_t widths[] = {Rows::width...};
  constexpr bool agree = ((Rows::width == widths[0]) && ...) && widths[0] != 0;
  constexpr bool halves = is_half<Result> || (is_half<typename Rows::value_type> || ...);
  constexpr bool takes_halves = std::is_base_of_v<widening, Op> || std::is_base_of_v<passing, Op>;
  if constexpr (!agree || (halves && !takes_halves) ||
                (is_half<Result> && !lane::is_half_with_lanes<Result>)) {
    return 0;
  } else if constexpr (has_lanes<Op, lanes_t<Rows>...>) {
    return widths[0];
  } else {
    return lane::width<lane::made_of<Result>> == widths[0] &&
                   (lane::element<lane::made_of<typename Rows::value_type>> && ...)
               ? widths[0]
               : 0;
  }
}

// Whether an operation on rows is quick: it is, all its rows are, and lanes of it are its own, or
// made by the compiler where it has none. A real number of a complex one is its size, a root.
template <class Op, class Result, index_t Width, class... Rows>
constexpr bool is_quick_operation() {
  constexpr bool is_size = !is_complex<Result> && (is_complex<typename Rows::value_type> || ...);
  if constexpr (!std::is_base_of_v<quick, Op> || !(Rows::is_quick && ...) || is_size)
    return false;
  else if constexpr (Width != 0)
    return has_lanes<Op, lanes_t<Rows>...>;
  else
    return true;
}

// An operation that for some of its parameters needs calls has is_simple() and, for all others,
// simple(): a loop of the host's that could call something keeps nothing in registers.
template <class Op>
[[nodiscard]] KOKKOS_FUNCTION bool is_simple(const Op& op) {
  if constexpr (requires { op.is_simple(); })
    return op.is_simple();
  else
    return true;
}
template <class Op>
[[nodiscard]] KOKKOS_FUNCTION const auto& simple_of(const Op& op) {
  if constexpr (requires { op.simple(); })
    return op.simple();
  else
    return op;
}

/// Whether a row is of the kind that dense rows have.
template <class Row>
inline constexpr bool is_dense_row =
    std::is_same_v<Row, std::decay_t<decltype(std::declval<const Row&>().dense())>>;

template <class Row>
[[nodiscard]] KOKKOS_FUNCTION bool is_contiguous(const Row& row) {
  if constexpr (requires { row.is_contiguous(); })
    return row.is_contiguous();
  else
    return row.is_dense();
}
template <class Row>
[[nodiscard]] KOKKOS_FUNCTION auto contiguous(const Row& row) {
  if constexpr (requires { row.contiguous(); })
    return row.contiguous();
  else
    return row.dense();
}
template <class Row>
using contiguous_t = decltype(contiguous(std::declval<const Row&>()));

template <class Row>
constexpr std::size_t bytes_levelled_of() {
  if constexpr (requires { Row::bytes_levelled; })
    return Row::bytes_levelled;
  else
    return 0;
}
/// Whether some of a row may lie apart.
template <class Row>
inline constexpr bool may_lie_apart = bytes_levelled_of<Row>() != 0;

template <class Row>
[[nodiscard]] index_t level_until(const Row& row, index_t j) {
  if constexpr (may_lie_apart<Row>)
    return row.level_until(j);
  else
    return no_end;
}
/// Whether nothing of a row lies apart.
template <class Row>
[[nodiscard]] bool is_level(const Row& row) {
  return level_until(row, 0) == no_end;
}
template <class Row>
[[nodiscard, gnu::always_inline]] inline auto levelled(const Row& row, index_t j,
                                                       flat_block& block) {
  if constexpr (may_lie_apart<Row>)
    return row.levelled(j, block);
  else
    return row;
}
template <class Row>
using levelled_t =
    decltype(levelled(std::declval<const Row&>(), index_t{}, std::declval<flat_block&>()));

// What compares with operations of a type by an operator for these, and not as what they convert
// to.
template <class Op>
struct only_as {
  operator const Op&() const;  // NOLINT
};

/// Whether it can be told that two operations of a type are the same: those without anything in
/// them are.
template <class Op>
concept comparable_operation = std::is_empty_v<Op> || requires(const Op& a, const only_as<Op>& b) {
  { a == b } -> std::same_as<bool>;
};
template <comparable_operation Op>
[[nodiscard]] bool is_same_operation(const Op& a, const Op& b) {
  if constexpr (std::is_empty_v<Op>)
    return true;
  else
    return a == b;
}

// A part of an operation: a base class, so that parts need no recursion and no std::tuple, whose
// functions are host code to nvcc, and which asks compilers dozens of questions about each type.
template <std::size_t I, class T>
struct part {
  T value;
};

template <class T>
[[nodiscard]] KOKKOS_FUNCTION const T& first_part(const part<0, T>& all) {
  return all.value;
}
template <class T>
[[nodiscard]] KOKKOS_FUNCTION const T& second_part(const part<1, T>& all) {
  return all.value;
}

/// A base of products whose factors may be the same row: it is looked at once then, by lanes and
/// one by one.
struct of_alike {
  bool is_square;  ///< Whether they are.
};
template <class Op>
inline constexpr bool multiplies_alike = std::is_base_of_v<of_alike, Op>;

/// The pairs of an operation on rows.
template <class Indices, class Result, class Op, class... Pairs>
struct operation_pairs;

template <std::size_t... I, class Result, class Op, class... Pairs>
struct operation_pairs<std::index_sequence<I...>, Result, Op, Pairs...> : part<I, Pairs>... {
  Op op;

  explicit operation_pairs(const Op& o, const Pairs&... pairs) : part<I, Pairs>{pairs}..., op(o) {}

  [[nodiscard]] index_t end() const { return std::min({part<I, Pairs>::value.end()...}); }
  [[nodiscard, gnu::always_inline]] auto operator()(index_t j) const {
    const auto called = [this](const auto&... x) __attribute__((always_inline)) {
      return call_lanes<Result>(op, lane::all{}, x...);
    };
    if constexpr (multiplies_alike<Op>) {
      if (op.is_square) {
        const auto factor = first_part(*this)(j);
        return lane::of_pairs(called, factor, factor);
      }
    }
    return lane::of_pairs(called, part<I, Pairs>::value(j)...);
  }
};

template <class Indices, class Op, class... Rows>
struct operation_row_of;

template <std::size_t... I, class Op, class... Rows>
struct operation_row_of<std::index_sequence<I...>, Op, Rows...> : part<I, Rows>... {
  using value_type =
      decltype(call(std::declval<const Op&>(), std::declval<typename Rows::value_type>()...));
  static constexpr index_t width = width_of_operation<Op, value_type, Rows...>();
  static constexpr bool has_pairs = (Rows::has_pairs || ...);
  static constexpr bool is_quick = is_quick_operation<Op, value_type, width, Rows...>();
  static constexpr std::size_t bytes_levelled = (bytes_levelled_of<Rows>() + ...);
  Op op;  // an aggregate: rows are put together where they lie, and copied nowhere

  bool operator==(const operation_row_of& other) const
      requires(comparable_operation<Op> && (std::equality_comparable<Rows> && ...)) {
    return is_same_operation(op, other.op) &&
           ((part<I, Rows>::value == other.part<I, Rows>::value) && ...);
  }

  KOKKOS_FUNCTION value_type operator[](index_t j) const {
    if constexpr (multiplies_alike<Op>) {
      if (op.is_square) {
        const auto factor = first_part(*this)[j];
        return call(op, factor, factor);
      }
    }
    return call(op, part<I, Rows>::value[j]...);
  }
  // Always inline: a call would have the loop around it store all that it keeps in registers.
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, lane::all all) const {
    return lanes_from<value_type>(j, all);
  }
  [[nodiscard]] auto lanes(index_t j, index_t count) const {
    return lanes_from<value_type>(j, count);
  }
  /// What `lanes` rounds where elements are of a sixteen-bit type.
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto unrounded(index_t j, Count count) const {
    return lanes_from<lane::made_of<value_type>>(j, count);
  }
  [[nodiscard, gnu::always_inline]] auto some(index_t j) const {
    const auto called = [this](const auto&... x) __attribute__((always_inline)) {
      return call_lanes<value_type>(op, lane::all{}, x...);
    };
    if constexpr (multiplies_alike<Op>) {
      if (op.is_square) {
        const auto factor = some_lanes(first_part(*this), j);
        return lane::of_some(called, factor, factor);
      }
    }
    return lane::of_some(called, some_lanes(part<I, Rows>::value, j)...);
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, N> packed(index_t j) const {
    return combine_packs<N>(part<I, Rows>::value.template packed<N>(j)...);
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t j) const {
    return (part<I, Rows>::value.template packs<N>(j) && ...);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_dense() const {
    return is_simple(op) && (part<I, Rows>::value.is_dense() && ...);
  }
  [[nodiscard]] KOKKOS_FUNCTION auto dense() const {
    using dense_rows =
        operation_row_of<std::index_sequence<I...>, std::decay_t<decltype(simple_of(op))>,
                         std::decay_t<decltype(std::declval<const Rows&>().dense())>...>;
    return dense_rows{{part<I, Rows>::value.dense()}..., simple_of(op)};
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_contiguous() const {
    return (detail::is_contiguous(part<I, Rows>::value) && ...);
  }
  [[nodiscard]] KOKKOS_FUNCTION auto contiguous() const {
    using rows = operation_row_of<std::index_sequence<I...>, Op, contiguous_t<Rows>...>;
    return rows{{detail::contiguous(part<I, Rows>::value)}..., op};
  }
  [[nodiscard]] index_t level_until(index_t j) const {
    return std::min({detail::level_until(part<I, Rows>::value, j)...});
  }
  [[nodiscard, gnu::always_inline]] auto levelled(index_t j, flat_block& block) const {
    using rows = operation_row_of<std::index_sequence<I...>, Op, levelled_t<Rows>...>;
    if constexpr (multiplies_alike<Op>) {
      if (op.is_square) {
        const auto factor = detail::levelled(first_part(*this), j, block);
        return rows{{factor}, {factor}, op};
      }
    }
    return rows{{detail::levelled(part<I, Rows>::value, j, block)}..., op};
  }
  [[nodiscard]] bool is_same() const { return (part<I, Rows>::value.is_same() && ...); }
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, 2> two(index_t j, index_t distance) const {
    return combine_packs<2>(part<I, Rows>::value.two(j, distance)...);
  }
  [[nodiscard]] index_t partner() const {
    constexpr index_t none = -1;
    index_t found = none;
    const auto look = [&](const auto& row) {
      if constexpr (std::decay_t<decltype(row)>::has_pairs)
        found = found == none || found == row.partner() ? row.partner() : 0;
    };
    (look(part<I, Rows>::value), ...);
    return found == none ? 0 : found;
  }
  [[nodiscard]] auto paired(index_t distance) const {
    using all = operation_pairs<std::index_sequence<I...>, value_type, Op,
                                decltype(part<I, Rows>::value.paired(distance))...>;
    return all(op, part<I, Rows>::value.paired(distance)...);
  }

 private:
  template <class Result, class Count>
  [[nodiscard, gnu::always_inline]] auto lanes_from(index_t j, Count count) const {
    if constexpr (multiplies_alike<Op>) {
      const auto factor = first_part(*this).lanes(j, count);
      if (op.is_square) return call_lanes<Result>(op, count, factor, factor);
      return call_lanes<Result>(op, count, factor, second_part(*this).lanes(j, count));
    } else {
      return call_lanes<Result>(op, count, part<I, Rows>::value.lanes(j, count)...);
    }
  }
  template <int N, class... Packs>
  [[nodiscard]] KOKKOS_FUNCTION pack<value_type, N> combine_packs(const Packs&... packs) const {
    pack<value_type, N> result;
    for (int i = 0; i < N; ++i) result.value[i] = call(op, packs.value[i]...);
    return result;
  }
};

/// An operation on rows.
template <class Op, class... Rows>
using operation_row = operation_row_of<std::index_sequence_for<Rows...>, Op, Rows...>;

template <class Op, class... Rows>
[[nodiscard]] KOKKOS_FUNCTION operation_row<Op, Rows...> make_row(const Op& op,
                                                                  const Rows&... rows) {
  return {{rows}..., op};
}

}  // namespace topos::detail
