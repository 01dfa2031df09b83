// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The host's loops along a row, which write it to memory: `out` is where the element of column
/// `first` goes.

#include <algorithm>
#include <topos/expr/operation_row.hpp>
#include <topos/expr/operations.hpp>
#include <topos/expr/settled_row.hpp>
#include <topos/kernels/detail/own_row.hpp>
#include <topos/kernels/detail/past_caches.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail::host_rows {

// The loops are functions of their own, so that they have all registers.

// One by one.
template <class T, class Row>
[[gnu::noinline]] void assign_each(T* out, index_t step, Row row, index_t first, index_t last) {
  const index_t count = last - first;
  if constexpr (Row::is_quick) {
    if (step == 1) {
      TOPOS_INDEPENDENT_STEPS
      for (index_t k = 0; k < count; ++k) out[k] = row[first + k];
      return;
    }
  }
  // Apart, or functions of users' own, which may throw.
  for (index_t k = 0; k < count; ++k) out[k * step] = row[first + k];
}

// The conversion of a row.
template <class To, class Row>
using converted_row = operation_row_of<std::index_sequence<0>, convert_op<To>, Row>;

// What it converts.
template <class To, class Row>
[[nodiscard]] const Row& converted(const converted_row<To, Row>& row) {
  return static_cast<const part<0, Row>&>(row).value;
}

// Whether compilers make lanes of a loop of what a row is of: not of f16, whose conversions are
// many operations.
template <class Row>
inline constexpr bool compiles_to_lanes =
    Row::is_quick && !std::is_same_v<typename Row::value_type, f16>;
template <class Indices, class Op, class... Rows>
inline constexpr bool compiles_to_lanes<operation_row_of<Indices, Op, Rows...>> =
    std::is_base_of_v<quick, Op> && !std::is_base_of_v<keeping_products, Op> &&
    (compiles_to_lanes<Rows> && ...);

// Whether a row is a conversion that has no lanes, of numbers that have.
template <class Row>
inline constexpr bool converts_lanes = false;
template <class To, class Row>
inline constexpr bool converts_lanes<converted_row<To, Row>> =
    Row::width > 1 && (!compiles_to_lanes<Row> || lane::narrows<typename Row::value_type, To>);

// Whether a row is a conversion of numbers that have lanes.
template <class Row>
inline constexpr bool converts_from_lanes = false;
template <class To, class Row>
inline constexpr bool converts_from_lanes<converted_row<To, Row>> = (Row::width > 1);

// Whether a row converts lanes of another type, or truths of lanes, to integers, which takes longer
// than to write those down first. (Sums of truths that are dense need neither.)
template <class Row>
inline constexpr bool makes_integers = false;
template <class To, class Row>
inline constexpr bool makes_integers<converted_row<To, Row>> =
    std::is_integral_v<To> && (converts_lanes<converted_row<To, Row>> ||
                               (std::is_same_v<typename Row::value_type, bool> && Row::width > 1));

// Whether a row converts numbers as they lie in memory.
template <class Row>
inline constexpr bool converts_memory = false;
template <class To, class Row>
inline constexpr bool converts_memory<converted_row<To, Row>> = Row::is_quick&& has_elements<Row>;

// Whether a row converts integers to others, which compilers make lanes of where both are dense.
template <class Row>
inline constexpr bool widens_integers = false;
template <class To, class Row>
inline constexpr bool widens_integers<converted_row<To, Row>> =
    std::is_integral_v<To>&& std::is_integral_v<typename Row::value_type> &&
    !std::is_same_v<typename Row::value_type, bool>;

/// What is written down of a row that is to be combined: the row itself,
template <class Row, bool Converts = makes_integers<Row>>
struct drawn_row {
  using type = Row;
  static const Row& of(const Row& row) { return row; }
  static memory_row<typename Row::value_type> in(const typename Row::value_type* values) {
    return {{values}};
  }
};
/// or what it makes integers of.
template <class To, class Row>
struct drawn_row<converted_row<To, Row>, true> {
  using type = Row;
  static const Row& of(const converted_row<To, Row>& row) { return converted(row); }
  static auto in(const typename Row::value_type* values) {
    return make_row(convert_op<To>{}, memory_row<typename Row::value_type>{{values}});
  }
};

/// Memory for what is levelled of a row, of so many elements at most if that lies apart.
template <class Row, index_t Most = 64>
class level_block {
 public:
  explicit level_block(index_t columns = Most) : columns_(columns) {}
  /// All of it.
  [[nodiscard]] flat_block whole() { return {0, 1, columns_, 1, memory_, false}; }

 private:
  static_assert(Most >= 64, "a part of it has as many bytes");
  alignas(flat_block::alignment) std::byte memory_[Most * Row::bytes_levelled];
  index_t columns_;
};

/// What a loop along a row looks at: the row with all that settled that can be.
template <class Row>
[[nodiscard]] decltype(auto) looped(const Row& row, index_t /*first*/) {
  return settled(row);
}
/// The same of a row that is levelled in some memory for it, from a column on. The function with
/// the loop levels it itself, so that it is put together in registers.
template <class Row, index_t Most>
[[nodiscard, gnu::always_inline]] inline auto looped(const Row& row, index_t first,
                                                     level_block<Row, Most>& memory) {
  flat_block block = memory.whole();
  return settled(levelled(row, first, block));
}

template <class T, class Row, class... Memory>
[[gnu::noinline]] void assign_dense(T* out, const Row& given, index_t first, index_t last,
                                    Memory&... memory);

// Lanes of a row for a store as T: one as f16 rounds, and need not do so twice.
template <class T, class Row, class Count>
[[nodiscard, gnu::always_inline]] inline auto lanes_to_store(const Row& row, index_t j,
                                                             Count count) {
  if constexpr (std::is_same_v<T, f16> && std::is_same_v<typename Row::value_type, f16> &&
                requires { row.unrounded(j, count); })
    return row.unrounded(j, count);
  else
    return row.lanes(j, count);
}

// By lanes that are stored as a narrower type.
template <class T, class Given>
[[gnu::noinline]] void assign_narrowed(T* out, const Given& given, index_t first, index_t last) {
  using Row = settled_t<Given>;
  const auto& kept = settled(given);
  own_row<Row> row = own(kept);
  index_t j = first;
  for (; j + Row::width <= last; j += Row::width, out += Row::width)
    lane::store_narrow(out, row.lanes(j, lane::all{}));
  if (j == last) return;
  T rest[Row::width];
  lane::store_narrow(rest, row.lanes(j, last - j));
  std::copy_n(rest, last - j, out);
}

// By some at a time: compilers make lanes of the conversion alone.
template <class T, class To, class Row>
[[gnu::noinline]] void assign_converted(T* out, const converted_row<To, Row>& row, index_t first,
                                        index_t last) {
  constexpr index_t most = 16 * Row::width;
  const Row& from = converted(row);
  using value_type = lane::made_of<typename Row::value_type>;
  if constexpr (lane::narrows<typename Row::value_type, To>)
    return assign_narrowed(out, from, first, last);
  value_type values[most];
  // Of loops that read truths as such compilers make no lanes.
  using read = std::conditional_t<std::is_same_v<value_type, bool>, unsigned char, value_type>;
  const auto* const made = reinterpret_cast<const read*>(values);
  for (index_t j = first; j < last; j += most) {
    const index_t count = last - j < most ? last - j : most;
    if constexpr (std::is_same_v<value_type, typename Row::value_type>)
      assign_dense(values, from, j, j + count);
    else
      assign_dense(values, make_row(convert_op<value_type>{}, from), j, j + count);
    TOPOS_INDEPENDENT_STEPS
    for (index_t k = 0; k < count; ++k) out[j - first + k] = row.op(made[k]);
  }
}

template <class T, class Given, class... Memory>
void assign_dense(T* out, const Given& given, index_t first, index_t last, Memory&... memory) {
  using Row = std::decay_t<decltype(looped(given, first, memory...))>;
  const auto& kept = looped(given, first, memory...);
  own_row<Row> row = own(kept);
  if constexpr (Row::width != 0) {
    index_t j = first;
    if constexpr (sizeof...(Memory) != 0 && Row::is_quick) {
      constexpr index_t length = lane::some_batches * Row::width;
      for (; j + length <= last; j += length) {
        const auto lanes = some_lanes(row, j);
        for (int b = 0; b < lane::some_batches; ++b)
          lane::store(out + (j - first) + b * Row::width, lanes.at[b]);
      }
    }
    for (; j + Row::width <= last; j += Row::width)
      lane::store(out + (j - first), lanes_to_store<T>(row, j, lane::all{}));
    if (j < last)
      lane::store_partial(out + (j - first), lanes_to_store<T>(row, j, last - j), last - j);
  } else if constexpr (converts_lanes<Row>) {
    assign_converted(out, row, first, last);
  } else {
    assign_each(out, 1, row, first, last);
  }
}

// Past the caches, but for what is before the first whole batch that can be and behind the last
// one; says where that begins.
template <class T, class Given, class... Memory>
[[gnu::noinline]] index_t stream_dense(T* out, const Given& given, index_t first, index_t last,
                                       Memory&... memory) {
  index_t j = first + elements_to_stream(out);
  if (j > last || !can_stream(out + (j - first))) return first;
  assign_dense(out, given, first, j, memory...);
  using Row = std::decay_t<decltype(looped(given, first, memory...))>;
  const auto& kept = looped(given, first, memory...);
  own_row<Row> row = own(kept);
  for (; j + Row::width <= last; j += Row::width)
    stream(out + (j - first), lanes_to_store<T>(row, j, lane::all{}));
  return j;
}

/// A dense row, past the caches where that is wanted and can be: a fence has to follow then. It is
/// a bool, or std::false_type where it never is.
template <class T, class Row, class Past, class... Memory>
inline void assign_dense_row(T* out, const Row& row, index_t first, index_t last, Past past_caches,
                             Memory&... memory) {
  if constexpr (Row::width != 0 && std::is_same_v<Past, bool>) {
    if (past_caches && (last - first >= 8 * Row::width || can_stream(out))) {
      const index_t done = stream_dense(out, row, first, last, memory...);
      out += done - first;
      first = done;
    }
  }
  assign_dense(out, row, first, last, memory...);
}

// Whether elements become wider as they are loaded, those that lie apart some at once.
template <class Elements>
inline constexpr bool widens_apart = false;
template <class Elements, class To>
inline constexpr bool widens_apart<widened_elements<Elements, To>> = true;

template <class Row>
inline constexpr bool is_strided = false;
template <class Elements>
inline constexpr bool is_strided<strided_row<Elements>> = true;

// What is copied, and no operation.
template <class T, class Elements>
inline void assign_strided(T* out, const strided_row<Elements>& row, index_t first, index_t last) {
  if (row.step == 0 && first < last)
    return assign_dense(out, constant_row<typename Elements::value_type>{row[first]}, first, last);
  if constexpr (std::is_same_v<Elements, fetched_elements<T>>) {
    const T* from = row.elements.data + row.base + first * row.step;
    const index_t done = lane::copy_whole(out, from, row.step, last - first);
    out += done;
    first += done;
  } else if constexpr (widens_apart<Elements>) {
    for (; first + row.width <= last; first += row.width, out += row.width)
      lane::store(out, row.elements.lanes_apart(row.base + first * row.step, row.step));
  }
  assign_each(out, 1, row, first, last);  // lanes would be gathered one by one
}

// Elements that it pays to begin with past the caches of what is levelled.
template <class T>
inline constexpr index_t long_row = 8192 / sizeof(T);

template <class Row>
inline constexpr bool has_level_rows = false;
template <class Elements>
inline constexpr bool has_level_rows<level_row<Elements>> = true;
template <class Indices, class Op, class... Rows>
inline constexpr bool has_level_rows<operation_row_of<Indices, Op, Rows...>> =
    (has_level_rows<Rows> || ...);

// Columns of what lies apart that are levelled at once: more take less time in the caches, but
// longer from memory.
inline constexpr index_t most_levelled = 256;

// Columns [first, last) of a row, of which nothing lies apart where they are level.
template <class T, class Row, class Past>
void assign_part(T* out, const Row& row, index_t first, index_t last, bool level,
                 Past past_caches) {
  if (level) {
    constexpr bool one_by_one =
        Row::width == 0 && !converts_lanes<Row> && has_level_rows<levelled_t<Row>>;
    // Compilers make no lanes of a level row.
    if constexpr (one_by_one && !converts_from_lanes<Row>)
      return assign_dense(out, row, first, last);
    level_block<Row> block(std::min<index_t>(last - first, 64));
    if constexpr (one_by_one && converts_from_lanes<Row>)
      return assign_converted(out, looped(row, first, block), first, last);
    // Of a short row it would take as long to level it thrice.
    if (last - first >= long_row<T>)
      return assign_dense_row(out, row, first, last, past_caches, block);
    assign_dense(out, row, first, last, block);
  } else if constexpr (requires { row.copy(out, first, last); }) {
    row.copy(out, first, last);
  } else {
    level_block<Row, most_levelled> block(last - first);
    assign_dense(out, row, first, last, block);
  }
}

// What lies apart is brought together first, some at a time.
template <class T, class Row, class Past>
[[gnu::noinline]] void assign_levelled(T* out, const Row& row, index_t first, index_t last,
                                       Past past_caches) {
  if constexpr (is_strided<Row>) {
    assign_strided(out, row, first, last);
  } else {
    // Of a row that is cut each part by itself.
    while (first < last) {
      const index_t until = std::min(last, level_until(row, first));
      const index_t past = until > first ? until : std::min(last, first + most_levelled);
      assign_part(out, row, first, past, until > first, past_caches);
      out += past - first;
      first = past;
    }
  }
}

}  // namespace topos::detail::host_rows
