// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions beside what has no lanes: a row of bytes that are chosen by exponentials, or of
/// functions of what is made of short integers, would be computed one by one, as all of a row has
/// the same lanes. Parts of it are written down first, some columns at a time: what has lanes in
/// what has none, and what has none where the rest has lanes then.

#include <algorithm>
#include <cstddef>
#include <topos/expr/leaf_rows.hpp>
#include <topos/expr/operation_row.hpp>
#include <topos/kernels/detail/row_loops.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail::host_rows {

// See row_assignment.hpp.
template <class T, class Row, class Past>
void assign_itself(T* out, index_t step, const Row& row, index_t first, index_t last,
                   Past past_caches);

/// Whether a row has lanes, of more than one number.
template <class Row>
inline constexpr bool has_row_lanes = Row::width > 1;

/// Whether compilers make no lanes of an operation, or it takes longer than to load what it is of:
/// of products, too.
template <class Op>
inline constexpr bool is_function_op =
    !std::is_base_of_v<quick, Op> || std::is_base_of_v<keeping_products, Op>;

/// Whether a row has a function, or elements that take longer to make than to load.
template <class Row>
inline constexpr bool has_function = false;
template <class Row>
  requires(has_elements<Row>)
inline constexpr bool has_function<Row> =
    !Row::is_quick && !counting<std::decay_t<decltype(std::declval<const Row&>().elements)>>;
template <class Indices, class Op, class... Rows>
inline constexpr bool has_function<operation_row_of<Indices, Op, Rows...>> = is_function_op<Op> ||
                                                                             (has_function<Rows> ||
                                                                              ...);

/// How a row becomes one by lanes where that can be: as it is, if it is no operation without them.
template <class Row>
struct lane_parts {
  using type = Row;
  static constexpr std::size_t bytes = 0;  ///< That are written down, of an element.
  static constexpr bool has_function_by_lanes = has_row_lanes<Row> && has_function<Row>;
  template <class Memory>
  static const Row& of(const Row& row, Memory& /*memory*/) {
    return row;
  }
};

/// A part of an operation: as it becomes, or written down.
template <class Row, bool Written>
struct lane_part {
  using type = typename lane_parts<Row>::type;
  static constexpr std::size_t bytes = lane_parts<Row>::bytes;
  template <class Memory>
  static decltype(auto) of(const Row& row, Memory& memory) {
    return lane_parts<Row>::of(row, memory);
  }
};
template <class Row>
struct lane_part<Row, true> {
  using value_type = typename Row::value_type;
  using type = memory_row<value_type>;
  static constexpr std::size_t bytes = lane_parts<Row>::bytes + sizeof(value_type);
  template <class Memory>
  static type of(const Row& row, Memory& memory) {
    return memory.written(lane_parts<Row>::of(row, memory));
  }
};

/// An operation without lanes gets them where parts without any are written down. Where it has none
/// then either, its parts that have lanes and functions are.
template <std::size_t... I, class Op, class... Rows>
  requires(!has_row_lanes<operation_row_of<std::index_sequence<I...>, Op, Rows...>>)
struct lane_parts<operation_row_of<std::index_sequence<I...>, Op, Rows...>> {
 private:
  using given = operation_row_of<std::index_sequence<I...>, Op, Rows...>;
  template <class Row>
  static constexpr bool comes_to_lanes = !has_row_lanes<typename lane_parts<Row>::type> &&
                                         has_row_lanes<memory_row<typename Row::value_type>>;
  template <class Row>
  using as_lanes = typename lane_part<Row, comes_to_lanes<Row>>::type;
  static constexpr bool gets_lanes =
      width_of_operation<Op, typename given::value_type, as_lanes<Rows>...>() > 1;
  template <class Row>
  static constexpr bool leaves_lanes =
      has_row_lanes<typename lane_parts<Row>::type>&& lane_parts<Row>::has_function_by_lanes;
  template <class Row>
  using part_of = lane_part<Row, gets_lanes ? comes_to_lanes<Row> : leaves_lanes<Row>>;

 public:
  using type = operation_row<Op, typename part_of<Rows>::type...>;
  static constexpr std::size_t bytes = (part_of<Rows>::bytes + ...);
  static constexpr bool has_function_by_lanes =
      (gets_lanes && is_function_op<Op>) || (lane_parts<Rows>::has_function_by_lanes || ...);
  template <class Memory>
  static type of(const given& row, Memory& memory) {
    if constexpr (multiplies_alike<Op>) {
      if (row.op.is_square) {
        using factor_row = std::decay_t<decltype(first_part(row))>;
        const auto factor = part_of<factor_row>::of(first_part(row), memory);
        return {{factor}, {factor}, row.op};
      }
    }
    return {{part_of<Rows>::of(static_cast<const part<I, Rows>&>(row).value, memory)}..., row.op};
  }
};

/// Whether functions in a row are computed by lanes once parts are written down; not of conversions
/// of lanes, which have loops of their own.
template <class Row>
inline constexpr bool gains_lanes = false;
template <class Indices, class Op, class... Rows>
  requires(!has_row_lanes<operation_row_of<Indices, Op, Rows...>> &&
           !converts_from_lanes<operation_row_of<Indices, Op, Rows...>>)
inline constexpr bool gains_lanes<operation_row_of<Indices, Op, Rows...>> =
    lane_parts<operation_row_of<Indices, Op, Rows...>>::bytes != 0 &&
    lane_parts<operation_row_of<Indices, Op, Rows...>>::has_function_by_lanes;

/// Memory for what is written down of columns [first, last) of a row.
template <class Row>
class lane_memory {
  static constexpr std::size_t bytes = lane_parts<Row>::bytes;

 public:
  /// So many at most: they stay in the first cache.
  static constexpr index_t columns =
      std::clamp<index_t>((std::size_t{16} << 10) / bytes / 64 * 64, 64, 512);

  lane_memory(index_t first, index_t last) : first_(first), last_(last) {}

  template <class Part>
  [[nodiscard]] memory_row<typename Part::value_type> written(const Part& part) {
    using T = typename Part::value_type;
    T* const to = reinterpret_cast<T*>(memory_ + taken_ * columns);
    taken_ += sizeof(T);
    assign_itself(to, 1, part, first_, last_, std::false_type{});
    return {{to}, -first_};
  }

 private:
  alignas(64) std::byte memory_[columns * bytes];
  std::size_t taken_ = 0;
  index_t first_;
  index_t last_;
};

/// Calls `use(row, first, last)` with some columns of a row at a time, by lanes.
template <class Row, class Use>
void with_lane_parts(const Row& row, index_t first, index_t last, const Use& use) {
  using memory = lane_memory<Row>;
  for (; first < last; first += memory::columns) {
    const index_t past = std::min(first + memory::columns, last);
    memory parts(first, past);
    use(lane_parts<Row>::of(row, parts), first, past);
  }
}

}  // namespace topos::detail::host_rows
