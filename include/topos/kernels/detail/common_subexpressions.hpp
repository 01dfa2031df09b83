// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Common subexpressions: what occurs more than once in some rows, and takes longer than to write
/// it down, is computed once, on the host: functions, elements that are made, and some arithmetic.
/// Which types of rows occur again is known to the compiler; whether they are of the same elements,
/// when they are computed.

#include <algorithm>
#include <cstddef>
#include <topos/expr/operation_row.hpp>
#include <topos/kernels/detail/common_types.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail::host_rows {

/// How often a type of rows occurs in another.
template <class Part, class Row>
inline constexpr int occurrences = std::is_same_v<Part, Row> ? 1 : 0;
template <class Part, class Indices, class Op, class... Rows>
  requires(!std::is_same_v<Part, operation_row_of<Indices, Op, Rows...>>)
inline constexpr int occurrences<Part, operation_row_of<Indices, Op, Rows...>> =
    (occurrences<Part, Rows> + ...);

template <class Part, class... Rows>
inline constexpr int occurrences_in_all = (occurrences<Part, Rows> + ...);

/// Rows of one type that are looked at in an expression, and different ones of them, at most.
inline constexpr int most_rows = 16;
inline constexpr int most_kept = 4;

/// Rows of a type, of which there are `Count`, and what is written down of them.
template <class Row, int Count, index_t Columns>
struct kept_rows {
  static constexpr int most = std::min(Count, most_kept);
  static constexpr int room = std::min(Count, most_rows);
  const Row* rows[room];
  int numbers[room];  // the same of rows that are the same
  int count = 0;
  const Row* first[most];  // of each number
  bool is_kept[most];
  int different = 0;
  alignas(64) typename Row::value_type values[most][Columns];

  /// What becomes of a row that is added.
  enum class added { is_new, is_known, is_too_much };
  added add(const Row& row) {
    int number = 0;
    while (number != different && !(*first[number] == row)) ++number;
    const bool is_new = number == different;
    if (count == room || (is_new && different == most)) return added::is_too_much;
    if (is_new) first[different++] = &row;
    rows[count] = &row;
    numbers[count++] = number;
    return is_new ? added::is_new : added::is_known;
  }
  /// The number of a row that was added.
  [[nodiscard]] int find(const Row& row) const {
    int at = 0;
    while (rows[at] != &row) ++at;
    return numbers[at];
  }
};

// See row_assignment.hpp.
template <class T, class Row, class Past>
void assign_row(T* out, index_t step, const Row& row, index_t first, index_t last,
                Past past_caches);
template <class T, class Row>
void assign_paired(T* out, T* partners, const Row& row, index_t first, index_t last, index_t size,
                   index_t distance, bool past_caches);

template <class Common, class... Rows>
class common_parts_of;

/// Parts of these types of some rows, each written down once, some columns at a time.
template <class... Common, class... Rows>
class common_parts_of<row_types<Common...>, Rows...> {
  template <class Row>
  static constexpr int most_of = std::min(occurrences_in_all<Row, Rows...>, most_kept);

 public:
  /// As many columns at most: what is kept of them stays in the first cache.
  static constexpr index_t columns = std::clamp<index_t>(
      (std::size_t{16} << 10) / ((sizeof(typename Common::value_type) * most_of<Common>)+...) / 64 *
          64,
      64, 512);

  /// Looks at so many columns of the rows. Where lanes are few it takes as long to look.
  explicit common_parts_of(index_t count, const Rows&... rows) {
    if (((Rows::width == 0) || ...) || count >= 64) (look_at(rows), ...);
  }

  /// Whether it takes less time to write them down than to compute each where it stands.
  [[nodiscard]] bool pay() const { return gain() > 0; }
  /// How much less, in sums for each element; 0 if it takes as long, or longer.
  [[nodiscard]] int gain() const { return fits_ && gain_ > 0 ? gain_ : 0; }

  /// Goes on to columns [first, last).
  void go_to(index_t first, index_t last) {
    first_ = first;
    last_ = last;
    (forget(kept<Common>()), ...);
  }
  /// The same of a row of `size`, whose elements cost less together with those `distance` further
  /// on, of which `others` keep what is written down: themselves, where those are among the
  /// columns.
  void go_to(index_t first, index_t last, index_t size, index_t distance, common_parts_of& others) {
    go_to(first, last);
    if (&others != this) others.go_to(first + distance, std::min(last + distance, size));
    size_ = size;
    distance_ = distance;
    others_ = &others;
  }

  /// One of the rows in these columns, with what is written down of it, once it is needed.
  template <class Row>
  [[nodiscard]] auto with_kept(const Row& row) {
    if constexpr (is_common<Row>)
      return memory_row<typename Row::value_type>{{values_of(row)}, -first_};
    else
      return rebuilt(row);
  }

 private:
  template <class Row>
  static constexpr bool is_common = row_types<Common...>::template has<Row>;
  template <class Row>
  using kept_t = kept_rows<Row, occurrences_in_all<Row, Rows...>, columns>;
  struct all_kept : kept_t<Common>... {};

  template <class Row>
  [[nodiscard]] kept_t<Row>& kept() {
    return all_;
  }
  template <class Kept>
  static void forget(Kept& all) {
    std::fill_n(all.is_kept, all.different, false);
  }

  // Adds its common parts.
  template <class Row>
  void look_at(const Row& row) {
    if constexpr (heavy_parts<Row> != 0) {
      if constexpr (is_common<Row>) {
        using added = typename kept_t<Row>::added;
        const auto as = kept<Row>().add(row);
        if (as == added::is_too_much) fits_ = false;
        if (as == added::is_known) gain_ += weight<Row>;
        if (as != added::is_new) return;
        gain_ -= weight_of_keeping;
      }
      look_into(row);
    }
  }
  template <class Row>
  void look_into(const Row& /*row*/) {}
  template <std::size_t... I, class Op, class... Parts>
  void look_into(const operation_row_of<std::index_sequence<I...>, Op, Parts...>& row) {
    if constexpr (multiplies_alike<Op>) {
      if (row.op.is_square) return look_at(first_part(row));
    }
    (look_at(static_cast<const part<I, Parts>&>(row).value), ...);
  }

  // The elements of a part.
  template <class Row>
  [[nodiscard]] const typename Row::value_type* values_of(const Row& row) {
    kept_t<Row>& all = kept<Row>();
    const int number = all.find(row);
    if (!std::exchange(all.is_kept[number], true)) write(all.values[number], number, row);
    return all.values[number];
  }
  template <class Row>
  void write(typename Row::value_type* to, int number, const Row& row) {
    // Not of what was written down itself: that is of these columns, and not of their partners.
    constexpr bool is_as_given = std::is_same_v<std::decay_t<decltype(rebuilt(row))>, Row>;
    if constexpr (Row::has_pairs && is_dense_row<Row> && is_as_given) {
      if (others_ != nullptr) {
        kept_t<Row>& others = others_->template kept<Row>();
        others.is_kept[number] = true;
        auto* const partners = others_ == this ? to + distance_ : others.values[number];
        return assign_paired(to, partners, row, first_, last_, size_, distance_, false);
      }
    }
    assign_row(to, 1, rebuilt(row), first_, last_, std::false_type{});
  }

  template <class Row>
  [[nodiscard]] const Row& rebuilt(const Row& row) {
    return row;
  }
  template <std::size_t... I, class Op, class... Parts>
    requires(heavy_parts<operation_row_of<std::index_sequence<I...>, Op, Parts...>> != 0)
  [[nodiscard]] auto rebuilt(const operation_row_of<std::index_sequence<I...>, Op, Parts...>& row) {
    using made = operation_row<
        Op, std::decay_t<decltype(with_kept(static_cast<const part<I, Parts>&>(row).value))>...>;
    if constexpr (multiplies_alike<Op>) {
      if (row.op.is_square) {
        const auto factor = with_kept(first_part(row));
        return made{{factor}, {factor}, row.op};
      }
    }
    return made{{with_kept(static_cast<const part<I, Parts>&>(row).value)}..., row.op};
  }

  all_kept all_;
  bool fits_ = true;
  int gain_ = 0;
  index_t first_ = 0;
  index_t last_ = 0;
  index_t size_ = 0;
  index_t distance_ = 0;
  common_parts_of* others_ = nullptr;
};
template <class... Rows>
using common_parts = common_parts_of<common_types<Rows...>, Rows...>;

/// Whether rows may have common parts, what it gains to write them down, and whether it does.
template <class... Rows>
inline constexpr bool may_have_common_parts = common_types<Rows...>::size != 0;
template <class... Rows>
[[nodiscard]] int gain_of_common_parts(index_t columns, const Rows&... rows) {
  if constexpr (may_have_common_parts<Rows...>)
    return common_parts<Rows...>(columns, rows...).gain();
  else
    return 0;
}
template <class... Rows>
[[nodiscard]] bool have_common_parts(index_t columns, const Rows&... rows) {
  return gain_of_common_parts(columns, rows...) > 0;
}

}  // namespace topos::detail::host_rows
