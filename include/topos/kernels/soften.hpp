// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The softmax of rows, each of which stays in cache meanwhile.

#include <topos/kernels/map.hpp>

namespace topos::detail {

/// Item i softens some rows: exp(x - largest) / sum of those, or the logarithm of that.
template <class Target, class Rows>
struct soften_kernel {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;
  using result_type = typename decltype(std::declval<const Target&>().elements)::value_type;

  Target target;
  Rows rows;
  index_t count;
  index_t columns;
  bool log;

  [[nodiscard]] KOKKOS_FUNCTION index_t together() const {
    return columns < map_chunk ? map_chunk / columns : 1;
  }
  [[nodiscard]] index_t items() const { return (count + together() - 1) / together(); }
  [[nodiscard]] index_t cost() const { return std::min(count, together()) * columns; }
  [[nodiscard]] std::size_t scratch() const {
    return static_cast<std::size_t>(columns) * sizeof(value_type);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const index_t first = i * together();
    const index_t last = first + together() < count ? first + together() : count;
    for (index_t r = first; r < last; ++r) {
      if (log) {
        soften_log(team, r);
      } else {
        soften(team, r);
      }
    }
  }

 private:
  using constant = constant_row<value_type>;

  // x - largest, in memory of the team's own.
  template <class Team>
  KOKKOS_FUNCTION auto relative(const Team& team, index_t r) const {
    auto* own = static_cast<value_type*>(team.scratch());
    team.barrier();
    assign(team, own, rows.row(r), 0, columns);
    const memory_row<value_type> row{{own}};
    return make_row(subtract_op{}, row, constant{largest(team, row, columns)});
  }

  template <class Team>
  KOKKOS_FUNCTION void soften(const Team& team, index_t r) const {
    const auto shifted = relative(team, r);
    auto* own = static_cast<value_type*>(team.scratch());
    assign(team, own, make_row(exp_op{}, shifted), 0, columns);
    const memory_row<value_type> row{{own}};
    const value_type inverse = value_type(1) / sum(team, row, columns);
    put(team, r, make_row(multiply_op{}, row, constant{inverse}));
  }

  template <class Team>
  KOKKOS_FUNCTION void soften_log(const Team& team, index_t r) const {
    const auto shifted = relative(team, r);
    const value_type total = sum(team, make_row(exp_op{}, shifted), columns);
    put(team, r, make_row(subtract_op{}, shifted, constant{Kokkos::log(total)}));
  }

  TOPOS_HOST_BRANCH
  template <class Team, class Row>
  KOKKOS_FUNCTION void put(const Team& team, index_t r, const Row& row) const {
    auto* to = target.elements.data + target.start(r);
    const auto narrow = make_row(convert_op<result_type>{}, row);
    if constexpr (Team::on_host) {
      if constexpr (std::is_same_v<result_type, value_type>)
        host_rows::assign(to, target.step, row, 0, columns);
      else
        host_rows::assign(to, target.step, narrow, 0, columns);
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), columns),
                           [&](index_t j) { to[j * target.step] = narrow[j]; });
      team.barrier();
    }
  }
};

}  // namespace topos::detail
