// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kernels whose items are the same blocks of rows, of which parts are common: on the host these
/// are computed once. Each kernel is given its rows of a block written down, a map where they go.

#include <algorithm>
#include <concepts>
#include <topos/kernels/detail/paired_runs.hpp>
#include <topos/kernels/detail/reduction_pieces.hpp>
#include <topos/kernels/map.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail::host_rows {

/// A kernel along rows that combines the elements of a block once they are written down.
template <class Kernel>
concept takes_blocks = Kernel::may_take_blocks;

template <class Kernel>
inline constexpr bool is_map = false;
template <class Target, class Rows>
inline constexpr bool is_map<map_kernel<Target, Rows>> = true;

/// The blocks of a kernel, and the outputs of an item; none if those are 0.
struct kernel_blocks {
  reduction_pieces pieces;
  index_t outputs;
  friend bool operator==(const kernel_blocks&, const kernel_blocks&) = default;
};
template <takes_blocks Kernel>
[[nodiscard]] kernel_blocks blocks_of(const Kernel& kernel) {
  return {kernel, kernel.paired_on_host.any() ? 0 : kernel.outputs_of_block()};
}
template <class First, class Other>
[[nodiscard]] bool same_pieces(const First& first, const Other& other) {
  return static_cast<const reduction_pieces&>(first) == static_cast<const reduction_pieces&>(other);
}
// A map has some where it is of one row, cut as that of a reduction is.
template <class Target, class Rows>
[[nodiscard]] kernel_blocks blocks_of(const map_kernel<Target, Rows>& kernel) {
  const index_t columns = kernel.tiles.columns;
  reduction_pieces pieces{true, 1, 1, 1, columns};
  if (columns == 0) return {pieces, 0};
  pieces.cut_into(std::max<index_t>(1, map_chunk / columns), std::min(map_chunk, columns));
  const bool fits = kernel.tiles.rows == 1 && kernel.tiles.tile_columns >= pieces.piece_columns &&
                    kernel.tiles.count() == pieces.pieces();
  return {pieces, fits ? std::max<index_t>(1, map_chunk / columns) : 0};
}

/// Takes a kernel's rows of blocks.
template <class Kernel>
class block_taker {
 public:
  const Kernel& kernel;
  explicit block_taker(const Kernel& of) : kernel(of) {}

  template <class Row>
  [[nodiscard]] auto to(const reduction_pieces::block& at, index_t r, const Row& row) {
    return to_row(values_ + (r - at.of.r) * at.width(), 1, row, std::false_type{});
  }
  void take(const reduction_pieces::block& at) const { kernel.take_block(at, values_); }

 private:
  alignas(flat_block::alignment)
      typename row_of<decltype(Kernel::rows)>::value_type values_[map_chunk];
};
template <class Target, class Rows>
class block_taker<map_kernel<Target, Rows>> {
 public:
  const map_kernel<Target, Rows>& kernel;
  explicit block_taker(const map_kernel<Target, Rows>& of) : kernel(of) {}

  template <class Row>
  [[nodiscard]] auto to(const reduction_pieces::block& at, index_t r, const Row& row) const {
    return kernel.target_of(r, at.of.c, row);
  }
  void take(const reduction_pieces::block& /*at*/) const {
    if (kernel.past_caches) fence();
  }
};

/// What kernels do together.
enum class together { nothing, blocks, runs };

/// Whether kernels may do something together, and what.
template <class... Kernels>
inline constexpr bool may_share_blocks = false;
template <class... Kernels>
  requires((takes_blocks<Kernels> || ...) && ((takes_blocks<Kernels> || is_map<Kernels>)&&...))
inline constexpr bool may_share_blocks<Kernels...> =
    may_have_common_parts<row_of<decltype(Kernels::rows)>...>;

template <class... Kernels>
inline constexpr bool may_share_runs = false;
template <class... Kernels>
  requires(pairing_row<typename Kernels::drawn_type>&&...)
inline constexpr bool may_share_runs<Kernels...> = true;

/// Shorter rows take longer to look at, and are combined some at a time where they are computed.
inline constexpr index_t least_columns = 128;

/// What it takes, in sums for each element, to combine what is written down, and not as it is
/// computed: nothing where that is written down anyway, or computed one by one.
template <class Kernel>
[[nodiscard]] int weight_of_taking(const Kernel& kernel, index_t columns) {
  const auto row = kernel.rows.row(0);
  if constexpr (!takes_blocks<Kernel>)
    return 0;
  else if constexpr (Kernel::writes_rows_down || decltype(row)::width == 0)
    return 0;
  else
    return have_common_parts(columns, row) ? 0 : weight_of_keeping + 1;
}
// What of a gain the kernel has by itself.
template <class Kernel>
[[nodiscard]] int own_gain(const Kernel& kernel, index_t columns) {
  return gain_of_common_parts(columns, kernel.rows.row(0));
}

template <class First, class... Rest>
[[nodiscard]] together shared_by(const First& first, const Rest&... rest) {
  if constexpr (may_share_runs<First, Rest...>) {
    const auto& runs = first.paired_on_host;
    const auto dense = [](const auto& kernel) {
      return std::decay_t<decltype(kernel)>::drawn::of(kernel.rows.row(0)).dense();
    };
    if (runs.any()) {
      const bool same = ((rest.paired_on_host == runs) && ...) && (same_pieces(first, rest) && ...);
      return same && have_common_parts(runs.cost(), dense(first), dense(rest)...)
                 ? together::runs
                 : together::nothing;
    }
  }
  const kernel_blocks blocks = blocks_of(first);
  const index_t columns = std::min(blocks.pieces.piece_columns, blocks.pieces.columns);
  if (blocks.outputs == 0 || columns < least_columns || !((blocks_of(rest) == blocks) && ...))
    return together::nothing;
  const int gain = gain_of_common_parts(columns, first.rows.row(0), rest.rows.row(0)...);
  const int alone = (own_gain(first, columns) + ... + own_gain(rest, columns));
  const int taking = (weight_of_taking(first, columns) + ... + weight_of_taking(rest, columns));
  return gain - alone > taking ? together::blocks : together::nothing;
}

template <class... Takers>
[[gnu::noinline]] void take_blocks(index_t i, const kernel_blocks& blocks, Takers&&... takers) {
  blocks.pieces.for_each_block(i, blocks.outputs, [&](const reduction_pieces::block& at) {
    for (index_t r = at.of.r; r < at.of.past_r; ++r)
      assign_rows(at.of.c, at.of.past_c, takers.to(at, r, takers.kernel.rows.row(r))...);
    (takers.take(at), ...);
  });
}

// Takes a run of the elements that a kernel is drawn from.
template <class Kernel>
struct take_run_of {
  const Kernel& kernel;
  template <class T>
  void operator()(index_t first, const T* values, index_t size) const {
    kernel.take_run(first, values, size);
  }
};
template <class Kernel>
[[nodiscard]] auto run_taker_of(const Kernel& kernel, const take_run_of<Kernel>& take) {
  return run_taker(Kernel::drawn::of(kernel.rows.row(0)), take);
}

/// Item i of kernels that do it together.
template <class First, class... Rest>
void run_together(together what, index_t i, const First& first, const Rest&... rest) {
  if constexpr (may_share_runs<First, Rest...>) {
    if (what == together::runs) {
      return first.paired_on_host.compute_all(i, run_taker_of(first, take_run_of<First>{first}),
                                              run_taker_of(rest, take_run_of<Rest>{rest})...);
    }
  }
  take_blocks(i, blocks_of(first), block_taker<First>(first), block_taker<Rest>(rest)...);
}

}  // namespace topos::detail::host_rows
