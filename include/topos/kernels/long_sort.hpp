// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Long rows of keys, each sorted by all teams, digit by digit. The order does not depend on the
/// number of threads.

#include <topos/kernels/detail/digit_chain.hpp>
#include <topos/kernels/sort.hpp>
#include <utility>

namespace topos::detail {

namespace host_rows {

/// Item i counts the digits of a piece of a long row; or adds up what the pieces of a row have of a
/// digit; or what a row has of all; or moves a piece. Zagha and Blelloch, "Radix sort for vector
/// multiprocessors", 1991.
template <class Key, class Number>
struct digit_kernel {
  enum class part : std::uint8_t { counts, starts, sums, moves };

  keyed<Key, Number> from;
  keyed<Key, Number> to;
  index_t count;
  index_t columns;
  index_t piece;
  index_t* counts;  // (count, digits, pieces), and then of whole rows (count, digits)
  int pass;
  part what;

  [[nodiscard]] index_t across() const { return (columns + piece - 1) / piece; }
  [[nodiscard]] index_t items() const {
    return what == part::starts ? count * digits : what == part::sums ? count : count * across();
  }
  [[nodiscard]] index_t cost() const {
    return what == part::starts ? across() : what == part::sums ? digits : std::min(piece, columns);
  }

  template <class Team>
  void operator()(const Team& team, index_t i) const {
    const auto add_up = [&](index_t* those, index_t n) {
      return scan_before(team, those, n, nullptr, index_t{0}, add_op{});
    };
    index_t* const sums = counts + count * digits * across();
    if (what == part::starts)
      sums[i] = add_up(counts + i * across(), across());
    else if (what == part::sums)
      add_up(sums + i * digits, digits);
    else
      work_on_piece(i / across(), i % across(), sums);
  }

 private:
  void work_on_piece(index_t r, index_t p, const index_t* sums) const {
    const index_t first = r * columns + p * piece;
    const index_t n = std::min(piece, columns - p * piece);
    index_t* const own = counts + r * digits * across() + p;
    if (what == part::counts) return count_digits(from.keys + first, n, pass, own, across());
    index_t starts[digits];
    for (int d = 0; d < digits; ++d) starts[d] = sums[r * digits + d] + own[d * across()];
    move_by_digits(from.beyond(first), to.beyond(r * columns), n, pass, starts);
  }
};

/// Sorts rows of keys: see sort_rows.
template <class Stream, class Key, class Number>
void sort_by_digits(const Stream& stream, keyed<Key, Number> all, keyed<Key, Number> spare,
                    index_t count, index_t columns, index_t piece, index_t* counts) {
  using kernel = digit_kernel<Key, Number>;
  using part = typename kernel::part;
  for (int pass = 0; pass < static_cast<int>(sizeof(Key)); ++pass) {
    for (const part what : {part::counts, part::starts, part::sums, part::moves}) {
      const kernel k{all, spare, count, columns, piece, counts, pass, what};
      stream.for_each("topos::sort", k.items(), k.cost(), 0, k);
    }
    std::swap(all, spare);
  }
}

}  // namespace host_rows

/// Sorts rows of keys, of any length, and the numbers with them: they end in `all`. `spare` is as
/// much room; `counts` has room for what sort_counts says. Numbers may be null.
template <class Stream, class Key, class Number>
void sort_rows(const Stream& stream, keyed<Key, Number> all, keyed<Key, Number> spare,
               index_t count, index_t columns, index_t piece, index_t* counts) {
  if constexpr (Stream::backend::kind == device_kind::cpu)
    host_rows::sort_by_digits(stream, all, spare, count, columns, piece, counts);
  else
    device_rows::sort_by_digits(stream, all, spare, count, columns, counts);
  if constexpr (sizeof(Key) % 2 != 0) {  // an odd number of moves
    const auto size = static_cast<std::size_t>(count * columns);
    stream.copy(all.keys, spare.keys, size * sizeof(Key));
    if (all.numbers != nullptr) stream.copy(all.numbers, spare.numbers, size * sizeof(Number));
  }
}

/// How many counts sort_rows needs.
template <class Key>
[[nodiscard]] index_t sort_counts(const device& d, index_t count, index_t columns, index_t piece) {
  const index_t pieces = count * ((columns + piece - 1) / piece);
  if (d.kind() == device_kind::cpu) return (pieces + count) * digits;
  return device_rows::counts_of_chain<Key>(count, pieces);
}

}  // namespace topos::detail
