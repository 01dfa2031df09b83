// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on the CPU's matrix unit, out of 8-bit digits: precision::high.
///
/// A float becomes three digits to the base 256, relative to the largest of its row; eight products
/// of digits, summed exactly in integers, make one product of floats. After Ootomo, Ozaki, Yokota:
/// "DGEMM on integer matrix multiplication unit", Int. J. High Perform. Comput. Appl. 38 (2024).

#include <topos/core/config.hpp>

#if TOPOS_HAS_AMX

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <topos/backend/host.hpp>
#include <topos/linalg/detail/amx.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/linalg/product.hpp>
#include <topos/memory/buffer.hpp>

namespace topos::detail {

/// Where the digits of a matrix lie: 16 rows after 16 rows, of those 64 terms after 64 terms, of
/// those digit after digit; at the end the unit of each row. Rows are filled up to 16, terms to 64.
struct digit_layout {
  index_t rows = 0;
  index_t terms = 0;

  [[nodiscard]] index_t steps() const { return (terms + amx::tile_depth - 1) / amx::tile_depth; }
  [[nodiscard]] index_t tile_count() const { return (rows + amx::tile_rows - 1) / amx::tile_rows; }
  [[nodiscard]] index_t tile_bytes() const { return steps() * amx::step_bytes; }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(tile_count()) *
           (static_cast<std::size_t>(tile_bytes()) + amx::tile_rows * sizeof(float));
  }

  [[nodiscard]] std::int8_t* tile(void* data, index_t i) const {
    return static_cast<std::int8_t*>(data) + i * tile_bytes();
  }
  [[nodiscard]] const std::int8_t* tile(const void* data, index_t i) const {
    return static_cast<const std::int8_t*>(data) + i * tile_bytes();
  }
  [[nodiscard]] float* units(void* data) const {
    return reinterpret_cast<float*>(tile(data, tile_count()));
  }
  [[nodiscard]] const float* units(const void* data) const {
    return reinterpret_cast<const float*>(tile(data, tile_count()));
  }
};

/// Item i splits 16 rows of w, which are columns of the product, four terms of a column together.
struct split_weights_kernel {
  const float* w;  // (n, k)
  void* to;
  digit_layout layout;

  void operator()(const backend::host_team& team, index_t i) const {
    auto* row = static_cast<std::int8_t*>(team.scratch());
    const index_t next = layout.steps() * amx::tile_depth;
    const index_t first = i * amx::tile_rows;
    std::int8_t* tile = layout.tile(to, i);
    std::fill_n(tile, layout.tile_bytes(), std::int8_t{0});
    for (index_t j = 0; j < std::min(amx::tile_rows, layout.rows - first); ++j) {
      layout.units(to)[first + j] =
          amx::split_row(w + (first + j) * layout.terms, layout.terms, row, amx::tile_depth, next);
      for (index_t digit = 0; digit < amx::digits; ++digit) {
        for (index_t q = 0; q < layout.terms; q += 4) {
          std::copy_n(row + digit * next + q, 4,
                      tile + q / amx::tile_depth * amx::step_bytes + digit * amx::tile_bytes +
                          q % amx::tile_depth * amx::tile_rows + j * 4);
        }
      }
    }
  }

  [[nodiscard]] std::size_t scratch() const {
    return static_cast<std::size_t>(layout.steps() * amx::tile_depth * amx::digits);
  }
};

/// Item i computes a block of a product: some rows and columns, whole tiles.
struct digit_product_kernel {
  product p;
  const void* w;
  index_t rows;
  index_t columns;
  index_t across;  // how many blocks lie side by side

  /// Steps of which a tile of x and one of w about fill the first-level cache.
  static constexpr index_t most_steps = 8;
  static_assert(most_steps <= amx::most_steps);

  [[nodiscard]] digit_layout w_layout() const { return {p.n, p.k}; }
  [[nodiscard]] digit_layout x_layout() const { return {rows, p.k}; }
  [[nodiscard]] std::size_t scratch() const { return x_layout().bytes(); }

  void operator()(const backend::host_team& team, index_t i) const {
    const index_t row = i / across * rows;
    const index_t column = i % across * columns;
    product block = p;
    block.m = std::min(rows, p.m - row);
    block.n = std::min(columns, p.n - column);
    block.x += row * p.k;
    block.y += row * p.n + column;
    if (p.bias != nullptr) block.bias += column;
    split(block, team.scratch());
    multiply(block, team.scratch(), column / amx::tile_rows);
    for (index_t r = 0; r < block.m; ++r) activate(team, p.act, block.y + r * p.n, block.n);
  }

 private:
  void split(const product& block, void* to) const {
    const digit_layout layout = x_layout();
    for (index_t r = 0; r < block.m; ++r) {
      std::int8_t* tile = layout.tile(to, r / amx::tile_rows);
      layout.units(to)[r] =
          amx::split_row(block.x + r * p.k, p.k, tile + r % amx::tile_rows * amx::tile_depth,
                         amx::step_bytes, amx::tile_bytes);
    }
  }

  // y = the split rows of x times the columns of w from a tile on.
  TOPOS_AMX_FUNCTION void multiply(const product& block, const void* x, index_t first_tile) const {
    const amx::tile_registers registers;
    alignas(64) std::int32_t sums[2][amx::sums_of_tile];
    const digit_layout of_x = x_layout();
    const digit_layout of_w = w_layout();
    const index_t steps = of_w.steps();
    amx::tile_result before{};
    int turn = 0;
    for (index_t step = 0; step < steps; step += most_steps) {
      const index_t count = std::min(most_steps, steps - step);
      const index_t skipped = step * amx::step_bytes;
      for (index_t j = 0; j < block.n; j += amx::tile_rows) {
        const std::int8_t* w_tile = of_w.tile(w, first_tile + j / amx::tile_rows) + skipped;
        for (index_t r = 0; r < block.m; r += amx::tile_rows) {
          amx::multiply_tile(of_x.tile(x, r / amx::tile_rows) + skipped, w_tile, count, sums[turn],
                             before);
          before = {.sums = sums[turn],
                    .y = block.y + r * p.n + j,
                    .y_row = p.n,
                    .rows = std::min(amx::tile_rows, block.m - r),
                    .x_units = of_x.units(x) + r,
                    .w_units = of_w.units(w) + first_tile * amx::tile_rows + j,
                    .bias = block.bias == nullptr ? nullptr : block.bias + j,
                    .columns = std::min(amx::tile_rows, block.n - j),
                    .first = step == 0,
                    .last = step + count == steps};
          turn = 1 - turn;
        }
      }
    }
    amx::add_up(before, 0, before.rows);
  }
};

/// Products on the CPU's matrix unit. An element's bits depend on its row of x and column of w
/// alone.
struct digit_provider {
  static constexpr std::string_view name = "AMX";

  struct weights {
    buffer digits;
  };

  /// Whether this machine has the matrix unit.
  [[nodiscard]] static bool works() { return amx::available(); }

  static weights prepare(const backend::host::stream& stream, const buffer& w, index_t n,
                         index_t k) {
    const digit_layout layout{n, k};
    weights made{buffer(w.where(), layout.bytes())};
    const split_weights_kernel kernel{static_cast<const float*>(w.data()), made.digits.data(),
                                      layout};
    stream.for_each("topos::matmul::prepare", layout.tile_count(), amx::tile_rows * k,
                    kernel.scratch(), kernel);
    return made;
  }

  static void run(const backend::host::stream& stream, const weights& w, const product& p) {
    // Digits of as many rows as a core's own cache holds, or fewer, that all threads have some;
    // where there are few rows they share the columns.
    constexpr index_t cached = index_t{1} << 20;
    const index_t threads = stream.crew().size();
    const digit_layout of_x{p.m, p.k};
    const index_t tiles = of_x.tile_count();
    const index_t down =
        std::max(std::min(threads, tiles), (tiles * of_x.tile_bytes() + cached - 1) / cached);
    const index_t rows = (tiles + down - 1) / down;
    const index_t side = digit_layout{p.n, p.k}.tile_count();
    const index_t across = std::min(side, (threads + down - 1) / down);
    const index_t columns = (side + across - 1) / across;
    const digit_product_kernel kernel{p, w.digits.data(), rows * amx::tile_rows,
                                      columns * amx::tile_rows, (side + columns - 1) / columns};
    const index_t count = (tiles + rows - 1) / rows * kernel.across;
    stream.for_each("topos::matmul::digits", count,
                    kernel.rows * kernel.columns * p.k / digit_terms_per_cost, kernel.scratch(),
                    kernel);
  }

 private:
  // Multiply-adds that cost as much as touching one element.
  static constexpr index_t digit_terms_per_cost = 100;
};

}  // namespace topos::detail

#endif
