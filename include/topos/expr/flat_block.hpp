// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Short rows of an expression as one long row, on the host: what lanes and loops cost to begin
/// would be most of what a short row costs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// What rows need to be computed as one: the bytes of an element, of as many leaves, that are
/// copied for it.
struct flat_need {
  bool possible = true;
  std::size_t bytes = 0;
  std::size_t leaves = 0;

  friend flat_need operator+(const flat_need& a, const flat_need& b) {
    return {a.possible && b.possible, a.bytes + b.bytes, a.leaves + b.leaves};
  }
};

/// Rows [first, first + rows) of an expression, or so many columns of them, as one row. Of a leaf
/// whose rows lie one after another nothing is copied; the others are put together in a memory that
/// all share.
struct flat_block {
  /// What the memory, and each part of it, is aligned to.
  static constexpr std::size_t alignment = 64;

  index_t first;
  index_t rows;
  index_t columns;
  index_t most;        ///< Rows that a block of this memory has.
  std::byte* free;     ///< What of the memory nobody has taken.
  bool again;          ///< The memory holds an earlier block, of `most` rows.
  index_t column = 0;  ///< The first of the columns.

  [[nodiscard]] index_t size() const { return rows * columns; }

  /// Memory for the elements of one leaf, or so many at least: where it had it in the block before.
  template <class T>
  [[nodiscard]] T* take(index_t least = 0) {
    const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(std::max(most * columns, least));
    return reinterpret_cast<T*>(
        std::exchange(free, free + (bytes + alignment - 1) / alignment * alignment));
  }
};

/// Where elements of rows lie: how far apart rows are, and elements of one.
struct row_steps {
  index_t stride;
  index_t step;
};

/// Rows of so many columns are worth a call of their own.
inline constexpr index_t long_enough = 16;

/// Elements that go into 64 bytes.
template <class T>
inline constexpr index_t repeated_at_once = 64 / static_cast<index_t>(sizeof(T));

/// Fills rows beside each other with one element each, but for those whose place does not hold 64
/// bytes: each row is stored with more, which the next ones replace. Says how many.
template <class T>
index_t repeat_each(T* to, const T* from, index_t stride, index_t rows, index_t columns) {
  constexpr index_t many = repeated_at_once<T>;
  const index_t done = std::max<index_t>(0, rows - (many + columns - 1) / columns + 1);
  for (index_t i = 0; i < done; ++i, to += columns, from += stride) {
    T all[many];
    std::fill_n(all, many, *from);
    std::memcpy(static_cast<void*>(to), all, sizeof(all));
  }
  return done;
}

/// As what elements are copied: not as truths, of which compilers make no lanes.
template <class T>
using copied_as = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

/// Copies a row by as many bytes at once as it has, up to 64: the last of them may be copied twice.
template <class T>
inline void copy_row(T* to, const T* from, index_t columns) {
  auto* const out = reinterpret_cast<std::byte*>(to);
  const auto* const in = reinterpret_cast<const std::byte*>(from);
  const auto bytes = static_cast<std::size_t>(columns) * sizeof(T);
  const auto copy_ends = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size>) {
    std::memcpy(out, in, Size);
    std::memcpy(out + bytes - Size, in + bytes - Size, Size);
  };
  if (bytes >= 64) {
    constexpr std::size_t many = 64;
    for (std::size_t j = 0; j + many <= bytes; j += many) std::memcpy(out + j, in + j, many);
    std::memcpy(out + bytes - many, in + bytes - many, many);
  } else if (bytes >= 32) {
    copy_ends(std::integral_constant<std::size_t, 32>{});
  } else if (bytes >= 16) {
    copy_ends(std::integral_constant<std::size_t, 16>{});
  } else if (bytes >= 8) {
    copy_ends(std::integral_constant<std::size_t, 8>{});
  } else if (bytes >= 4) {
    copy_ends(std::integral_constant<std::size_t, 4>{});
  } else {
    for (std::size_t j = 0; j < bytes; ++j) out[j] = in[j];
  }
}

/// Calls `copy(k)` for k in [first, last), four at a time: a loop of one element takes twice as
/// long where its code crosses a cache line.
template <class Copy>
[[gnu::always_inline]] inline void in_fours(index_t first, index_t last, const Copy& copy) {
  constexpr index_t some = 4;
  for (; first + some <= last; first += some) {
    for (index_t i = 0; i < some; ++i) copy(first + i);
  }
  for (; first < last; ++first) copy(first);
}

/// Copies elements that lie `step` apart to where they are neighbours.
template <class T>
[[gnu::noinline]] void copy_apart(T* to, const T* from, index_t step, index_t count) {
  index_t k = lane::copy_whole(to, from, step, count);
  if constexpr (lane::element<T>) {
    for (; k + lane::width<T> <= count; k += lane::width<T>)
      lane::store(to + k, lane::load_apart(from + k * step, step));
  }
  in_fours(k, count, [&](index_t i) { to[i] = from[i * step]; });
}

/// Fills rows of two to four columns beside each other with one element each, as machines do with
/// neighbours: says how many rows.
template <class T>
index_t repeat_picked(T* to, const T* from, index_t stride, index_t rows, index_t columns) {
  constexpr index_t some = 64;
  T picked[some];
  index_t done = 0;
  for (; done + some <= rows; done += some, to += some * columns, from += some * stride) {
    copy_apart(picked, from, stride, some);
    if (lane::interleave(to, picked, 0, columns, some) != some) break;  // the machine cannot
  }
  return done;
}

/// Copies neighbours to elements that lie `step` apart.
template <class T>
[[gnu::noinline]] void put_apart(T* to, index_t step, const T* from, index_t count) {
  in_fours(0, count, [&](index_t i) { to[i * step] = from[i]; });
}

/// to[c * pitch + r] = from[r * here.stride + c * here.step].
template <class T>
void turn_rows(T* to, index_t pitch, const T* from, row_steps here, index_t rows, index_t columns) {
  index_t done = 0;
  constexpr index_t picked = sizeof(T) > 2 ? 2 : 4;  // columns that are picked out one by one
  if (here.step == 1 && here.stride == columns && columns <= picked) {
    for (index_t c = 0; c < columns; ++c)
      done = lane::copy_whole(to + c * pitch, from + c, columns, rows);
  } else if (here.step == 1) {
    done = lane::turn_rows(to, pitch, from, here.stride, rows, columns);
  }
  for (index_t c = 0; c < columns; ++c) {
    for (index_t r = done; r < rows; ++r) to[c * pitch + r] = from[r * here.stride + c * here.step];
  }
}

/// One row again and again.
template <class T>
void repeat_row(T* to, const T* from, index_t step, index_t rows, index_t columns);

/// Copies rows.
template <class T>
void copy_rows(T* to, row_steps there, const T* from, row_steps here, index_t rows,
               index_t columns) {
  if (there.step == 1 && there.stride == columns && rows > 1) {
    if (here.step == 1 && here.stride == columns)
      return void(std::copy_n(from, rows * columns, to));
    if (here.stride == 0) return repeat_row(to, from, here.step, rows, columns);
  }
  if (here.stride == 1 && there.step == 1 && there.stride == columns) {
    const index_t done = columns <= 4 ? lane::interleave(to, from, here.step, columns, rows)
                                      : lane::turn_columns(to, from, here.step, rows, columns);
    to += done * columns;
    from += done;
    rows -= done;
  }
  if (here.step == 0 && there.step == 1 && there.stride == columns &&
      columns <= repeated_at_once<T>) {
    index_t done = 0;
    if (columns >= 2 && columns <= 4) done = repeat_picked(to, from, here.stride, rows, columns);
    to += done * columns;
    from += done * here.stride;
    rows -= done;
    done = repeat_each(to, from, here.stride, rows, columns);
    to += done * columns;
    from += done * here.stride;
    rows -= done;
  }
  const auto of_width = [&](auto width) {
    for (index_t i = 0; i < rows; ++i, to += there.stride, from += here.stride) {
      for (index_t j = 0; j < width; ++j) to[j * there.step] = from[j * here.step];
    }
  };
  // The shortest by loops without an end to look for.
  switch (columns) {
    case 2:
      return of_width(std::integral_constant<index_t, 2>{});
    case 3:
      return of_width(std::integral_constant<index_t, 3>{});
    case 4:
      return of_width(std::integral_constant<index_t, 4>{});
    default:
      break;
  }
  const bool wide = columns >= long_enough && there.step == 1;
  if (wide && here.step == 1) {
    for (index_t i = 0; i < rows; ++i)
      copy_row(to + i * there.stride, from + i * here.stride, columns);
  } else if (wide && here.step == 0) {
    for (index_t i = 0; i < rows; ++i)
      std::fill_n(to + i * there.stride, columns, from[i * here.stride]);
  } else {
    of_width(columns);
  }
}

template <class T>
void repeat_row(T* to, const T* from, index_t step, index_t rows, index_t columns) {
  const index_t all = rows * columns;
  copy_rows(to, {0, 1}, from, {0, step}, 1, columns);
  // As one number, of which compilers make lanes.
  if (static_cast<std::size_t>(columns) * sizeof(T) == sizeof(std::uint64_t)) {
    std::uint64_t row;
    std::memcpy(&row, to, sizeof(row));
    for (index_t i = 1; i < rows; ++i)
      std::memcpy(static_cast<void*>(to + i * columns), &row, sizeof(row));
    return;
  }
  for (index_t done = columns; done < all; done += std::min(done, all - done))
    std::copy_n(to, std::min(done, all - done), to + done);
}

}  // namespace topos::detail
