// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows added to those that indices name, in the order of the indices' list.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// The row that an index means; negative ones count from the end, those outside mean row `rows`.
template <class Row>
struct named_row {
  index_t rows;
  template <class I>
  KOKKOS_FUNCTION Row operator()(const I& wanted) const {
    index_t i = static_cast<index_t>(wanted);
    if constexpr (std::is_signed_v<I>) {
      if (i < 0) i += rows;
    } else if (wanted >= static_cast<std::uint64_t>(rows)) {
      i = rows;
    }
    return static_cast<Row>(i < 0 || i >= rows ? rows : i);
  }
};

/// On the host. Item i walks through all indices, and adds to rows of its own alone, or to columns
/// of its own where there are enough, so that no two items write one element.
template <class T, class Row>
struct scatter_share_kernel {
  /// Columns that are worth a walk of their own.
  static constexpr index_t few_columns = 16;

  T* out;
  const T* updates;
  const Row* named;
  index_t count;
  index_t rows;
  index_t width;
  index_t shares;

  [[nodiscard]] bool by_columns() const { return width >= few_columns * shares; }
  [[nodiscard]] index_t items() const { return shares; }
  [[nodiscard]] index_t cost() const { return count * ((width + shares - 1) / shares); }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    if constexpr (Team::on_host) {
      if (by_columns())
        add(0, rows, begin(i, width), begin(i + 1, width));
      else
        add(begin(i, rows), begin(i + 1, rows), 0, width);
    }
  }

 private:
  // Where a share of some rows or columns begins.
  [[nodiscard]] index_t begin(index_t share, index_t of) const {
    return of / shares * share + std::min(share, of % shares);
  }

  // Rows [r, past_r) and columns [c, past_c). Which indices name those rows is found without a
  // branch for each, which would be guessed wrong.
  void add(index_t r, index_t past_r, index_t c, index_t past_c) const {
    constexpr index_t some = 256;
    index_t found[some];
    for (index_t first = 0; first < count; first += some) {
      const index_t last = std::min(first + some, count);
      index_t n = 0;
      for (index_t p = first; p < last; ++p) {
        found[n] = p;
        n += static_cast<index_t>(named[p]) >= r && static_cast<index_t>(named[p]) < past_r;
      }
      for (index_t k = 0; k < n; ++k) {
        T* const to = out + static_cast<index_t>(named[found[k]]) * width;
        const T* const from = updates + found[k] * width;
        for (index_t j = c; j < past_c; ++j) to[j] = call(add_op{}, to[j], from[j]);
      }
    }
  }
};

/// On a device. Item i is some places of the order that sorts the rows named: what begins a run of
/// one row adds all of the run to it, so that no two items write one row.
template <class T, class Row>
struct scatter_run_kernel {
  static constexpr index_t some = 64;

  T* out;
  const T* updates;
  const Row* named;
  const std::int64_t* order;
  index_t count;
  index_t rows;
  index_t width;

  [[nodiscard]] index_t items() const { return (count + some - 1) / some; }
  [[nodiscard]] index_t cost() const { return some * width; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t first = i * some;
    const index_t last = first + some < count ? first + some : count;
    if constexpr (!Team::on_host) {
      // Threads take places, or columns where there are more of them.
      const index_t across = width < 32 ? 1 : width;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), (last - first) * across),
                           [&](index_t e) {
                             const index_t p = first + e / across;
                             if (!begins(p)) return;
                             const index_t c = e % across;
                             add_run(p, across == 1 ? 0 : c, across == 1 ? width : c + 1);
                           });
    }
  }

 private:
  KOKKOS_FUNCTION bool begins(index_t p) const {
    const Row row = named[order[p]];
    return row < static_cast<Row>(rows) && (p == 0 || named[order[p - 1]] != row);
  }
  KOKKOS_FUNCTION void add_run(index_t p, index_t c, index_t past) const {
    const Row row = named[order[p]];
    T* to = out + static_cast<index_t>(row) * width;
    for (; p < count && named[order[p]] == row; ++p) {
      const T* from = updates + order[p] * width;
      for (index_t j = c; j < past; ++j) to[j] = call(add_op{}, to[j], from[j]);
    }
  }
};

}  // namespace topos::detail
