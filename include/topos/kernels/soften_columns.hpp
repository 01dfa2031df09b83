// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The softmax of columns on the host, some of which stay in cache together meanwhile.

#include <algorithm>
#include <cstddef>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/detail/softened_strip.hpp>
#include <topos/kernels/soften.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// Cuts groups of columns into strips that stay in cache, some for each thread, which changes no
/// bits. Says whether they are worth it: they have to be of several batches.
[[nodiscard]] inline bool cut_into_strips(reduction_pieces& groups, std::size_t element_size,
                                          int threads) {
  constexpr index_t strip_bytes = index_t{1} << 19;
  constexpr index_t least_columns = 64;
  const index_t fitting = strip_bytes / (groups.reduced * static_cast<index_t>(element_size));
  const index_t shared = groups.outer * groups.inner * groups.columns / (4 * threads);
  groups.cut_into(groups.reduced,
                  std::clamp(std::min(fitting, shared) / least_columns * least_columns,
                             least_columns, columns_of_piece));
  return groups.columns >= least_columns && fitting >= least_columns;
}

/// Item i softens a strip of columns: exp(x - largest) / sum of those, or the logarithm of that.
template <class Target, class Rows>
struct soften_columns_kernel : reduction_pieces {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;

  Target target;
  Rows rows;
  bool log;

  soften_columns_kernel(const reduction_pieces& strips, const Target& to, const Rows& from,
                        bool logarithm)
      : reduction_pieces(strips), target(to), rows(from), log(logarithm) {}

  [[nodiscard]] index_t items() const { return count_down(); }
  [[nodiscard]] index_t cost() const { return reduced * piece_columns; }
  [[nodiscard]] std::size_t scratch() const {
    return static_cast<std::size_t>(reduced * piece_columns + most_lanes) * sizeof(value_type);
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    // A device takes all columns at once.
    if constexpr (Team::on_host) soften(static_cast<value_type*>(team.scratch()), down_of(i));
  }

 private:
  using strip_type = host_rows::softened_strip<value_type>;
  static constexpr index_t width = strip_type::width;

  void soften(value_type* memory, const down& at) const {
    const strip_type strip(memory, reduced, at.of.past_c - at.of.c);
    for (index_t r = 0; r < reduced; ++r)
      take(strip.at(r), row_of(at.group, r, at.t), at.of.c, at.of.past_c);
    strip.fill_rest();
    strip.soften(log, [&](const auto& function) { put(strip, at, function); });
  }

  // A row of the walk, put together where it is used: what is copied in larger parts than it was
  // stored in has to reach the cache before, which takes as long as a short row.
  [[gnu::noinline]] void take(value_type* to, index_t r, index_t c, index_t past) const {
    const auto row = rows.row(r);
    if constexpr (std::decay_t<decltype(row.dense())>::width != 0) {
      if (row.is_dense()) return store(to, row.dense(), c, past);
    }
    host_rows::assign(to, 1, row, c, past);
  }
  template <class Row>
  [[gnu::always_inline]] static void store(value_type* to, const Row& row, index_t c,
                                           index_t past) {
    index_t j = c;
    for (; j + width <= past; j += width) lane::store(to + (j - c), row.lanes(j, lane::all{}));
    if (j < past) lane::store_partial(to + (j - c), row.lanes(j, past - j), past - j);
  }

  // What a function makes of the lanes of a strip, as results.
  template <class Function>
  void put(const strip_type& strip, const down& at, const Function& function) const {
    const auto to = [&](index_t r) {
      return target.elements.data + target.start(row_of(at.group, r, at.t)) + at.of.c * target.step;
    };
    if constexpr (std::is_same_v<result_type, value_type>) {
      if (target.step == 1) return put_dense(strip, to, function);
    }
    strip.change(function);
    for (index_t r = 0; r < reduced; ++r)
      host_rows::assign(to(r), target.step, narrowed<result_type>(strip.row(r)), 0,
                        strip.columns());
  }
  template <class To, class Function>
  [[gnu::noinline, gnu::flatten]] void put_dense(const strip_type& strip, const To& to,
                                                 const Function& function) const {
    for (index_t r = 0; r < reduced; ++r) {
      const value_type* const x = strip.at(r);
      value_type* const y = to(r);
      index_t k = 0;
      for (; k + width <= strip.columns(); k += width)
        lane::store(y + k, function(lane::load(x + k), k));
      if (k < strip.columns())
        lane::store_partial(y + k, function(lane::load(x + k), k), strip.columns() - k);
    }
  }
};

}  // namespace topos::detail
