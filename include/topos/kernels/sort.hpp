// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements as keys, whose order is that of unsigned integers, and keys sorted by one team, digit
/// by digit, each with a number that moves along: see piece_sort.hpp for rows of few, and
/// long_sort.hpp for what all teams sort.

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
  Number* numbers;  // or null

  /// Those from the n-th on.
  [[nodiscard]] KOKKOS_FUNCTION keyed beyond(index_t n) const {
    return {keys + n, numbers == nullptr ? nullptr : numbers + n};
  }
};

namespace host_rows {

/// Counts the digits of n keys into counts[digit * stride].
template <class Key>
void count_digits(const Key* keys, index_t n, int pass, index_t* counts, index_t stride) {
  index_t own[digits] = {};
  for (index_t j = 0; j < n; ++j) ++own[digit_of(keys[j], pass)];
  for (int d = 0; d < digits; ++d) counts[d * stride] = own[d];
}

/// Moves n keys, in order, each to starts[digit], which counts on.
template <class Key, class Number>
void move_by_digits(const keyed<Key, Number>& from, const keyed<Key, Number>& to, index_t n,
                    int pass, index_t* starts) {
  for (index_t j = 0; j < n; ++j) {
    const index_t at = starts[digit_of(from.keys[j], pass)]++;
    to.keys[at] = from.keys[j];
    if (to.numbers != nullptr) to.numbers[at] = from.numbers[j];
  }
}

}  // namespace host_rows

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

/// Sorts n keys by one team; they end where they began. `spare` is as much room, and `room`
/// table_bytes of memory on a device.
TOPOS_HOST_BRANCH
template <class Team, class Key, class Number>
KOKKOS_FUNCTION void sort_keys(const Team& team, keyed<Key, Number> all, keyed<Key, Number> spare,
                               index_t n, void* room) {
  const keyed<Key, Number> home = all;
  if constexpr (Team::on_host) {
    if (n <= few) return sort_few(all, n);
  }
  for (int pass = 0; pass < static_cast<int>(sizeof(Key)); ++pass) {
    if constexpr (Team::on_host) {
      index_t counts[digits];
      host_rows::count_digits(all.keys, n, pass, counts, 1);
      if (counts[digit_of(all.keys[0], pass)] == n) continue;  // all alike: in order already
      scan_before(team, counts, digits, nullptr, index_t{0}, add_op{});
      host_rows::move_by_digits(all, spare, n, pass, counts);
    } else {
      const device_rows::digit_table<Team, Key> table(team, all.keys, static_cast<int>(n), pass,
                                                      room);
      table.place([&](int j, int at) {
        spare.keys[at] = all.keys[j];
        if (all.numbers != nullptr) spare.numbers[at] = all.numbers[j];
      });
    }
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

/// Bytes of scratch memory to sort n keys by one team, numbered or not: room, and the keys twice.
template <class Key, class Number>
[[nodiscard]] std::size_t sort_scratch(index_t n, bool numbered) {
  return device_rows::table_bytes +
         static_cast<std::size_t>(2 * n) * (sizeof(Key) + (numbered ? sizeof(Number) : 0));
}

/// Columns that one team sorts, or moves, at once on a device.
[[nodiscard]] inline index_t sort_piece(const device& d) {
  return d.kind() == device_kind::cpu ? index_t{1} << 16 : device_rows::most_keys;
}

}  // namespace topos::detail
