// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The softmax of rows, each of which stays in cache meanwhile.

#include <topos/kernels/detail/softened_strip.hpp>
#include <topos/kernels/detail/turned_rows.hpp>
#include <topos/kernels/map.hpp>

namespace topos::detail {

/// A row that leaves its elements in memory, each of which is asked for once. On the host: where a
/// device combines few elements, each warp asks for all of them.
template <class Row>
struct kept_row {
  using value_type = typename Row::value_type;
  static constexpr index_t width = Row::width;
  static constexpr bool is_quick = Row::is_quick;
  Row row;
  value_type* memory;

  value_type operator[](index_t j) const { return memory[j] = row[j]; }
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, Count count) const {
    const auto values = row.lanes(j, count);
    if constexpr (std::is_same_v<Count, lane::all>)
      lane::store(memory + j, values);
    else
      lane::store_partial(memory + j, values, count);
    return values;
  }
  [[nodiscard]] bool is_dense() const { return row.is_dense(); }
  [[nodiscard]] auto dense() const {
    return kept_row<std::decay_t<decltype(row.dense())>>{row.dense(), memory};
  }
};

/// A row of what its elements are stored as.
template <class To, class Row>
[[nodiscard]] KOKKOS_FUNCTION auto narrowed(const Row& row) {
  if constexpr (std::is_same_v<To, typename Row::value_type>)
    return row;
  else
    return make_row(convert_op<To>{}, row);
}

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
  short_rows short_on_host;  // none elsewhere

  /// Has short rows computed some at once, where that is the host's to do.
  void compute_short_rows(const device& d) {
    short_on_host = {d, rows, count, columns, 3 * sizeof(value_type) + sizeof(result_type), 4};
  }

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
    if (soften_short(team, first, last)) return;
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
  using strip_type = host_rows::softened_strip<value_type>;

  // Memory of the team's own, of a row that it is done with.
  template <class Team>
  KOKKOS_FUNCTION static value_type* own(const Team& team) {
    team.barrier();
    return static_cast<value_type*>(team.scratch());
  }

  // What a row, which is left in memory, is combined to.
  TOPOS_HOST_BRANCH
  template <class Team, class Op, class Row>
  KOKKOS_FUNCTION value_type kept(const Team& team, const Op& op, const Row& row,
                                  value_type* memory) const {
    if constexpr (Team::on_host) {
      if constexpr (!host_rows::gains_lanes<Row>) {
        if (row.is_dense()) return host_rows::reduce(op, kept_row<Row>{row, memory}, 0, columns);
      }
      host_rows::assign(memory, 1, row, 0, columns);
      return host_rows::reduce(op, memory_row<value_type>{{memory}}, 0, columns);
    } else {
      assign(team, memory, row, 0, columns);
      return reduce(team, op, memory_row<value_type>{{memory}}, 0, columns);
    }
  }

  // x - largest, of x that is left in memory.
  template <class Team>
  KOKKOS_FUNCTION auto relative(const Team& team, index_t r, value_type* memory) const {
    const value_type most = kept(team, maximum_op{}, rows.row(r), memory);
    return make_row(subtract_op{}, memory_row<value_type>{{memory}}, constant{most});
  }

  template <class Team>
  KOKKOS_FUNCTION void soften(const Team& team, index_t r) const {
    value_type* const memory = own(team);
    const auto exponentials = make_row(exp_op{}, relative(team, r, memory));
    const value_type inverse = value_type(1) / kept(team, add_op{}, exponentials, memory);
    put(team, r, make_row(multiply_op{}, memory_row<value_type>{{memory}}, constant{inverse}));
  }

  template <class Team>
  KOKKOS_FUNCTION void soften_log(const Team& team, index_t r) const {
    const auto shifted = relative(team, r, own(team));
    const value_type total = row_sum(team, make_row(exp_op{}, shifted), columns);
    put(team, r, make_row(subtract_op{}, shifted, constant{Kokkos::log(total)}));
  }

  // Where rows are short, some at once; says whether they were.
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION bool soften_short(const Team& /*team*/, index_t first, index_t last) const {
    if constexpr (Team::on_host) {
      if (short_on_host.any()) soften_blocks(first, last);
      return short_on_host.any();
    } else {
      return false;
    }
  }

  void soften_blocks(index_t first, index_t last) const {
    if (host_rows::are_turned(columns) && short_on_host.at_once() % strip_type::width == 0) {
      return short_on_host.for_each_block(first, last,
                                          [this](flat_block& block) { soften_turned(block); });
    }
    short_on_host.for_each(rows, first, last,
                           [&](const auto& row, flat_block& block) { soften_block(row, block); });
  }

  void soften_turned(flat_block& block) const {
    const index_t pitch = strip_type::pitch_of(block.rows);
    const host_rows::turned_rows<value_type> x(rows, block, pitch);
    const strip_type strip(x.data, columns, block.rows);
    strip.fill_rest();
    strip.soften(log, [&](const auto& function) { strip.change(function); });
    if constexpr (std::is_same_v<result_type, value_type>) {
      target.for_each_run(
          block.first, block.rows, [&](index_t r, index_t at, index_t n, row_steps there) {
            copy_rows(target.elements.data + at, there, x.data + r, {1, pitch}, n, columns);
          });
    } else {
      auto* const made = block.take<value_type>();
      copy_rows(made, {columns, 1}, x.data, {1, pitch}, block.rows, columns);
      const memory_row<value_type> values{{made}};
      host_rows::assign_block(target, narrowed<result_type>(values), block, false);
    }
  }

  template <class Row>
  void soften_block(const Row& row, flat_block& block) const {
    auto* const x = block.take<value_type>();
    auto* const each = block.take<value_type>();  // what was combined of each row, in its columns
    const memory_row<value_type> values{{x}};
    const memory_row<value_type> of_rows{{each}};
    const auto combine = [&](const auto& op, const value_type* from, const auto& finish) {
      for (index_t k = 0; k < block.size(); k += columns)
        std::fill_n(each + k, columns, finish(host_rows::reduce_values(op, from + k, columns)));
    };
    const auto same = [](value_type v) { return v; };
    host_rows::assign(x, 1, row, 0, block.size());
    combine(maximum_op{}, x, same);
    host_rows::assign(x, 1, make_row(subtract_op{}, values, of_rows), 0, block.size());
    if (log) {
      auto* const exponentials = block.take<value_type>();
      host_rows::assign(exponentials, 1, make_row(exp_op{}, values), 0, block.size());
      combine(add_op{}, exponentials, [](value_type v) { return Kokkos::log(v); });
      host_rows::assign_block(
          target, narrowed<result_type>(make_row(subtract_op{}, values, of_rows)), block, false);
    } else {
      host_rows::assign(x, 1, make_row(exp_op{}, values), 0, block.size());
      combine(add_op{}, x, [](value_type v) { return value_type(1) / v; });
      host_rows::assign_block(
          target, narrowed<result_type>(make_row(multiply_op{}, values, of_rows)), block, false);
    }
  }

  template <class Team, class Row>
  KOKKOS_FUNCTION void put(const Team& team, index_t r, const Row& row) const {
    assign(team, target.elements.data + target.start(r), target.step, narrowed<result_type>(row), 0,
           columns);
  }
};

}  // namespace topos::detail
