// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Running an expression into memory: one fused kernel, one pass.

#include <algorithm>
#include <cstdint>
#include <topos/async/queue.hpp>
#include <topos/expr/detail/found_rows.hpp>
#include <topos/expr/expression.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/kernels/detail/pair_kernel.hpp>
#include <topos/kernels/effort.hpp>
#include <topos/kernels/rows.hpp>
#include <topos/kernels/short_rows.hpp>
#include <topos/kernels/tiling.hpp>

namespace topos::detail {

/// Memory that a kernel writes.
template <class T>
struct target_elements {
  using value_type = T;
  T* data;
};

namespace host_rows {

/// Short rows as one, straight to where they go if that lies flat.
template <class Target, class Row>
void assign_block(const Target& target, const Row& row, flat_block& block, bool past_caches) {
  auto* const to = target.elements.data + block.column * target.step;
  if (target.lies_flat(block.columns))
    return assign_row(to + target.start(block.first), 1, row, 0, block.size(), past_caches);
  auto* const made = block.take<std::decay_t<decltype(*to)>>();
  assign_row(made, 1, row, 0, block.size(), false);
  target.for_each_run(
      block.first, block.rows, [&](index_t i, index_t at, index_t n, row_steps there) {
        copy_rows(to + at, there, made + i * block.columns, {block.columns, 1}, n, block.columns);
      });
}

}  // namespace host_rows

/// The kernel of a map: item i is one tile.
template <class Target, class Rows>
struct map_kernel {
  Target target;
  Rows rows;
  tiling tiles;
  bool past_caches;
  short_rows short_on_host;       // none elsewhere
  short_rows tiles_on_host = {};  // rows of tiles that some array is walked across; none elsewhere

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    tiles.with_tile(i, [&](index_t r, index_t past_r, index_t c, index_t past_c) {
      run(team, r, past_r, c, past_c);
    });
  }

  /// Whether other maps are computed row by row, as this one is, and may have parts in common that
  /// take longer to compute than to write down.
  template <class... OtherTarget, class... OtherRows>
    requires(host_rows::may_share_parts<row_of<Rows>, row_of<OtherRows>...>)
  [[nodiscard]] bool shares(const map_kernel<OtherTarget, OtherRows>&... others) const {
    return !short_on_host.any() && ((others.tiles == tiles && !others.short_on_host.any()) && ...);
  }
  /// Item i of this kernel and of others.
  TOPOS_HOST_BRANCH
  template <class Team, class... Others>
  KOKKOS_FUNCTION void run_with(const Team& team, index_t i, const Others&... others) const {
    if constexpr (Team::on_host) {
      tiles.with_tile(i, [&](index_t r, index_t past_r, index_t c, index_t past_c) {
        for (; r < past_r; ++r) {
          host_rows::assign_rows(c, past_c, target_of(r, c, rows.row(r)),
                                 others.target_of(r, c, others.rows.row(r))...);
        }
      });
      if (past_caches || (others.past_caches || ...)) fence();
    } else {
      (*this)(team, i);
      (others(team, i), ...);
    }
  }

  /// Whether its elements fall into `count` rows, and those of some of them can be computed.
  [[nodiscard]] bool falls_into(index_t count) const {
    return tiles.rows % count == 0 || (tiles.rows == 1 && tiles.columns == count);
  }
  /// Those of rows [first, past) of them.
  template <class Team>
  void run_some(const Team& team, index_t first, index_t past, index_t count) const {
    if (tiles.rows % count != 0) return run(team, 0, 1, first, past);
    const index_t each = tiles.rows / count;
    run(team, first * each, past * each, 0, tiles.columns);
  }

  /// Where a row of elements goes on the host, from a column on.
  template <class Row>
  [[nodiscard]] auto target_of(index_t r, index_t c, const Row& row) const {
    return host_rows::to_row(target.elements.data + target.start(r) + c * target.step, target.step,
                             row, past_caches);
  }

 private:
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void run(const Team& team, index_t r, index_t past_r, index_t c,
                           index_t past_c) const {
    if constexpr (Team::on_host) {
      if (short_on_host.any()) {
        assign_short(r, past_r);
      } else if (tiles_on_host.any()) {
        assign_tile(r, past_r, c, past_c);
      } else {
        assign_each(r, past_r, c, past_c);
      }
      if (past_caches) fence();
    } else if (past_r - r == 1) {
      assign(team, target.elements.data + target.start(r) + c * target.step, target.step,
             rows.row(r), c, past_c);
    } else {
      // Divided as what they fit: 64 bits take a GPU longer than to load the element.
      const auto width = static_cast<std::uint32_t>(past_c - c);
      const auto size = static_cast<std::uint32_t>(past_r - r) * width;
      const auto threads = static_cast<std::uint32_t>(team.threads());
      for (auto e = static_cast<std::uint32_t>(team.rank()); e < size; e += threads) {
        const index_t row = r + e / width;
        const index_t column = c + e % width;
        target.elements.data[target.start(row) + column * target.step] = rows.row(row)[column];
      }
      team.barrier();
    }
  }

  void assign_each(index_t r, index_t past_r, index_t c, index_t past_c) const {
    const auto assign_all = [&](const auto& all, index_t first, index_t past) {
      for (; first < past; ++first)
        host_rows::assign_rows(c, past_c, target_of(first, c, all.row(first)));
    };
    if (past_c - c == tiles.columns)
      use_found(rows, r, past_r, tiles.columns, assign_all);
    else
      assign_all(rows, r, past_r);
  }

  void assign_tile(index_t r, index_t past_r, index_t c, index_t past_c) const {
    for (; c < past_c; c += tiling::side) {
      const index_t past = std::min(c + tiling::side, past_c);
      tiles_on_host.for_each_block(r, past_r, c, past, [&](flat_block& block) {
        const auto row = rows.flat(block);
        host_rows::assign_block(target, row, block, past_caches);
      });
    }
  }

  void assign_short(index_t r, index_t past_r) const {
    auto* const to = target.elements.data;
    const index_t columns = tiles.columns;
    if constexpr (requires { rows.copy(to, row_steps{}, r, r, columns); }) {
      if (!past_caches || !target.lies_flat(columns)) {  // straight to where they go
        return target.for_each_run(r, past_r - r,
                                   [&](index_t i, index_t at, index_t n, row_steps there) {
                                     rows.copy(to + at, there, r + i, n, columns);
                                   });
      }
    }
    short_on_host.for_each(rows, r, past_r, [&](const auto& row, flat_block& block) {
      host_rows::assign_block(target, row, block, past_caches);
    });
  }
};

/// Whether so many bytes are written past the caches: they do not fit there, nor were they read
/// from the same memory, which is there then.
[[nodiscard]] inline bool goes_past_caches(std::size_t bytes, const std::vector<buffer>& reads,
                                           const buffer& out) {
  return bytes >= bytes_past_caches && out.where() == cpu() &&
         std::find(reads.begin(), reads.end(), out) == reads.end();
}

/// Whether an expression can have pairs of elements that cost less together.
template <class Row>
concept pairing_row = Row::width != 0 && Row::has_pairs;

/// An expression and where it goes: what is needed to launch its map.
template <expression E>
class map_plan {
 public:
  using value_type = typename E::value_type;
  static constexpr std::size_t rank = E::rank;

  /// Of an expression that reads some memory.
  map_plan(const E& e, const std::vector<buffer>& reads, const buffer& out,
           const layout<rank>& target)
      : map_plan(e, out, target,
                 goes_past_caches(size_of_shape(e.shape()) * sizeof(value_type), reads, out)) {}

  /// The same, told whether it is written past the caches; the last `apart` axes stay apart from
  /// those before.
  map_plan(const E& e, const buffer& out, const layout<rank>& target, bool past_caches,
           std::size_t apart = 0)
      : map_plan(e, out, target, past_caches, walked(e, target, apart)) {}

  [[nodiscard]] index_t size() const { return kernel_.tiles.rows * kernel_.tiles.columns; }
  [[nodiscard]] index_t effort() const {
    return effort_of(kernel_.rows, kernel_.tiles.columns, size());
  }
  [[nodiscard]] index_t count() const { return kernel_.tiles.count(); }
  [[nodiscard]] index_t cost() const { return kernel_.tiles.cost(); }
  [[nodiscard]] std::size_t scratch() const { return 0; }
  [[nodiscard]] const auto& kernel() const { return kernel_; }

  /// Whether its kernel may share a launch: not where some elements cost less together.
  [[nodiscard]] bool joins() const { return distance() == 0; }
  /// Whether its kernel is best taken by tiles.
  [[nodiscard]] bool crosses() const { return crossed_ != 0; }

  /// Cuts it as kernels are that go through the caches.
  void cut_as_others() {
    const tiling& t = kernel_.tiles;
    if (kernel_.past_caches) kernel_.tiles = tiling::of(t.rows, t.columns, crossed_, map_chunk);
  }

  /// Launches it on a stream.
  template <class Stream>
  void launch(const Stream& stream) const {
    using row = decltype(kernel_.rows.row(0));
    if constexpr (pairing_row<row>) {
      if (distance() != 0) {
        const pair_kernel<value_type, decltype(kernel_.rows)> pairs{
            kernel_.target.elements.data + kernel_.target.base,
            kernel_.rows,
            size(),
            distance(),
            kernel_.past_caches,
            host_rows::are_neighbours<row>(distance())};
        stream.for_each("topos::map", pairs.count(), pairs.cost(), 0, pairs);
        return;
      }
    }
    stream.for_each("topos::map", count(), cost(), 0, kernel_);
  }

  template <class Stream>
  void finish(const Stream& /*stream*/) const {}

 private:
  using target_rows = strided_rows<target_elements<value_type>, rank>;

  static walk<rank> walked(const E& e, const layout<rank>& target, std::size_t apart) {
    walk<rank> w = walk_of(e, {target}, apart);
    w.ahead = elementwise_fetch_distance(is_quick<E>(), w.axes == 1 ? w.leaves : 1);
    return w;
  }

  map_plan(const E& e, const buffer& out, const layout<rank>& target, bool past,
           const walk<rank>& w)
      : kernel_{rows_of(target_elements<value_type>{static_cast<value_type*>(out.data())}, target,
                        w),
                e.rows(w),
                {},
                past,
                {}},
        dense_(w.axes == 1 && kernel_.target.step == 1 && kernel_.rows.row(0).is_dense()) {
    const bool flat = kernel_.target.lies_flat(w.columns());
    // Rows that are only copied go straight to where they are to be.
    if (are_named<decltype(kernel_.rows), value_type> || !are_found(kernel_.rows, w.columns())) {
      kernel_.short_on_host = {out.where(), kernel_.rows, w.rows(), w.columns(),
                               flat ? 0 : sizeof(value_type)};
    }
    // Rows that are computed together are whole: two tiles with parts of one would both do it.
    if (!kernel_.short_on_host.any()) crossed_ = rows_crossed(e, w);
    kernel_.tiles = tiling::of(w.rows(), w.columns(), crossed_, past ? streamed_chunk : map_chunk);
    if (turns_tiles()) {
      constexpr index_t fewest = 8;
      const short_rows parts(out.where(), kernel_.rows, kernel_.tiles.tile_rows, tiling::side,
                             sizeof(value_type));
      if (parts.at_once() >= fewest) kernel_.tiles_on_host = parts;
    }
  }

  // Whether rows of tiles are best brought together: of fewer than about a cache line lines would
  // be read again, and what is only copied is turned in registers or as it is.
  [[nodiscard]] bool turns_tiles() const {
    constexpr index_t line = 64 / sizeof(value_type);
    constexpr index_t fewest = std::clamp<index_t>(line, 8, 16);
    if (crossed_ < fewest) return false;
    if constexpr (host_rows::is_strided<row_of<decltype(kernel_.rows)>>)
      return sizeof(value_type) <= 4 && kernel_.rows.lie_side_by_side();
    else
      return true;
  }

  // How far apart elements lie that are better computed together; 0: none are.
  [[nodiscard]] index_t distance() const {
    using row = decltype(kernel_.rows.row(0));
    if constexpr (pairing_row<row>) {
      const index_t found = dense_ ? kernel_.rows.row(0).dense().partner() : 0;
      return found < size() ? found : 0;
    } else {
      return 0;
    }
  }

  map_kernel<target_rows, decltype(std::declval<const E&>().rows(std::declval<walk<rank>>()))>
      kernel_;
  bool dense_;
  index_t crossed_ = 0;  // see rows_crossed
};

/// Enqueues what a plan launches, of one map or of several; `reads` is what it reads, `name` the
/// operation.
template <class Plan>
void submit_map(Plan plan, std::vector<buffer> reads, const buffer& out, std::source_location where,
                const char* name = "topos::map") {
  if (plan.size() == 0) return;
  const index_t effort = plan.effort();
  queue_of(out.where(), where)
      .submit(
          std::move(reads), {out}, effort,
          [plan = std::move(plan)](const auto& stream) { plan.launch(stream); }, name, where);
}

/// Enqueues `e` into the elements of `out` that `target`, of e's shape, names.
template <expression E>
void map(const E& e, const buffer& out, const layout<E::rank>& target, std::source_location where,
         const char* name = "topos::map") {
  std::vector<buffer> reads = memory_read_by(e);
  const map_plan<E> plan(e, reads, out, target);
  submit_map(plan, std::move(reads), out, where, name);
}

/// The same of elements in row-major order under another shape: where all go to one place after
/// another, those of what has them under its own.
template <expression E, std::size_t Rank>
void map(const strided_node<numbered_source<E>, Rank>& e, const buffer& out,
         const layout<Rank>& target, std::source_location where, const char* name = "topos::map") {
  using reshaped = strided_node<numbered_source<E>, Rank>;
  const auto own = layout<E::rank>::dense(e.source.e.shape(), target.offset);
  if (e.where == layout<Rank>::dense(e.shape()) &&
      size_of_shape(e.shape()) == size_of_shape(own.extents) &&
      target == layout<Rank>::dense(e.shape(), target.offset))
    map(e.source.e, out, own, where, name);
  else
    map<reshaped>(e, out, target, where, name);
}

/// The memory that a team of a kernel needs.
template <class Kernel>
[[nodiscard]] std::size_t scratch_of(const Kernel& kernel) {
  if constexpr (requires { kernel.scratch(); })
    return kernel.scratch();
  else
    return 0;
}

/// Enqueues a kernel that says what its items are, what each costs, and what scratch memory, if
/// any; `label` is what profilers call it, `name` the operation.
template <class Kernel>
void submit_kernel(const char* label, const Kernel& kernel, device d, std::vector<buffer> reads,
                   std::vector<buffer> writes, index_t effort, const char* name,
                   std::source_location where) {
  queue_of(d, where).submit(
      std::move(reads), std::move(writes), effort,
      [label, kernel, scratch = scratch_of(kernel)](const auto& stream) {
        stream.for_each(label, kernel.items(), kernel.cost(), scratch, kernel);
      },
      name, where);
}

}  // namespace topos::detail
