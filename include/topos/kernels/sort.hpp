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

/// Values that a digit has.
inline constexpr index_t digits = 256;

template <class Key>
KOKKOS_FUNCTION index_t digit_of(const Key& k, int pass) {
  return static_cast<index_t>((k >> (8 * static_cast<unsigned>(pass))) & Key(digits - 1));
}

/// Keys and the numbers that move with them.
template <class Key, class Number>
struct keyed {
  Key* keys;
  Number* numbers;
};

/// Counts the digits of n keys into counts[digit * stride].
TOPOS_HOST_BRANCH
template <class Team, class Key>
KOKKOS_FUNCTION void count_digits(const Team& team, const Key* keys, index_t n, int pass,
                                  index_t* counts, index_t stride) {
  if constexpr (Team::on_host) {
    index_t own[digits] = {};
    for (index_t j = 0; j < n; ++j) ++own[digit_of(keys[j], pass)];
    for (index_t d = 0; d < digits; ++d) counts[d * stride] = own[d];
  } else {
    // A thread for each digit: all read the same key at once.
    const index_t all = digits;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), all), [&](index_t d) {
      index_t count = 0;
      for (index_t j = 0; j < n; ++j) count += digit_of(keys[j], pass) == d ? 1 : 0;
      counts[d * stride] = count;
    });
    team.barrier();
  }
}

/// Moves n keys, in order, to to[starts[digit * stride]] and on.
TOPOS_HOST_BRANCH
template <class Team, class Key, class Number>
KOKKOS_FUNCTION void move_by_digits(const Team& team, const keyed<Key, Number>& from,
                                    const keyed<Key, Number>& to, index_t n, int pass,
                                    const index_t* starts, index_t stride) {
  const auto put = [&](index_t j, index_t at) {
    to.keys[at] = from.keys[j];
    if (to.numbers != nullptr) to.numbers[at] = from.numbers[j];
  };
  if constexpr (Team::on_host) {
    index_t own[digits];
    for (index_t d = 0; d < digits; ++d) own[d] = starts[d * stride];
    for (index_t j = 0; j < n; ++j) put(j, own[digit_of(from.keys[j], pass)]++);
  } else {
    const index_t all = digits;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), all), [&](index_t d) {
      index_t at = starts[d * stride];
      for (index_t j = 0; j < n; ++j) {
        if (digit_of(from.keys[j], pass) == d) put(j, at++);
      }
    });
    team.barrier();
  }
}

/// counts[i] becomes the sum of those before it. `totals` is room for `digits` of a device's: each
/// of so many threads adds up a part.
TOPOS_HOST_BRANCH
template <class Team>
KOKKOS_FUNCTION void add_up_counts(const Team& team, index_t* counts, index_t n, index_t* totals) {
  const auto run = [](index_t* from, index_t past, index_t total) {
    for (index_t i = 0; i < past; ++i) {
      const index_t count = from[i];
      from[i] = total;
      total += count;
    }
  };
  if constexpr (Team::on_host) {
    run(counts, n, 0);
  } else {
    const index_t parts = digits;
    const index_t length = (n + parts - 1) / parts;
    const auto last = [&](index_t p) { return (p + 1) * length < n ? (p + 1) * length : n; };
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), parts), [&](index_t p) {
      index_t total = 0;
      for (index_t i = p * length; i < last(p); ++i) total += counts[i];
      totals[p] = total;
    });
    team.barrier();
    Kokkos::single(Kokkos::PerTeam(team.member()), [&] { run(totals, parts, 0); });
    team.barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), parts), [&](index_t p) {
      run(counts + p * length, last(p) - p * length, totals[p]);
    });
    team.barrier();
  }
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
/// two counts of each digit.
TOPOS_HOST_BRANCH
template <class Team, class Key, class Number>
KOKKOS_FUNCTION void sort_keys(const Team& team, keyed<Key, Number> all, keyed<Key, Number> spare,
                               index_t n, index_t* counts) {
  const keyed<Key, Number> home = all;
  if constexpr (Team::on_host) {
    if (n <= few) return sort_few(all, n);
  }
  for (int pass = 0; pass < static_cast<int>(sizeof(Key)); ++pass) {
    count_digits(team, all.keys, n, pass, counts, 1);
    if constexpr (Team::on_host) {
      if (counts[digit_of(all.keys[0], pass)] == n) continue;  // all alike: in order already
    }
    add_up_counts(team, counts, digits, counts + digits);
    move_by_digits(team, all, spare, n, pass, counts, 1);
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

/// Bytes of scratch memory to sort n keys by one team.
template <class Key, class Number>
[[nodiscard]] std::size_t sort_scratch(index_t n) {
  return static_cast<std::size_t>(2 * digits) * sizeof(index_t) +
         static_cast<std::size_t>(2 * n) * (sizeof(Number) + sizeof(Key));
}

/// Item i counts the digits of a piece of a long row, or moves it; or adds up the counts of row i.
template <class Key, class Number>
struct digit_kernel {
  enum class part : std::uint8_t { counts, starts, moves };

  keyed<Key, Number> from;
  keyed<Key, Number> to;
  index_t count;
  index_t columns;
  index_t piece;
  index_t* counts;  // (count, digits, pieces)
  int pass;
  part what;

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const { return (columns + piece - 1) / piece; }
  [[nodiscard]] index_t items() const { return what == part::starts ? count : count * across(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (what == part::starts)
      return add_up_counts(team, counts + i * digits * across(), digits * across(),
                           static_cast<index_t*>(team.scratch()));
    const index_t r = i / across();
    const index_t p = i % across();
    const index_t first = r * columns + p * piece;
    const index_t n = (p + 1) * piece < columns ? piece : columns - p * piece;
    index_t* own = counts + r * digits * across() + p;
    if (what == part::counts) {
      count_digits(team, from.keys + first, n, pass, own, across());
    } else {
      const bool numbered = from.numbers != nullptr;
      move_by_digits(
          team, keyed<Key, Number>{from.keys + first, numbered ? from.numbers + first : nullptr},
          keyed<Key, Number>{to.keys + r * columns, numbered ? to.numbers + r * columns : nullptr},
          n, pass, own, across());
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
    for (const part what : {part::counts, part::starts, part::moves}) {
      const kernel k{all, spare, count, columns, piece, counts, pass, what};
      const index_t cost = what == part::starts ? digits * k.across() : std::min(piece, columns);
      const std::size_t scratch = what == part::starts ? digits * sizeof(index_t) : 0;
      stream.for_each("topos::sort", k.items(), cost, scratch, k);
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
  return count * digits * ((columns + piece - 1) / piece);
}

}  // namespace topos::detail
