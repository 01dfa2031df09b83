// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The innermost loop of matrix products on the host: a block of results that stays in registers.

#include <algorithm>
#include <concepts>
#include <cstring>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/expr/operations.hpp>
#include <type_traits>

#ifdef __NVCC__  // which passes the host compiler's pragmas on, but does not know them
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif

namespace topos::detail {

/// a b + c, where integers wrap around and bool is the algebra of `and` and `or`.
template <class T>
KOKKOS_FUNCTION constexpr T multiply_add(T a, T b, T c) {
  if constexpr (std::same_as<T, bool>) {
    return c || (a && b);
  } else if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<decltype(a + b)>;
    return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b) + static_cast<wide>(c));
  } else {
    return a * b + c;
  }
}

namespace host_tile {

/// Lanes of a type that has no SIMD of its own: loops that the compiler may vectorize, which it
/// does not of bool.
template <class T>
struct plain_lanes {
  static constexpr index_t size = 64 / sizeof(T) < 16 ? 64 / sizeof(T) : 16;
  std::conditional_t<std::same_as<T, bool>, unsigned char, T> value[size];

  plain_lanes() = default;
  explicit plain_lanes(T all) { std::fill_n(value, size, all); }
  static plain_lanes load_unaligned(const T* from) {
    plain_lanes result;
    std::memcpy(result.value, from, sizeof result);
    return result;
  }
  void store_unaligned(T* to) const { std::memcpy(to, value, sizeof value); }
};

template <class T>
inline constexpr bool has_simd = TOPOS_HAS_XSIMD != 0 && lane::real_element<T>;

/// What a register holds of a row of results, and how many columns that is.
template <class T>
using lanes_t = std::conditional_t<has_simd<T>, lane::batch<T>, plain_lanes<T>>;
template <class T>
inline constexpr index_t block_width = static_cast<index_t>(lanes_t<T>::size);

/// The largest block: its results, a row of b and an element of a take all the registers. There
/// are 32 of 64 bytes; where there are 16, three batches would have compilers load each of them
/// from memory for every row.
template <class T>
inline constexpr bool has_many_registers = block_width<T> * sizeof(T) >= 64;
template <class T>
inline constexpr int most_batches = has_many_registers<T> ? 3 : 2;
template <class T>
inline constexpr int most_rows = has_many_registers<T> ? 8 : 6;

template <class T, class Lanes>
inline Lanes fused(const Lanes& a, const Lanes& b, const Lanes& c) {
  if constexpr (has_simd<T> && std::floating_point<T>) {
    return lane::fma(a, b, c);
  } else if constexpr (has_simd<T>) {
    return multiply_op{}.lanes(a, b) + c;
  } else {
    Lanes result;
    for (index_t i = 0; i < block_width<T>; ++i) {
      if constexpr (std::same_as<T, bool>)
        result.value[i] = c.value[i] | (a.value[i] & b.value[i]);
      else
        result.value[i] = multiply_add(a.value[i], b.value[i], c.value[i]);
    }
    return result;
  }
}

template <class T, class Lanes>
inline Lanes sum(const Lanes& a, const Lanes& b) {
  if constexpr (has_simd<T>)
    return a + b;
  else
    return fused<T>(a, Lanes(T(1)), b);
}

/// Where a register block finds its operands and puts its results.
template <class T>
struct block_arguments {
  T* c;  ///< rows at a distance of c_row
  index_t c_row;
  const T* a;  ///< element (i, p) at a[i * a_row + p * (the block's Step)]
  index_t a_row;
  const T* b;  ///< whole batches; rows at a distance of b_row
  index_t b_row;
  index_t k;     ///< at least 1
  index_t last;  ///< columns of the last batch that c has
  bool add;      ///< c += a b, not c = a b
};

/// The first `count` columns of a batch; the others are 0.
template <class T>
inline lanes_t<T> load_some(const T* from, index_t count) {
  if constexpr (has_simd<T>) {
    return lane::load_partial(from, count);
  } else {
    T part[block_width<T>] = {};
    std::copy_n(from, count, part);
    return lanes_t<T>::load_unaligned(part);
  }
}

/// Writes or adds some of a batch.
template <class T, class Lanes>
inline void put(T* to, const Lanes& lanes, index_t count, bool add) {
  if constexpr (has_simd<T>) {
    const lanes_t<T> all = lane::whole(lanes);
    lane::store_partial(to, add ? load_some(to, count) + all : all, count);
  } else {
    T part[block_width<T>];
    (add ? sum<T>(load_some(to, count), lanes) : lanes).store_unaligned(part);
    std::copy_n(part, count, to);
  }
}

/// c = a b or c += a b for `Rows` rows and `Batches` batches `Lanes` of columns. Each element is
/// one chain of fused multiply-adds along k, to which c is added at the end.
template <int Rows, int Batches, int Step, class Lanes, class T>
[[gnu::noinline]] void block(const block_arguments<T>& of) {
  constexpr auto width = static_cast<index_t>(Lanes::size);
  constexpr int ahead = 8;  // rows of b, which may lie too far apart to be fetched by themselves
  T* const c = of.c;
  const index_t c_row = of.c_row;
  const index_t a_row = of.a_row;
  const index_t b_row = of.b_row;
  const T* a = of.a;
  const T* b = of.b;
  Lanes sums[Rows][Batches];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < Batches; ++v) {
      __builtin_prefetch(c + i * c_row + v * width, 1);
      sums[i][v] = Lanes(T(0));
    }
  }
  index_t p = of.k;
  do {
    Lanes columns[Batches];
#pragma GCC unroll 4
    for (int v = 0; v < Batches; ++v) {
      columns[v] = Lanes::load_unaligned(b + v * width);
      __builtin_prefetch(b + ahead * b_row + v * width);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Lanes value(a[i * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < Batches; ++v) sums[i][v] = fused<T>(value, columns[v], sums[i][v]);
    }
    a += Step;
    b += b_row;
  } while (--p > 0);
  // Each way by itself, so that the sums of none leave their registers before.
  if (of.last < width) {
    for (int i = 0; i < Rows; ++i) {
      for (int v = 0; v < Batches; ++v)
        put(c + i * c_row + v * width, sums[i][v], v + 1 < Batches ? width : of.last, of.add);
    }
  } else if (of.add) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < Batches; ++v) {
        T* const to = c + i * c_row + v * width;
        sum<T>(Lanes::load_unaligned(to), sums[i][v]).store_unaligned(to);
      }
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < Batches; ++v) sums[i][v].store_unaligned(c + i * c_row + v * width);
    }
  }
}

/// `block` for 1 to most_batches batches.
template <int Rows, int Step, class T>
inline void block_of(int batches, const block_arguments<T>& of) {
  if constexpr (most_batches<T> == 3) {
    if (batches == 3) return block<Rows, 3, Step, lanes_t<T>>(of);
  }
  if (batches == 2) return block<Rows, 2, Step, lanes_t<T>>(of);
  block<Rows, 1, Step, lanes_t<T>>(of);
}

/// How many batches the next block takes of so many: never one after three, which would wait for
/// its own results.
template <class T>
constexpr int next_batches(index_t left) {
  if (left == 4) return 2;
  return left < most_batches<T> ? static_cast<int>(left) : most_batches<T>;
}

/// Calls function(j, batches) for each block across so many columns: it begins at column j.
template <class T, class Function>
inline void each_block(index_t columns, const Function& function) {
  index_t left = (columns + block_width<T> - 1) / block_width<T>;
  for (index_t j = 0; left > 0;) {
    const int batches = next_batches<T>(left);
    function(j, batches);
    j += batches * block_width<T>;
    left -= batches;
  }
}

/// Rows of the largest block of fewer: there are some of 8 or 6, of 4, of 2 and of 1.
constexpr int fewer_rows(int rows) { return rows > 4 ? 4 : rows / 2; }

/// How many rows the next block takes of so many.
template <class T>
constexpr int next_rows(index_t left) {
  int rows = most_rows<T>;
  while (rows > left) rows = fewer_rows(rows);
  return rows;
}

}  // namespace host_tile
}  // namespace topos::detail

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
