// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions beside what has no lanes: a row of bytes that are chosen by exponentials, or of
/// functions of what is made of short integers, would be computed one by one, as all of a row has
/// the same lanes. Parts of it are written down first, some columns at a time: what has lanes in
/// what has none, and what has none where the rest has lanes then.

#include <algorithm>
#include <cstddef>
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

/// How a row becomes one by lanes where that can be: as it is,
template <class Row>
struct lane_parts {
  using type = Row;
  static constexpr std::size_t bytes = 0;  ///< That are written down, of an element.
  static constexpr bool has_function = has_row_lanes<Row> && !Row::is_quick;  ///< By lanes.
  template <class Memory>
  static const Row& of(const Row& row, Memory& /*memory*/) {
    return row;
  }
};

/// What is written down of a part for it to have, or to need, no more lanes than the rest.
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

/// or, of an operation without lanes, with parts of it written down.
template <std::size_t... I, class Op, class... Rows>
  requires(!has_row_lanes<operation_row_of<std::index_sequence<I...>, Op, Rows...>>)
struct lane_parts<operation_row_of<std::index_sequence<I...>, Op, Rows...>> {
  using row = operation_row_of<std::index_sequence<I...>, Op, Rows...>;

 private:
  // With lanes for those that have none.
  template <class Row>
  static constexpr bool comes_to_lanes = !has_row_lanes<typename lane_parts<Row>::type> &&
                                         has_row_lanes<memory_row<typename Row::value_type>>;
  template <class Row>
  using as_lanes = typename lane_part<Row, comes_to_lanes<Row>>::type;
  static constexpr bool gets_lanes =
      width_of_operation<Op, typename row::value_type, as_lanes<Rows>...>() > 1;
  template <class Row>
  using of_row = lane_part<Row, gets_lanes ? comes_to_lanes<Row>
                                           : has_row_lanes<typename lane_parts<Row>::type> &&
                                                 lane_parts<Row>::has_function>;
  static constexpr bool is_function =
      !std::is_base_of_v<quick, Op> && !std::is_base_of_v<brief, Op>;

 public:
  using type = operation_row<Op, typename of_row<Rows>::type...>;
  static constexpr std::size_t bytes = (of_row<Rows>::bytes + ...);
  static constexpr bool has_function =
      (gets_lanes && is_function) || (lane_parts<Rows>::has_function || ...);
  template <class Memory>
  static type of(const row& of, Memory& memory) {
    return {{of_row<Rows>::of(static_cast<const part<I, Rows>&>(of).value, memory)}..., of.op};
  }
};

/// Whether functions in a row are computed by lanes once parts are written down; not of what is
/// made of lanes at last, which has loops of its own.
template <class Row>
inline constexpr bool gains_lanes = false;
template <class Indices, class Op, class... Rows>
  requires(!has_row_lanes<operation_row_of<Indices, Op, Rows...>> &&
           !converts_from_lanes<operation_row_of<Indices, Op, Rows...>>)
inline constexpr bool gains_lanes<operation_row_of<Indices, Op, Rows...>> =
    lane_parts<operation_row_of<Indices, Op, Rows...>>::bytes != 0 &&
    lane_parts<operation_row_of<Indices, Op, Rows...>>::has_function;

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
