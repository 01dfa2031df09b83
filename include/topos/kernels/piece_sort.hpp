// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sorting pieces of rows, each by one team, and short rows some at once.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <topos/kernels/selection.hpp>
#include <topos/kernels/short_rows.hpp>
#include <topos/kernels/sort.hpp>

namespace topos::detail {

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
  index_t piece;                    // columns of one
  index_t kept;                     // of each piece
  T* values;                        // or null
  std::int64_t* numbers;            // or null
  const std::int64_t* row_numbers;  // those of the columns; null: their own
  short_rows short_on_host;         // none elsewhere

  /// Has rows of few elements sorted some at once, where that is the host's to do.
  void sort_short_rows(const device& d) {
    if (columns <= few && columns <= piece)
      short_on_host = {d, rows, count, columns, sizeof(key) + sizeof(number), 2};
  }

  [[nodiscard]] KOKKOS_FUNCTION index_t across() const { return (columns + piece - 1) / piece; }
  /// Results of a row.
  [[nodiscard]] KOKKOS_FUNCTION index_t results() const {
    if (columns <= piece) return columns < kept ? columns : kept;
    const index_t rest = columns - (across() - 1) * piece;
    return (across() - 1) * kept + (rest < kept ? rest : kept);
  }
  /// Short rows of one item.
  [[nodiscard]] index_t of_item() const { return map_chunk / columns; }
  [[nodiscard]] index_t items() const {
    return short_on_host.any() ? (count + of_item() - 1) / of_item() : count * across();
  }
  [[nodiscard]] index_t cost() const {
    return short_on_host.any() ? map_chunk * 4 : std::min(columns, piece) * 16;
  }
  [[nodiscard]] std::size_t scratch() const {
    return sort_scratch<key, number>(std::min(columns, piece));
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (sort_together(team, i)) return;
    const index_t r = i / across();
    const index_t c = i % across() * piece;
    const index_t past = c + piece < columns ? c + piece : columns;
    const index_t n = past - c;
    const index_t most = piece < columns ? piece : columns;
    auto* counts = static_cast<index_t*>(team.scratch());
    auto* own = reinterpret_cast<number*>(counts + 2 * digits);
    auto* keys = reinterpret_cast<key*>(own + 2 * most);
    team.barrier();
    const index_t left = fill(team, keys, own, r, c, n);
    if (numbers == nullptr) own = nullptr;
    sort_keys(team, keyed<key, number>{keys, own},
              keyed<key, number>{keys + most, own == nullptr ? nullptr : own + most}, left, counts);
    write(team, keys, own, r, c, n < kept ? n : kept);
  }

 private:
  // Where rows are short, some at once; says whether they were.
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION bool sort_together(const Team& team, index_t i) const {
    if constexpr (Team::on_host) {
      const index_t first = i * of_item();
      if (short_on_host.any()) sort_blocks(team, first, std::min(first + of_item(), count));
      return short_on_host.any();
    } else {
      return false;
    }
  }

  template <class Team>
  void sort_blocks(const Team& team, index_t first, index_t past) const {
    short_on_host.for_each(rows, first, past, [&](const auto& row, flat_block& block) {
      auto* keys = block.take<key>();
      auto* own = block.take<number>();
      host_rows::assign(keys, 1, row, 0, block.size());
      for (index_t k = 0; k < block.rows; ++k, keys += columns, own += columns) {
        std::iota(own, own + columns, 0);
        sort_few(keyed<key, number>{keys, numbers == nullptr ? nullptr : own}, columns);
        write(team, keys, own, block.first + k, 0, std::min(columns, kept));
      }
    });
  }

  // The keys of n columns; on the host only those that may be kept, where these are few. Says how
  // many they are.
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
      for (index_t j = 0; j < n; ++j) own[j] = static_cast<number>(j);
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), n), [&](index_t j) {
        keys[j] = row[c + j];
        own[j] = static_cast<number>(j);
      });
      team.barrier();
    }
    return n;
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void write(const Team& team, const key* keys, const number* own, index_t r,
                             index_t c, index_t n) const {
    const index_t first = r * results() + (c == 0 ? 0 : c / piece * kept);
    const auto put = [&](index_t k) {
      if (values != nullptr) values[first + k] = as_value(keys[k]);
      if (numbers == nullptr) return;
      const index_t at = c + own[k];
      numbers[first + k] = row_numbers == nullptr ? at : row_numbers[r * columns + at];
    };
    if constexpr (Team::on_host) {
      for (index_t k = 0; k < n; ++k) put(k);
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), n), put);
      team.barrier();
    }
  }
};

}  // namespace topos::detail
