// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes of numbers that lie apart in memory. A few places apart they come with their neighbours in
/// whole loads, and are picked out of them: by AVX-512, and numbers of one byte or two by AVX2.
/// Further apart they are loaded one by one, which takes half the time of a gathering load.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace topos::lane {

/// Whether the machine picks numbers of T that lie a few places apart out of whole loads.
#ifdef __AVX512F__
template <class T>
inline constexpr bool picks_apart = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
#else
template <class T>
inline constexpr bool picks_apart = false;
#endif

#ifdef __AVX2__

namespace detail {

/// Which numbers are picked where each lies Step places after the one before: of as many loads as
/// there are places, the last of which ends with the last number. Before an earlier place (Step is
/// -1) they come in one load.
template <int Step, int Width>
struct whole_loads {
  static constexpr int count = Step < 0 ? 1 : Step;
  /// From the first number to where a load begins.
  static constexpr int start(int load) {
    if (Step < 0) return 1 - Width;
    return load + 1 < Step ? load * Width : (Width - 1) * (Step - 1);
  }
  static constexpr bool has(int load, int lane) { return Step < 0 || lane * Step / Width == load; }
  static constexpr int place(int load, int lane) { return lane * Step - start(load); }
};

inline constexpr int bytes_at_once = 16;

/// Numbers of so many bytes, each so many times one after another, some whole loads of them: says
/// how many numbers.
template <std::size_t Size, int Times>
index_t repeat(std::byte* to, const std::byte* from, index_t count) {
  constexpr index_t width = bytes_at_once / static_cast<index_t>(Size);
  alignas(bytes_at_once) static constexpr auto places = [] {
    std::array<signed char, std::size_t{bytes_at_once} * Times> result{};
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<signed char>(i / Size / Times * Size + i % Size);
    return result;
  }();
  index_t done = 0;
  for (; done + width <= count; done += width, from += bytes_at_once) {
    const __m128i load = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    for (int part = 0; part < Times; ++part, to += bytes_at_once) {
      const auto* const here =
          reinterpret_cast<const __m128i*>(places.data() + part * bytes_at_once);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                       _mm_shuffle_epi8(load, _mm_load_si128(here)));
    }
  }
  return done;
}

/// A load of numbers of one byte or two, each picked at its lane, and 0 at the others.
template <int Step, int Load, class T>
inline __m128i picked_bytes(const T* from) {
  constexpr int size = sizeof(T);
  using loads = whole_loads<Step, bytes_at_once / size>;
  alignas(16) static constexpr auto places = [] {
    std::array<signed char, bytes_at_once> result{};
    for (int i = 0; i < bytes_at_once; ++i) {
      const int place = loads::place(Load, i / size) * size + i % size;
      result[static_cast<std::size_t>(i)] =
          static_cast<signed char>(loads::has(Load, i / size) ? place : -1);
    }
    return result;
  }();
  return _mm_shuffle_epi8(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + loads::start(Load))),
      _mm_load_si128(reinterpret_cast<const __m128i*>(places.data())));
}

/// Every Step-th of such numbers, as many as fit.
template <int Step, class T>
inline __m128i every_short(const T* from) {
  return [&]<int... Load>(std::integer_sequence<int, Load...>) {
    __m128i result = picked_bytes<Step, 0>(from);
    ((result = _mm_or_si128(result, picked_bytes<Step, Load + 1>(from))), ...);
    return result;
  }
  (std::make_integer_sequence<int, whole_loads<Step, bytes_at_once>::count - 1>{});
}

#ifdef __AVX512F__

static_assert(sizeof(batch<float>) == 64, "topos: xsimd's default lanes are not those of AVX-512");

/// Whether numbers of so many bytes are picked from two registers.
template <std::size_t Size>
inline constexpr bool picks_of_two = Size == 4 || Size == 8;
#ifdef __AVX512BW__
template <>
inline constexpr bool picks_of_two<2> = true;
#endif
#ifdef __AVX512VBMI__
template <>
inline constexpr bool picks_of_two<1> = true;
#endif

/// Of numbers of so many bytes in two registers those at some places, which count on from one to
/// the other.
template <std::size_t Size>
inline __m512i picked_of_two(__m512i one, __m512i places, __m512i other) {
  if constexpr (Size == 8) return _mm512_permutex2var_epi64(one, places, other);
#ifdef __AVX512BW__
  else if constexpr (Size == 2)
    return _mm512_permutex2var_epi16(one, places, other);
#endif
#ifdef __AVX512VBMI__
  else if constexpr (Size == 1)
    return _mm512_permutex2var_epi8(one, places, other);
#endif
  else
    return _mm512_permutex2var_epi32(one, places, other);
}

template <std::size_t Size>
using place_of = std::conditional_t<
    Size == 1, std::int8_t,
    std::conditional_t<Size == 2, std::int16_t,
                       std::conditional_t<Size == 4, std::int32_t, std::int64_t>>>;

/// The lanes of another load beside those of the loads before.
template <int Step, int Load, class T>
inline __m512i with_picked(__m512i before, const T* from) {
  constexpr int width = static_cast<int>(width_of<T>);
  using loads = whole_loads<Step, width>;
  using index = place_of<sizeof(T)>;
  alignas(64) static constexpr auto places = [] {
    std::array<index, static_cast<std::size_t>(width)> result{};
    for (int i = 0; i < width; ++i) {
      const bool first = Load == 1 && loads::has(0, i);
      result[static_cast<std::size_t>(i)] =
          loads::has(Load, i) ? width + loads::place(Load, i) : (first ? loads::place(0, i) : i);
    }
    return result;
  }();
  const __m512i load = _mm512_loadu_si512(from + loads::start(Load));
  return picked_of_two<sizeof(T)>(before, _mm512_load_si512(places.data()), load);
}

template <class T>
inline batch<T> as_batch(__m512i lanes) {
  if constexpr (std::same_as<T, float>)
    return _mm512_castsi512_ps(lanes);
  else if constexpr (std::same_as<T, double>)
    return _mm512_castsi512_pd(lanes);
  else
    return lanes;
}

/// The lanes of numbers from here on, each Step places after the one before.
template <int Step, class T>
inline batch<T> every(const T* from) {
  if constexpr (Step < 0) {
    const __m512i load = _mm512_loadu_si512(from - (width_of<T> - 1));
    if constexpr (sizeof(T) == 4)
      return as_batch<T>(_mm512_permutexvar_epi32(
          _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), load));
    else
      return as_batch<T>(_mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), load));
  } else {
    return [&]<int... Load>(std::integer_sequence<int, Load...>) {
      __m512i result = _mm512_loadu_si512(from);
      ((result = with_picked<Step, Load + 1>(result, from)), ...);
      return as_batch<T>(result);
    }
    (std::make_integer_sequence<int, Step - 1>{});
  }
}

/// Register `Part` of rows of as many numbers as there are columns: those of one column more
/// beside those of the columns before it.
template <std::size_t Size, int Columns, int Part, int Column>
inline __m512i with_column(__m512i before, __m512i column) {
  constexpr int width = 64 / static_cast<int>(Size);
  alignas(64) static constexpr auto places = [] {
    std::array<place_of<Size>, static_cast<std::size_t>(width)> result{};
    for (int i = 0; i < width; ++i) {
      const int number = Part * width + i;
      const int row = number / Columns;
      const bool first = Column == 1 && number % Columns == 0;
      result[static_cast<std::size_t>(i)] =
          static_cast<place_of<Size>>(number % Columns == Column ? width + row : (first ? row : i));
    }
    return result;
  }();
  return picked_of_two<Size>(before, _mm512_load_si512(places.data()), column);
}

/// Rows of neighbouring numbers from columns that lie `step` bytes apart, some whole registers of
/// them: says how many rows.
template <std::size_t Size, int Columns>
index_t interleave(std::byte* to, const std::byte* from, index_t step, index_t rows) {
  constexpr index_t width = 64 / Size;
  index_t row = 0;
  for (; row + width <= rows; row += width, from += 64, to += 64 * Columns) {
    __m512i columns[Columns];
    for (int c = 0; c < Columns; ++c) columns[c] = _mm512_loadu_si512(from + c * step);
    const auto write = [&]<int Part, int... C>(std::integer_sequence<int, Part>,
                                               std::integer_sequence<int, C...>) {
      __m512i result = columns[0];
      ((result = with_column<Size, Columns, Part, C + 1>(result, columns[C + 1])), ...);
      _mm512_storeu_si512(to + 64 * Part, result);
    };
    [&]<int... Part>(std::integer_sequence<int, Part...>) {
      (write(std::integer_sequence<int, Part>{}, std::make_integer_sequence<int, Columns - 1>{}),
       ...);
    }
    (std::make_integer_sequence<int, Columns>{});
  }
  return row;
}

#endif

template <int Step, class T>
index_t copy_every(T* out, const T* from, index_t count) {
  index_t i = 0;
  if constexpr (sizeof(T) <= 2) {
    constexpr index_t at_once = bytes_at_once / static_cast<int>(sizeof(T));
    for (; i + at_once <= count; i += at_once)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), every_short<Step>(from + i * Step));
  } else if constexpr (picks_apart<T>) {
    for (; i + width_of<T> <= count; i += width_of<T>)
      lane::store(out + i, every<Step>(from + i * Step));
  }
  return i;
}

/// What `use` makes of a step as a constant, if numbers so far apart come in whole loads; else what
/// `otherwise` gives.
template <class Use, class Otherwise>
[[gnu::always_inline]] inline auto by_whole_step(index_t step, const Use& use,
                                                 const Otherwise& otherwise) {
  switch (step) {
    case -1:
      return use(std::integral_constant<int, -1>{});
    case 2:
      return use(std::integral_constant<int, 2>{});
    case 3:
      return use(std::integral_constant<int, 3>{});
    case 4:
      return use(std::integral_constant<int, 4>{});
    default:
      return otherwise();
  }
}

}  // namespace detail

/// Copies numbers that lie `step` apart, as many of `count` as come in whole loads: says how many.
template <class T>
index_t copy_whole(T* out, const T* from, index_t step, index_t count) {
  const auto copy = [&]<int Step>(std::integral_constant<int, Step>) {
    return detail::copy_every<Step>(out, from, count);
  };
  return detail::by_whole_step(step, copy, [] { return index_t{0}; });
}

#else

template <class T>
index_t copy_whole(T* /*out*/, const T* /*from*/, index_t /*step*/, index_t /*count*/) {
  return 0;
}

#endif

/// Every step-th number, if numbers so far apart come in whole loads; else what `otherwise` gives.
template <class T, class Otherwise>
[[gnu::always_inline]] inline auto picked_apart([[maybe_unused]] const T* from,
                                                [[maybe_unused]] index_t step,
                                                const Otherwise& otherwise) {
#ifdef __AVX512F__
  if constexpr (picks_apart<T>) {
    const auto pick = [&]<int Step>(std::integral_constant<int, Step>)
        __attribute__((always_inline)) {
      return detail::every<Step>(from);
    };
    return detail::by_whole_step(step, pick, otherwise);
  } else
#endif
    return otherwise();
}

/// Copies two to four columns, each of neighbours, into rows beside each other, as many of the rows
/// as come in whole registers: says how many.
template <class T>
index_t interleave([[maybe_unused]] T* to, [[maybe_unused]] const T* from,
                   [[maybe_unused]] index_t step, [[maybe_unused]] index_t columns,
                   [[maybe_unused]] index_t rows) {
#ifdef __AVX512F__
  if constexpr (detail::picks_of_two<sizeof(T)>) {
    auto* const out = reinterpret_cast<std::byte*>(to);
    const auto* in = reinterpret_cast<const std::byte*>(from);
    const index_t apart = step * static_cast<index_t>(sizeof(T));
    if (columns == 2) return detail::interleave<sizeof(T), 2>(out, in, apart, rows);
    if (columns == 3) return detail::interleave<sizeof(T), 3>(out, in, apart, rows);
    if (columns == 4) return detail::interleave<sizeof(T), 4>(out, in, apart, rows);
    return 0;
  }
#endif
#ifdef __AVX2__
  if constexpr (sizeof(T) <= 8) {
    auto* const out = reinterpret_cast<std::byte*>(to);
    const auto* const in = reinterpret_cast<const std::byte*>(from);
    if (step != 0) return 0;
    if (columns == 2) return detail::repeat<sizeof(T), 2>(out, in, rows);
    if (columns == 3) return detail::repeat<sizeof(T), 3>(out, in, rows);
    if (columns == 4) return detail::repeat<sizeof(T), 4>(out, in, rows);
  }
#endif
  return 0;
}

}  // namespace topos::lane
