// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sorting by keys: a stable radix sort of unsigned integers, each with a number that moves along.
///
/// Short rows are sorted by one team each (see piece_sort.hpp); long ones by all, digit by digit:
/// the digits of each piece are counted, the counts added up, and the piece moved to where they
/// say. The order does not depend on the number of threads. Zagha and Blelloch, "Radix sort for
/// vector multiprocessors", 1991.

#include <cstdint>
#include <topos/core/promotion.hpp>
#include <topos/kernels/detail/digit_table.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// The unsigned integer whose order is that of elements of type T.
template <class T>
using sort_key_t = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// An element as its key: NaN after all others; both zeros are the same where only the order
/// counts. `backwards`: the largest first, of which NaN is one.
template <class T>
struct to_sort_key : quick {
  using key = sort_key_t<T>;
  bool joins_zeros = false;
  bool backwards = false;

  KOKKOS_FUNCTION key operator()(const T& x) const {
    const key k = forwards(x);
    return backwards ? static_cast<key>(~k) : k;
  }
  template <floating_lanes B>
  [[nodiscard]] auto lanes(const B& given) const {
    const B x = joins_zeros ? given + lane::splat(T(0)) : given;
    const auto k = lane::select(lane::mask_cast<key>(x == x),
                                lane::bits_as<key>(x) ^ (signs(x) | lane::splat(top)),
                                lane::splat(static_cast<key>(~key(0))));
    return backwards ? ~k : k;
  }

 private:
  // All bits of those that are negative.
  template <class B>
  static auto signs(const B& x) {
    return lane::bits_as<key>(lane::bits_as<std::make_signed_t<key>>(x) >>
                              static_cast<int>(8 * sizeof(T) - 1));
  }

  static constexpr key top = static_cast<key>(key(1) << (8 * sizeof(T) - 1));

  KOKKOS_FUNCTION key forwards(const T& x) const {
    if constexpr (is_real_floating<T>) {
      const key bits = Kokkos::bit_cast<key>(x);
      const key of_sign =
          (bits & top) != 0 ? static_cast<key>(~bits) : static_cast<key>(bits | top);
      const key of_number = joins_zeros && x == T(0.0F) ? top : of_sign;
      return x != x ? static_cast<key>(~key(0)) : of_number;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<key>(static_cast<key>(x) ^ top);
    } else {
      return static_cast<key>(x);
    }
  }
};

/// The element of a key.
template <class T>
struct from_sort_key : quick {
  using key = sort_key_t<T>;
  bool backwards = false;

  template <lane::numbers B>
    requires std::floating_point<T>
  [[nodiscard]] auto lanes(const B& k) const {
    const B forwards = backwards ? ~k : k;
    const auto above =
        lane::bits_as<std::make_signed_t<key>>(forwards) >> static_cast<int>(8 * sizeof(T) - 1);
    return lane::bits_as<T>(forwards ^ (~lane::bits_as<key>(above) | lane::splat(top)));
  }
  KOKKOS_FUNCTION T operator()(const key& k) const {
    const key forwards = backwards ? static_cast<key>(~k) : k;
    if constexpr (is_real_floating<T>) {
      const auto bits = static_cast<key>((forwards & top) != 0 ? forwards ^ top : ~forwards);
      return Kokkos::bit_cast<T>(bits);  // of NaN's key, all bits but the sign, which are one
    } else if constexpr (std::same_as<T, bool>) {
      return forwards != 0;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(forwards ^ top);
    } else {
      return static_cast<T>(forwards);
    }
  }

 private:
  static constexpr key top = static_cast<key>(key(1) << (8 * sizeof(T) - 1));
};

/// Keys and the numbers that move with them.
template <class Key, class Number>
struct keyed {
  Key* keys;
  Number* numbers;
};

/// Counts the digits of n keys into counts[digit * stride]. `room` is digit_bytes on a device.
TOPOS_HOST_BRANCH
template <class Team, class Key>
KOKKOS_FUNCTION void count_digits(const Team& team, const Key* keys, index_t n, int pass,
                                  index_t* counts, index_t stride, void* room) {
  if constexpr (Team::on_host) {
    index_t own[digits] = {};
    for (index_t j = 0; j < n; ++j) ++own[digit_of(keys[j], pass)];
    for (index_t d = 0; d < digits; ++d) counts[d * stride] = own[d];
  } else {
    const device_rows::digit_table<Team, Key> table(team, keys, n, pass, room);
    for (index_t d = team.rank(); d < digits; d += team.threads())
      counts[d * stride] = table.total(d);
    team.barrier();
  }
}

/// Moves n keys, in order, to to[start_of(digit)] and on. `room` is digit_bytes on a device.
TOPOS_HOST_BRANCH
template <class Team, class Key, class Number, class Start>
KOKKOS_FUNCTION void move_by_digits(const Team& team, const keyed<Key, Number>& from,
                                    const keyed<Key, Number>& to, index_t n, int pass,
                                    const Start& start_of, void* room) {
  const auto put = [&](index_t j, index_t at) {
    to.keys[at] = from.keys[j];
    if (to.numbers != nullptr) to.numbers[at] = from.numbers[j];
  };
  if constexpr (Team::on_host) {
    index_t own[digits];
    for (index_t d = 0; d < digits; ++d) own[d] = start_of(d);
    for (index_t j = 0; j < n; ++j) put(j, own[digit_of(from.keys[j], pass)]++);
  } else {
    const device_rows::digit_table<Team, Key> table(team, from.keys, n, pass, room);
    for (index_t d = team.rank(); d < digits; d += team.threads()) table.begin(d, start_of(d));
    table.place(put);
  }
}

/// counts[i] becomes the sum of those before it; returns that of all. `room` is digit_bytes on a
/// device.
template <class Team>
KOKKOS_FUNCTION index_t add_up_counts(const Team& team, index_t* counts, index_t n, void* room) {
  return scan_before(team, counts, n, room, index_t{0}, [](index_t a, index_t b) { return a + b; });
}

/// As many keys are sorted by insertion, at most.
inline constexpr index_t few = 32;

/// Sorts a few keys by insertion.
template <class Key, class Number>
void sort_few(const keyed<Key, Number>& all, index_t n) {
  for (index_t i = 1; i < n; ++i) {
    const Key key = all.keys[i];
    const Number number = all.numbers == nullptr ? Number{} : all.numbers[i];
    index_t j = i;
    for (; j > 0 && all.keys[j - 1] > key; --j) {
      all.keys[j] = all.keys[j - 1];
      if (all.numbers != nullptr) all.numbers[j] = all.numbers[j - 1];
    }
    all.keys[j] = key;
    if (all.numbers != nullptr) all.numbers[j] = number;
  }
}

/// Sorts n keys by one team; they end where they began. `spare` is as much room, `counts` room for
/// a count of each digit, and `room` digit_bytes of memory on a device.
TOPOS_HOST_BRANCH
template <class Team, class Key, class Number>
KOKKOS_FUNCTION void sort_keys(const Team& team, keyed<Key, Number> all, keyed<Key, Number> spare,
                               index_t n, index_t* counts, void* room) {
  const keyed<Key, Number> home = all;
  if constexpr (Team::on_host) {
    if (n <= few) return sort_few(all, n);
  }
  for (int pass = 0; pass < static_cast<int>(sizeof(Key)); ++pass) {
    count_digits(team, all.keys, n, pass, counts, 1, room);
    if constexpr (Team::on_host) {
      if (counts[digit_of(all.keys[0], pass)] == n) continue;  // all alike: in order already
    }
    add_up_counts(team, counts, digits, room);
    move_by_digits(
        team, all, spare, n, pass, [&](index_t d) { return counts[d]; }, room);
    const keyed<Key, Number> filled = spare;
    spare = all;
    all = filled;
  }
  if (all.keys != home.keys) {
    assign(team, home.keys, memory_row<Key>{{all.keys}}, 0, n);
    if (home.numbers != nullptr)
      assign(team, home.numbers, memory_row<Number>{{all.numbers}}, 0, n);
  }
}

/// Bytes of scratch memory to sort n keys by one team, numbered or not: counts, room, and the keys
/// twice.
template <class Key, class Number>
[[nodiscard]] std::size_t sort_scratch(index_t n, bool numbered) {
  return static_cast<std::size_t>(digits) * sizeof(index_t) + digit_bytes +
         static_cast<std::size_t>(2 * n) * (sizeof(Key) + (numbered ? sizeof(Number) : 0));
}

/// Item i counts the digits of a piece of a long row; or adds up what the pieces of a row have of a
/// digit; or what a row has of all; or moves a piece.
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

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const { return (columns + piece - 1) / piece; }
  [[nodiscard]] index_t items() const {
    return what == part::starts ? count * digits : what == part::sums ? count : count * across();
  }
  [[nodiscard]] index_t cost() const {
    return what == part::starts ? across() : what == part::sums ? digits : std::min(piece, columns);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    index_t* const sums = counts + count * digits * across();
    if (what == part::starts) {
      const index_t sum = add_up_counts(team, counts + i * across(), across(), team.scratch());
      if (team.rank() == 0) sums[i] = sum;
    } else if (what == part::sums) {
      add_up_counts(team, sums + i * digits, digits, team.scratch());
    } else {
      work_on_piece(team, i / across(), i % across(), sums);
    }
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION void work_on_piece(const Team& team, index_t r, index_t p,
                                     const index_t* sums) const {
    const index_t first = r * columns + p * piece;
    const index_t n = (p + 1) * piece < columns ? piece : columns - p * piece;
    const index_t pieces = across();
    index_t* own = counts + r * digits * pieces + p;
    if (what == part::counts) {
      count_digits(team, from.keys + first, n, pass, own, pieces, team.scratch());
    } else {
      const bool numbered = from.numbers != nullptr;
      move_by_digits(
          team, keyed<Key, Number>{from.keys + first, numbered ? from.numbers + first : nullptr},
          keyed<Key, Number>{to.keys + r * columns, numbered ? to.numbers + r * columns : nullptr},
          n, pass, [&](index_t d) { return sums[r * digits + d] + own[d * pieces]; },
          team.scratch());
    }
  }
};

/// Columns that one team sorts, or moves, at once on a device.
[[nodiscard]] inline index_t sort_piece(const device& d) {
  return d.kind() == device_kind::cpu ? index_t{1} << 16 : map_chunk;
}

/// Sorts rows of keys, of any length, and the numbers with them: they end in `all`. `spare` is as
/// much room; `counts` has room for what sort_counts says. Numbers may be null.
template <class Stream, class Key, class Number>
void sort_rows(const Stream& stream, keyed<Key, Number> all, keyed<Key, Number> spare,
               index_t count, index_t columns, index_t piece, index_t* counts) {
  using kernel = digit_kernel<Key, Number>;
  using part = typename kernel::part;
  const keyed<Key, Number> home = all;
  for (int pass = 0; pass < static_cast<int>(sizeof(Key)); ++pass) {
    for (const part what : {part::counts, part::starts, part::sums, part::moves}) {
      const kernel k{all, spare, count, columns, piece, counts, pass, what};
      stream.for_each("topos::sort", k.items(), k.cost(), digit_bytes, k);
    }
    std::swap(all, spare);
  }
  if (all.keys == home.keys) return;
  const auto bytes = static_cast<std::size_t>(count * columns);
  stream.copy(home.keys, all.keys, bytes * sizeof(Key));
  if (home.numbers != nullptr) stream.copy(home.numbers, all.numbers, bytes * sizeof(Number));
}

/// How many counts sort_rows needs.
[[nodiscard]] inline index_t sort_counts(index_t count, index_t columns, index_t piece) {
  return count * digits * ((columns + piece - 1) / piece + 1);
}

}  // namespace topos::detail
