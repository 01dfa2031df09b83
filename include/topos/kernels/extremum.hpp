// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the first largest or smallest element lies along an axis.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/detail/column_extrema.hpp>
#include <topos/kernels/detail/first_of_two.hpp>
#include <topos/kernels/detail/paired_runs.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/detail/turned_extrema.hpp>
#include <topos/kernels/map.hpp>
#include <topos/kernels/reduction_order.hpp>

namespace topos::detail {

/// The kernel: item i is a piece of one output, several outputs, or a piece of neighbouring ones.
template <class Target, class Before, class Rows>
struct extremum_kernel : reduction_pieces {
  using row_type = decltype(std::declval<const Rows&>().row(0));
  using value_type = typename row_type::value_type;
  using found = numbered<value_type>;
  static constexpr bool is_quick = row_type::is_quick;
  using drawn = host_rows::drawn_row<row_type>;
  using drawn_type = typename drawn::type;
  using turned_extrema = host_rows::turned_extrema<Before, value_type>;

  /// Rows that a piece compares.
  static constexpr index_t rows_compared = 512;

  Target target;
  Rows rows;
  found* partials = nullptr;  // where the results of pieces go; unused where pieces are whole
  short_rows short_on_host;   // that are compared with each other, or turned; none elsewhere
  host_rows::paired_runs paired_on_host;  // of all rows as one; none elsewhere

  extremum_kernel(const reduction_pieces& groups, const Target& to, const Rows& from)
      : reduction_pieces(groups), target(to), rows(from) {}

  void cut(bool on_device) {
    if (by_rows) {
      const index_t most = on_device ? device_piece() : map_chunk;
      cut_into(std::max<index_t>(1, most / columns), std::min(columns, most));
    } else {
      cut_into(on_device ? rows_of_piece : rows_compared,
               on_device ? device_columns : columns_of_piece);
    }
  }

  [[nodiscard]] index_t together() const {
    return pieces() > 1 ? 1 : std::max<index_t>(1, map_chunk / (reduced * columns));
  }
  [[nodiscard]] index_t count() const {
    if (!by_rows) return count_down();
    if (paired_on_host.any()) return paired_on_host.count();
    return outer * pieces() / together() + (outer * pieces() % together() != 0 ? 1 : 0);
  }
  [[nodiscard]] index_t cost() const {
    if (paired_on_host.any()) return paired_on_host.cost();
    return std::min(piece_rows, reduced) * std::min(piece_columns, columns) *
           (by_rows ? std::min(together(), outer) : 1);
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if constexpr (Team::on_host && pairing_row<drawn_type>) {
      if (paired_on_host.any()) return take_runs(i);
    }
    if (!by_rows) {
      down_columns(team, i);
    } else if (pieces() > 1) {
      const auto at = piece_number(i);
      partials[i] = piece(team, at.output, at.piece);
    } else {
      const index_t some =
          map_chunk / (reduced * columns) > 1 ? map_chunk / (reduced * columns) : 1;
      const index_t last = (i + 1) * some < outer ? (i + 1) * some : outer;
      whole_outputs(team, i * some, last);
    }
  }

  /// Writes output o.
  KOKKOS_FUNCTION void write(index_t o, const found& best) const {
    if (by_rows) {  // the outputs are the groups: nothing to divide by
      target.elements.data[target.start(o * reduced)] = best.number;
      return;
    }
    const index_t group = o / columns / inner;
    const index_t t = o / columns % inner;
    target.elements.data[target.start(group * reduced * inner + t) + o % columns * target.step] =
        best.number;
  }

  /// Outputs that are one item's where its rows are blocks of them; 0 if they are not.
  [[nodiscard]] index_t outputs_of_block() const {
    return by_rows && !short_on_host.any() ? together() : 0;
  }
  /// On the host: finds the best element of a block.
  void take_block(const block& at, const value_type* values) const {
    found best{};
    const index_t first = at.output * reduced;
    for (index_t r = at.of.r; r < at.of.past_r; ++r, values += at.width()) {
      found here = host_rows::find_first<Before>(memory_row<value_type>{{values}}, 0, at.width());
      here.number += (r - first) * columns + at.of.c;
      best = r == at.of.r ? here : first_of_two<Before>{}(best, here);
    }
    if (pieces() == 1)
      write(at.output, best);
    else
      partials[at.item] = best;
  }
  static constexpr bool may_take_blocks = true;
  static constexpr bool writes_rows_down = !is_quick;

  /// On the host: the best elements of a run, which is several outputs or a piece of one.
  void take_run(index_t first, const typename drawn_type::value_type* values, index_t size) const {
    for (index_t j = 0; j < size; j += columns) {
      found best = host_rows::find_first<Before>(drawn::in(values), j, std::min(j + columns, size));
      best.number += first % columns - j;
      if (pieces() == 1)
        write((first + j) / columns, best);
      else
        partials[paired_on_host.number_of(first)] = best;
    }
  }

 private:
  // On the host: those of item i.
  void take_runs(index_t i) const {
    const auto row = rows.row(0);
    paired_on_host.compute(drawn::of(row), i, [&](index_t first, const auto* values, index_t size) {
      take_run(first, values, size);
    });
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void whole_outputs(const Team& team, index_t first, index_t last) const {
    if constexpr (!Team::on_host) {
      if (reduced * columns < device_rows::for_one_warp) {  // a warp for each
        for (index_t o = first + team.warp(); o < last; o += team.warps()) {
          const piece_values values = values_of(o, 0);
          const found best = device_rows::combine_by_warp<is_quick>(team, first_of_two<Before>{},
                                                                    values.all.size, values);
          if (team.lane() == 0) write(o, best);
        }
        return;
      }
    } else if (short_on_host.any()) {
      turned_outputs(first, last);
      return;
    }
    for (; first < last; ++first) write(first, piece(team, first, 0));
  }

  // Of short rows on the host, by columns.
  void turned_outputs(index_t first, index_t last) const {
    short_on_host.for_each_block(first, last, [this](flat_block& block) {
      const turned_extrema numbers(host_rows::turned_rows<value_type>(rows, block), columns,
                                   block.rows);
      host_rows::put_outputs(target, block, [&](index_t r) { return numbers[r]; });
    });
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION found piece(const Team& team, index_t output, index_t p) const {
    if constexpr (Team::on_host) {
      const range of = piece_of(p);
      const index_t first = output * reduced;
      found best{};
      for (index_t n = of.r; n < of.past_r; ++n) {
        found here = find_in(rows.row(first + n), of.c, of.past_c);
        here.number += n * columns;
        best = n == of.r ? here : first_of_two<Before>{}(best, here);
      }
      return best;
    } else {
      const first_of_two<Before> op{};
      const range of = piece_of(p);
      found best{};
      if (of.past_r - of.r == 1) {
        // Numbers of 64 bits would take a GPU twice as long.
        using here = numbered<value_type, std::int32_t>;
        const here one =
            device_rows::combine_row(team, op, rows.row(output * reduced + of.r), of.c,
                                     of.past_c - of.c, [](const value_type& value, index_t i) {
                                       return here{value, static_cast<std::int32_t>(i)};
                                     });
        best = {one.value, of.r * columns + of.c + one.number};
      } else {
        const piece_values values = values_of(output, p);
        best = device_rows::combine<is_quick>(team, op, values.all.size, values);
      }
      team.barrier();
      return best;
    }
  }

  // Of a row on the host, which is computed once.
  static found find_in(const row_type& row, index_t c, index_t past) {
    if constexpr (is_quick) {
      return row.is_dense() ? host_rows::find_first<Before>(row.dense(), c, past)
                            : host_rows::find_first<Before>(row, c, past);
    } else {
      typename drawn_type::value_type values[map_chunk];
      host_rows::assign(values, 1, drawn::of(row), c, past);
      found best = host_rows::find_first<Before>(drawn::in(values), 0, past - c);
      best.number += c;
      return best;
    }
  }

  // The values of a piece on a device, one after the other, with their numbers.
  struct piece_values {
    const Rows& rows;
    index_t first;  // row of the output
    index_t columns;
    places all;

    KOKKOS_FUNCTION found operator()(index_t i) const {
      const auto at = all(i);
      return {rows.row(first + at.r)[at.c], at.r * columns + at.c};
    }
  };
  [[nodiscard]] KOKKOS_FUNCTION piece_values values_of(index_t output, index_t p) const {
    return {rows, output * reduced, columns, places(piece_of(p))};
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void down_columns(const Team& team, index_t i) const {
    const down at = down_of(i);
    const range of = at.of;
    found* partial = pieces_down == 1 ? nullptr : partials + at.first;
    auto* const to = target.elements.data + target.start(row_of(at.group, 0, at.t));
    const auto put = [&](index_t j, const found& best) {
      if (partial == nullptr) {
        to[j * target.step] = best.number;
      } else {
        partial[j] = best;
      }
    };
    if constexpr (Team::on_host) {
      const host_rows::column_extrema<Before, value_type> best(*this, at);
      for (index_t j = of.c; j < of.past_c; ++j) put(j, best[j]);
    } else {
      const index_t first = row_of(at.group, 0, at.t);
      for (index_t j = of.c + team.rank(); j < of.past_c; j += team.threads()) {
        put(j, device_rows::combine_alone(first_of_two<Before>{}, of.past_r - of.r, [&](index_t n) {
              return found{rows.row(first + (of.r + n) * inner)[j], of.r + n};
            }));
      }
      team.barrier();
    }
  }
};

/// The kernel that chooses among the results of pieces: item i is output i.
template <class Kernel, class Before>
struct extremum_choice {
  using found = typename Kernel::found;
  Kernel of;

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t o) const {
    const index_t stride = of.by_rows ? 1 : of.inner * of.columns;
    const index_t count = of.pieces();
    const found* from = of.partials + o / stride * count * stride + o % stride;
    if constexpr (Team::on_host) {
      found best = from[0];
      for (index_t k = 1; k < count; ++k) best = first_of_two<Before>{}(best, from[k * stride]);
      of.write(o, best);
    } else {
      of.write(o, device_rows::combine<true>(team, first_of_two<Before>{}, count,
                                             [&](index_t k) { return from[k * stride]; }));
    }
  }
};

template <expression E, class Before>
class extremum_plan;

/// The first element that comes before all others, by its number along the reduced axes: of one
/// axis, or of all.
template <class Before>
struct extremum {
  using value_type = std::int64_t;

  /// The plan for an expression, into a buffer.
  template <expression E>
  [[nodiscard]] auto plan(const E& e, const axis_set<E::rank>& set, const buffer& out,
                          std::source_location where) const {
    return extremum_plan<E, Before>(e, set, out, where);
  }
};

/// What is needed to launch the search for extrema, of which there is one at least.
template <expression E, class Before>
class extremum_plan {
 public:
  static constexpr std::size_t rank = E::rank;

  extremum_plan(const E& e, const axis_set<rank>& set, const buffer& out,
                std::source_location where)
      : extremum_plan(e, set,
                      std::count(set.begin(), set.end(), true) == 1
                          ? order_along(e, set, out.where())
                          : reduction_order<rank>(e.shape()),
                      out, where) {}

  [[nodiscard]] index_t size() const { return size_; }
  [[nodiscard]] index_t effort() const { return size_; }
  [[nodiscard]] index_t count() const { return size_ == 0 ? 0 : kernel_.count(); }
  [[nodiscard]] index_t cost() const { return kernel_.cost(); }
  [[nodiscard]] std::size_t scratch() const { return 0; }
  [[nodiscard]] const auto& kernel() const { return kernel_; }
  [[nodiscard]] bool joins() const { return size_ != 0; }

  template <class Stream>
  void launch(const Stream& stream) const {
    stream.for_each("topos::extremum", count(), cost(), 0, kernel_);
    finish(stream);
  }
  template <class Stream>
  void finish(const Stream& stream) const {
    if (kernel_.pieces() == 1) return;
    stream.for_each("topos::extremum", kernel_.outputs(), kernel_.pieces(), 0,
                    extremum_choice<kernel_type, Before>{kernel_});
  }

 private:
  using value_type = typename E::value_type;
  using view = permute_view<rank>;
  using target_rows = strided_rows<target_elements<std::int64_t>, rank>;
  using rows = decltype(std::declval<const E&>()
                            .viewed(std::declval<const shape<rank>&>(), std::declval<const view&>())
                            .rows(std::declval<const walk<rank>&>()));
  using kernel_type = extremum_kernel<target_rows, Before, rows>;

  static reduction_order<rank> order_along(const E& e, const axis_set<rank>& set, const device& d) {
    reduction_order<rank> order(e, set);
    if (d != cpu()) order.turn_short_rows(e.shape());
    return order;
  }

  extremum_plan(const E& e, const axis_set<rank>& set, const reduction_order<rank>& order,
                const buffer& out, std::source_location where)
      : extremum_plan(e.viewed(shape<rank>(e.shape()), order.axes),
                      order.axes(reduced_layout<rank>(e.shape(), set)), order, out) {
    if (size_ == 0 || kernel_.pieces() == 1) return;
    const index_t results = kernel_.pieces() * kernel_.outputs();
    partials_ =
        buffer(out.where(), static_cast<std::size_t>(results) * sizeof(typename kernel_type::found),
               where);
    kernel_.partials = static_cast<typename kernel_type::found*>(partials_.data());
  }

  // Of the expression and its target with their axes in order.
  template <expression V>
  extremum_plan(const V& v, const layout<rank>& target, const reduction_order<rank>& order,
                const buffer& out)
      : extremum_plan(v, target, order, reduction_walk(v, target, order.by_rows), out) {}

  template <expression V>
  extremum_plan(const V& v, const layout<rank>& target, const reduction_order<rank>& order,
                const walk<rank>& w, const buffer& out)
      : size_(order.outer * order.reduced * order.inner),
        kernel_(order.groups(w.columns()),
                rows_of(target_elements<std::int64_t>{static_cast<std::int64_t*>(out.data())},
                        target, w),
                v.rows(w)) {
    if (size_ != 0) {
      kernel_.cut(out.where() != cpu());
      host_rows::pair_rows(kernel_, v, size_, out.where());
    }
    if (!order.by_rows)
      kernel_.short_on_host = {out.where(), kernel_.rows, kernel_.reduced, kernel_.columns,
                               sizeof(value_type)};
    else
      kernel_.short_on_host = host_rows::turned_rows<value_type>::of(
          out.where(), kernel_.rows, kernel_, kernel_type::turned_extrema::too_long);
  }

  index_t size_;
  kernel_type kernel_;
  buffer partials_;
};

}  // namespace topos::detail
