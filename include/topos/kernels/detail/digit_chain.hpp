// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Long rows of keys sorted by all teams of a device, digit by digit: how many keys of a digit a
/// row has is counted once for all digits, and how many of them are in earlier pieces, the teams of
/// a launch tell each other. Adinets and Merrill, "Onesweep: a faster least significant digit radix
/// sort for GPUs", 2022.

#include <topos/kernels/detail/fill_kernel.hpp>
#include <topos/kernels/detail/told_value.hpp>
#include <topos/kernels/sort.hpp>
#include <utility>

namespace topos::detail::device_rows {

/// What launches of a sort share: counts of each row, pass and digit, and then where these keys
/// start; what each piece has of each digit, or all up to it; and for each pass, how many pieces
/// have begun.
struct chain_counts {
  index_t* starts;   // (rows, passes, digits)
  index_t* told;     // (pieces of all rows, digits)
  index_t* tickets;  // (passes)
};

/// How many counts that are.
template <class Key>
[[nodiscard]] index_t counts_of_chain(index_t count, index_t pieces) {
  const auto passes = static_cast<index_t>(sizeof(Key));
  return count * passes * digits + pieces * digits + passes;
}

/// Item i counts all digits of a piece; or adds up a row's counts of one
/// pass; or moves a piece by one digit.
template <class Key, class Number>
struct digit_chain {
  enum class part : std::uint8_t { counts, sums, moves };
  static constexpr int passes = sizeof(Key);

  /// Of a team: a table, where keys go, and the order of its keys; or counts of all digits, some of
  /// each, so that lanes do not wait for each other where they have the same digit.
  static constexpr std::size_t scratch_bytes = table_bytes + std::size_t{digits} * sizeof(index_t) +
                                               std::size_t{most_keys} * sizeof(small_count);
  static constexpr int counters = 16 / passes;
  static_assert(scratch_bytes >= std::size_t{passes * digits * counters} * sizeof(int));

  keyed<Key, Number> from;
  keyed<Key, Number> to;
  index_t count;
  index_t columns;
  chain_counts counts;
  int pass;
  part what;

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const {
    return (columns + most_keys - 1) / most_keys;
  }
  [[nodiscard]] index_t items() const { return count * (what == part::sums ? passes : across()); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (what == part::counts) {
      count_piece(team, i / across(), i % across());
    } else if (what == part::sums) {
      scan_before<1>(team, counts.starts + i * digits, digits, team.scratch(), index_t{0},
                     add_op{});
    } else {
      const index_t next =
          in_turn(team, counts.tickets + pass, static_cast<index_t*>(team.scratch()));
      team.barrier();
      move_piece(team, next / across(), next % across());
    }
  }

 private:
  // What a piece tells of a digit is a number, and above it in which pass, and whether it is of all
  // pieces up to it.
  static constexpr int tag_shift = 56;
  [[nodiscard]] KOKKOS_FUNCTION index_t tag(bool is_of_all) const {
    return index_t{2 * pass + (is_of_all ? 2 : 1)} << tag_shift;
  }

  [[nodiscard]] KOKKOS_FUNCTION int size_of(index_t p) const {
    const index_t rest = columns - p * most_keys;
    return static_cast<int>(rest < most_keys ? rest : most_keys);
  }

  template <class Team>
  KOKKOS_FUNCTION void count_piece(const Team& team, index_t r, index_t p) const {
    auto* const own = static_cast<int*>(team.scratch());
    for (int k = team.rank(); k < passes * digits * counters; k += team.threads()) own[k] = 0;
    team.barrier();
    int* const mine = own + team.rank() % counters;
    const Key* const keys = from.keys + r * columns + p * most_keys;
    for_each_loaded(
        team.rank(), team.threads(), size_of(p), [&](int j) { return keys[j]; },
        [&](const Key& key, int) {
          TOPOS_UNROLLED
          for (int k = 0; k < passes; ++k)
            Kokkos::atomic_inc(mine + (k * digits + digit_of(key, k)) * counters);
        });
    team.barrier();
    for (int k = team.rank(); k < passes * digits; k += team.threads()) {
      int some = 0;
      for (int c = 0; c < counters; ++c) some += own[k * counters + c];
      if (some != 0) Kokkos::atomic_add(counts.starts + r * passes * digits + k, index_t{some});
    }
    team.barrier();
  }

  template <class Team>
  KOKKOS_FUNCTION void move_piece(const Team& team, index_t r, index_t p) const {
    const keyed<Key, Number> own = from.beyond(r * columns + p * most_keys);
    const keyed<Key, Number> row = to.beyond(r * columns);
    index_t* const told = counts.told + (r * across() + p) * digits;
    const int n = size_of(p);
    const digit_table<Team, Key> table(team, own.keys, n, pass, team.scratch());
    for (int d = team.rank(); d < digits; d += team.threads())
      Team::tell(told + d, tag(p == 0) | table.total(d));
    // In the order of their digits first, so that neighbours go where neighbours do.
    auto* const ahead =
        reinterpret_cast<index_t*>(static_cast<std::byte*>(team.scratch()) + table_bytes);
    auto* const ordered = reinterpret_cast<small_count*>(ahead + digits);
    table.place([&](int j, int at) { ordered[at] = static_cast<small_count>(j); });
    const index_t* const starts = counts.starts + (r * passes + pass) * digits;
    for (int d = team.rank(); d < digits; d += team.threads()) {
      const index_t before = before_piece<Team>(told + d, p);
      if (p != 0) Team::tell(told + d, tag(true) | (before + table.placed(d)));
      ahead[d] = starts[d] + before - table.start(d);
    }
    team.barrier();
    write(team, own, row, n, ordered, ahead);
  }

  // Keys of a digit in earlier pieces of the row.
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION index_t before_piece(const index_t* told, index_t p) const {
    index_t before = 0;
    for (; p > 0; --p) {
      told -= digits;
      index_t word = 0;
      do {
        word = Team::told(told);
      } while (word < tag(false));
      before += word & ((index_t{1} << tag_shift) - 1);
      if (word >= tag(true)) break;
    }
    return before;
  }

  template <class Team>
  KOKKOS_FUNCTION void write(const Team& team, const keyed<Key, Number>& own,
                             const keyed<Key, Number>& row, int n, const small_count* ordered,
                             const index_t* ahead) const {
    const auto at = [&](const Key& key, int i) { return ahead[digit_of(key, pass)] + i; };
    if (row.numbers == nullptr) {
      for_each_loaded(
          team.rank(), team.threads(), n, [&](int i) { return own.keys[ordered[i]]; },
          [&](const Key& key, int i) { row.keys[at(key, i)] = key; });
    } else {
      struct one {
        Key key;
        Number number;
      };
      for_each_loaded(
          team.rank(), team.threads(), n,
          [&](int i) {
            return one{own.keys[ordered[i]], own.numbers[ordered[i]]};
          },
          [&](const one& x, int i) {
            const index_t there = at(x.key, i);
            row.keys[there] = x.key;
            row.numbers[there] = x.number;
          });
    }
    team.barrier();
  }
};

/// Sorts rows of keys: see sort_rows.
template <class Stream, class Key, class Number>
void sort_by_digits(const Stream& stream, keyed<Key, Number> all, keyed<Key, Number> spare,
                    index_t count, index_t columns, index_t* counts) {
  using kernel = digit_chain<Key, Number>;
  using part = typename kernel::part;
  const index_t pieces = count * ((columns + most_keys - 1) / most_keys);
  index_t* const told = counts + count * kernel::passes * digits;
  const chain_counts shared{counts, told, told + pieces * digits};
  const auto launch = [&](part what, int pass) {
    const kernel k{all, spare, count, columns, shared, pass, what};
    stream.for_each("topos::sort", k.items(), most_keys, kernel::scratch_bytes, k);
  };
  const fill_kernel<index_t> clear{counts, counts_of_chain<Key>(count, pieces), 0};
  stream.for_each("topos::sort", clear.items(), map_chunk, 0, clear);
  launch(part::counts, 0);
  launch(part::sums, 0);
  for (int pass = 0; pass < kernel::passes; ++pass) {
    launch(part::moves, pass);
    std::swap(all, spare);
  }
}

}  // namespace topos::detail::device_rows
