// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows combined with those that indices name, in the order of the indices' list.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/detail/places_between.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// The row that an index means; negative ones count from the end, those outside mean row `rows`.
template <class Row>
struct named_row : quick {
  index_t rows;

  explicit named_row(index_t of) : rows(of) {}
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
  [[nodiscard]] auto lanes(const lane::batch<Row>& wanted) const {
    const auto none = lane::splat(Row{0});
    const auto all = lane::splat(static_cast<Row>(rows));
    const auto i = lane::select(wanted < none, wanted + all, wanted);
    return lane::select((i < none) | (i > all), all, i);
  }
};

/// What rows are combined with: rows in memory, one for each index.
template <class T>
struct update_rows {
  const T* data;
  index_t width;
  KOKKOS_FUNCTION T operator()(index_t row, index_t column) const {
    return data[row * width + column];
  }
};

/// One number for all.
template <class T>
struct update_number {
  T value;
  KOKKOS_FUNCTION T operator()(index_t /*row*/, index_t /*column*/) const { return value; }
};

/// The update takes the place of what was there.
struct replace_op : quick {
  template <class T>
  KOKKOS_FUNCTION T operator()(T /*old*/, T update) const {
    return update;
  }
};

/// Where a share of some things begins.
[[nodiscard]] inline index_t begin_of_share(index_t share, index_t shares, index_t of) {
  return of / shares * share + std::min(share, of % shares);
}

/// Combines the rows of `out` with the updates [first, last) that name them, one after the other.
template <class Op, class T, class Row, class Updates>
void update_in_order(T* out, const Updates& updates, const Row* named, index_t first, index_t last,
                     index_t rows, index_t width) {
  const auto update = [&](auto columns) {
    for (index_t p = first; p < last; ++p) {
      const auto row = static_cast<index_t>(named[p]);
      if (row >= rows) continue;
      T* const to = out + row * columns;
      for (index_t j = 0; j < columns; ++j) to[j] = call(Op{}, to[j], updates(p, j));
    }
  };
  if (width == 1)
    update(std::integral_constant<index_t, 1>{});  // of which there is no loop
  else
    update(width);
}

/// On the host, where the order of additions changes nothing. Item i adds its share of the updates:
/// the first to the result, others to bins of their own, which are added to it by sum_bins_kernel.
template <class T, class Row, class Updates>
struct fill_bins_kernel {
  T* out;
  T* bins;
  Updates updates;
  const Row* named;
  index_t count;
  index_t rows;
  index_t width;
  index_t shares;

  /// From the bins of one share to those of the next: no two write one cache line.
  [[nodiscard]] static index_t apart(index_t size) { return (size + 63) / 64 * 64; }
  [[nodiscard]] index_t items() const { return shares; }
  [[nodiscard]] index_t cost() const { return (count + shares - 1) / shares * width; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    if constexpr (Team::on_host) {
      T* const own = i == 0 ? out : bins + (i - 1) * apart(rows * width);
      if (i != 0) std::fill_n(own, rows * width, T{});
      update_in_order<add_op>(own, updates, named, begin_of_share(i, shares, count),
                              begin_of_share(i + 1, shares, count), rows, width);
    }
  }
};

/// Adds the bins of all shares but the first, which are in the result. Item i is some elements.
template <class T>
struct sum_bins_kernel {
  static constexpr index_t some = 4096;

  T* out;
  const T* bins;
  index_t size;
  index_t shares;
  index_t apart;

  [[nodiscard]] index_t items() const { return (size + some - 1) / some; }
  [[nodiscard]] index_t cost() const { return std::min(some, size) * shares; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    if constexpr (Team::on_host) {
      const index_t last = std::min((i + 1) * some, size);
      for (index_t s = 0; s + 1 < shares; ++s) {
        const T* const from = bins + s * apart;
        for (index_t j = i * some; j < last; ++j) out[j] = call(add_op{}, out[j], from[j]);
      }
    }
  }
};

/// On the host, in order. Item i walks through all indices, and updates rows of its own alone, or
/// columns of its own where there are enough, so that no two items write one element.
template <class Op, class T, class Row, class Updates>
struct scatter_share_kernel {
  /// Columns that are worth a walk of their own.
  static constexpr index_t few_columns = 16;
  /// Columns of a row that take longer to update than to find what names the row.
  static constexpr index_t least_columns = host_rows::finds_at_once<Row> ? 1 : 4;

  T* out;
  Updates updates;
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
      if (shares == 1)
        update_in_order<Op>(out, updates, named, 0, count, rows, width);
      else if (by_columns())
        update(0, rows, begin(i, width), begin(i + 1, width));
      else
        update(begin(i, rows), begin(i + 1, rows), 0, width);
    }
  }

 private:
  [[nodiscard]] index_t begin(index_t share, index_t of) const {
    return begin_of_share(share, shares, of);
  }

  // Rows [r, past_r) and columns [c, past_c).
  void update(index_t r, index_t past_r, index_t c, index_t past_c) const {
    constexpr index_t some = 256;
    std::int32_t found[some + host_rows::spare_places];
    const auto update_all = [&](auto columns) {
      for (index_t first = 0; first < count; first += some) {
        const index_t n = host_rows::places_between(found, named + first,
                                                    std::min(some, count - first), r, past_r);
        for (index_t k = 0; k < n; ++k) {
          const index_t p = first + found[k];
          T* const to = out + static_cast<index_t>(named[p]) * width + c;
          for (index_t j = 0; j < columns; ++j) to[j] = call(Op{}, to[j], updates(p, c + j));
        }
      }
    };
    if (past_c - c == 1)
      update_all(std::integral_constant<index_t, 1>{});  // of which there is no loop
    else
      update_all(past_c - c);
  }
};

/// On a device. Item i is some places of the order that sorts the rows named: what begins a run of
/// one row updates it by all of the run, so that no two items write one row.
template <class Op, class T, class Row, class Updates>
struct scatter_run_kernel {
  static constexpr index_t some = 64;

  T* out;
  Updates updates;
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
      for (index_t e = team.rank(); e < (last - first) * across; e += team.threads()) {
        const index_t p = first + e / across;
        if (!begins(p)) continue;
        const index_t c = e % across;
        update_by_run(p, across == 1 ? 0 : c, across == 1 ? width : c + 1);
      }
    }
  }

 private:
  KOKKOS_FUNCTION bool begins(index_t p) const {
    const Row row = named[order[p]];
    return row < static_cast<Row>(rows) && (p == 0 || named[order[p - 1]] != row);
  }
  KOKKOS_FUNCTION void update_by_run(index_t p, index_t c, index_t past) const {
    const Row row = named[order[p]];
    T* to = out + static_cast<index_t>(row) * width;
    for (; p < count && named[order[p]] == row; ++p) {
      for (index_t j = c; j < past; ++j) to[j] = call(Op{}, to[j], updates(order[p], j));
    }
  }
};

}  // namespace topos::detail
