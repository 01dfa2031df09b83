// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sorting pieces of rows, each by one team, and short rows some at once: on the host by networks,
/// on a device by counting, for each key, those before it.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/detail/sort_network.hpp>
#include <topos/kernels/selection.hpp>
#include <topos/kernels/short_rows.hpp>
#include <topos/kernels/sort.hpp>

namespace topos::detail {

namespace device_rows {

/// Rows of so many keys are sorted by counting, at most: with more, a radix sort looks less often
/// at each.
inline constexpr index_t counted_columns = 192;

/// How many of n keys come before key j, of equal ones those before it.
template <class Key>
KOKKOS_FUNCTION int count_before(const Key* keys, int n, int j) {
  const Key own = keys[j];
  int before = 0;
  for (int k = 0; k < n; ++k) {
    const Key other = keys[k];
    if (other < own || (other == own && k < j)) ++before;
  }
  return before;
}

}  // namespace device_rows

/// The kernel for pieces of rows that one team sorts: item i is a piece, of which the first `kept`
/// elements are written, and their numbers along the row. The rows are those of the keys.
template <class T, class Rows>
struct piece_sort_kernel {
  using key = sort_key_t<T>;
  using number = std::int32_t;

  Rows rows;
  from_sort_key<T> as_value;
  index_t count;
  index_t columns;
  index_t piece;                              // columns of one
  index_t kept;                               // of each piece
  T* values = nullptr;                        // or none
  std::int64_t* numbers = nullptr;            // or none
  const std::int64_t* row_numbers = nullptr;  // those of the columns; null: their own
  bool numbered = false;                      // keys have room for their numbers
  bool side_by_side = false;                  // rows are sorted so, by the host
  bool by_counts = false;                     // rows are sorted so, by a device
  bool on_device = false;
  short_rows short_on_host = {};  // of those, such as are filled some at once

  /// Chooses how, once it is known what to write. The host sorts short rows some at once, and
  /// selects by numbers.
  void plan(const device& d) {
    const bool on_host = d.kind() == device_kind::cpu;
    const bool has_word = numbers == nullptr || sizeof(key) < 8;
    numbered = numbers != nullptr || (on_host && selects<key>(kept, std::min(columns, piece)));
    side_by_side = on_host && has_word && count > 1 &&
                   columns <= std::min(piece, host_rows::network_columns) &&
                   (columns < host_rows::selected_columns || !selects<key>(kept, columns));
    on_device = !on_host;
    by_counts = on_device && columns <= device_rows::counted_columns;
    if (side_by_side) short_on_host = {d, rows, count, columns, sizeof(key) + sizeof(number), 2};
  }

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const { return (columns + piece - 1) / piece; }
  /// Results of a row.
  [[nodiscard]] KOKKOS_FUNCTION index_t results() const {
    if (columns <= piece) return columns < kept ? columns : kept;
    const index_t rest = columns - (across() - 1) * piece;
    return (across() - 1) * kept + (rest < kept ? rest : kept);
  }
  /// Rows of one item that are sorted together: side by side, those of whole networks.
  [[nodiscard]] KOKKOS_FUNCTION index_t of_item() const {
    if (by_counts) return map_chunk / columns;
    constexpr index_t lanes = host_rows::network_rows<key>;
    const index_t networks = map_chunk / (lanes * columns);
    return lanes * (networks < 1 ? 1 : networks);
  }
  [[nodiscard]] bool together() const { return side_by_side || by_counts; }
  [[nodiscard]] index_t items() const {
    return together() ? (count + of_item() - 1) / of_item() : count * across();
  }
  [[nodiscard]] index_t cost() const {
    if (together()) return of_item() * columns * 4;
    constexpr index_t few_threads = 64;  // of a device, so that it has more rows at work
    return on_device && columns <= 1024 ? few_threads : std::min(columns, piece) * 16;
  }
  [[nodiscard]] std::size_t scratch() const {
    if (by_counts) return static_cast<std::size_t>(of_item() * columns) * sizeof(key);
    if (!side_by_side) return sort_scratch<key, number>(std::min(columns, piece), numbered);
    if (short_on_host.any()) return 0;
    return static_cast<std::size_t>(of_item() * columns) * (sizeof(number) + sizeof(key));
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (sort_together(team, i)) return;
    const index_t r = i / across();
    const index_t c = i % across() * piece;
    const index_t past = c + piece < columns ? c + piece : columns;
    const index_t n = past - c;
    const index_t most = piece < columns ? piece : columns;
    auto* const room = static_cast<std::byte*>(team.scratch());
    auto* own = reinterpret_cast<number*>(room + device_rows::table_bytes);
    auto* keys = reinterpret_cast<key*>(own + (numbered ? 2 * most : 0));
    team.barrier();
    const index_t left = fill(team, keys, numbered ? own : nullptr, r, c, n);
    if (numbers == nullptr) own = nullptr;
    sort_keys(team, keyed<key, number>{keys, own},
              keyed<key, number>{keys + most, own == nullptr ? nullptr : own + most}, left, room);
    write(team, keys, own, r, c, n < kept ? n : kept);
  }

 private:
  // Where rows are short, some at once; says whether they were.
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION bool sort_together(const Team& team, index_t i) const {
    if constexpr (Team::on_host) {
      const index_t first = i * of_item();
      if (side_by_side) sort_blocks(team, first, std::min(first + of_item(), count));
      return side_by_side;
    } else {
      if (by_counts) sort_by_counts(team, i * of_item());
      return by_counts;
    }
  }

  // On a device: rows from `first` on.
  template <class Team>
  KOKKOS_FUNCTION void sort_by_counts(const Team& team, index_t first) const {
    auto* const keys = static_cast<key*>(team.scratch());
    const auto width = static_cast<int>(columns);
    const auto of_rows = static_cast<int>(count - first < of_item() ? count - first : of_item());
    for (int e = team.rank(); e < of_rows * width; e += team.threads())
      keys[e] = rows.row(first + e / width)[e % width];
    team.barrier();
    for (int e = team.rank(); e < of_rows * width; e += team.threads()) {
      const int j = e % width;
      const int before = device_rows::count_before(keys + (e - j), width, j);
      if (before >= kept) continue;
      const index_t r = first + e / width;
      const index_t at = r * results() + before;
      if (values != nullptr) values[at] = as_value(keys[e]);
      if (numbers != nullptr)
        numbers[at] = row_numbers == nullptr ? j : row_numbers[r * columns + j];
    }
    team.barrier();
  }

  template <class Team>
  void sort_blocks(const Team& team, index_t first, index_t past) const {
    if (short_on_host.any()) {
      short_on_host.for_each(rows, first, past, [&](const auto& row, flat_block& block) {
        auto* keys = block.take<key>();
        host_rows::assign(keys, 1, row, 0, block.size());
        sort_block(team, keys, block.take<number>(), block.first, block.rows);
      });
    } else {
      auto* own = static_cast<number*>(team.scratch());
      auto* keys = reinterpret_cast<key*>(own + of_item() * columns);
      for (index_t r = first; r < past; ++r)
        host_rows::assign(keys + (r - first) * columns, 1, rows.row(r), 0, columns);
      sort_block(team, keys, own, first, past - first);
    }
  }

  // Rows of keys, from row r on.
  template <class Team>
  void sort_block(const Team& team, key* keys, number* own, index_t r, index_t of_rows) const {
    if (numbers == nullptr) {
      host_rows::sort_side_by_side<false>(keys, own, of_rows, columns);
    } else if constexpr (sizeof(key) < 8) {
      host_rows::sort_side_by_side<true>(keys, own, of_rows, columns);
    }
    if (kept >= columns && row_numbers == nullptr) {  // what is written lies as the keys do
      const index_t first = r * columns;
      const index_t size = of_rows * columns;
      if (values != nullptr)
        host_rows::assign(values + first, 1, make_row(as_value, memory_row<key>{{keys}}), 0, size);
      if (numbers != nullptr) std::copy_n(own, size, numbers + first);
    } else {
      for (index_t k = 0; k < of_rows; ++k)
        write(team, keys + k * columns, own + k * columns, r + k, 0, std::min(columns, kept));
    }
  }

  // The keys of n columns, and their numbers, if there is room for them; on the host only those
  // that may be kept, where these are few. Says how many they are.
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION index_t fill(const Team& team, key* keys, number* own, index_t r, index_t c,
                               index_t n) const {
    const auto row = rows.row(r);
    if constexpr (Team::on_host) {
      host_rows::assign(keys, 1, row, c, c + n);
      if (selects<key>(kept, n)) {
        const index_t most = piece < columns ? piece : columns;
        return host_rows::select(keys, own, n, kept, keys + most);
      }
      for (index_t j = 0; own != nullptr && j < n; ++j) own[j] = static_cast<number>(j);
    } else {
      for (index_t j = team.rank(); j < n; j += team.threads()) {
        keys[j] = row[c + j];
        if (own != nullptr) own[j] = static_cast<number>(j);
      }
      team.barrier();
    }
    return n;
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void write(const Team& team, const key* keys, const number* own, index_t r,
                             index_t c, index_t n) const {
    const index_t first = r * results() + (c == 0 ? 0 : c / piece * kept);
    const auto put_value = [&](index_t k) { values[first + k] = as_value(keys[k]); };
    const auto put_number = [&](index_t k) {
      const index_t at = c + own[k];
      numbers[first + k] = row_numbers == nullptr ? at : row_numbers[r * columns + at];
    };
    if constexpr (Team::on_host) {
      if (values != nullptr) {
        TOPOS_INDEPENDENT_STEPS
        for (index_t k = 0; k < n; ++k) put_value(k);
      }
      for (index_t k = 0; numbers != nullptr && k < n; ++k) put_number(k);
    } else {
      for (index_t k = team.rank(); k < n; k += team.threads()) {
        if (values != nullptr) put_value(k);
        if (numbers != nullptr) put_number(k);
      }
      team.barrier();
    }
  }
};

}  // namespace topos::detail
