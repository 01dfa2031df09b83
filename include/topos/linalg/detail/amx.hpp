// SPDX-License-Identifier: Apache-2.0
#pragma once

/// AMX, the matrix unit of some x86 CPUs: the one place that knows its instructions.
///
/// A tile register holds 16 rows of 64 bytes. One instruction adds the products of a tile of rows
/// of x and a tile of columns of w, 64 terms deep, to 16 by 16 sums of 32 bits. See Intel's
/// "Architecture Instruction Set Extensions Programming Reference", chapter 3.

#include <topos/core/config.hpp>

#if TOPOS_HAS_AMX

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

/// Before a function that may use AMX and the AVX-512 that every CPU with AMX has, in a build for
/// any x86 CPU.
#define TOPOS_AMX_FUNCTION \
  __attribute__((target("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512vbmi")))

namespace topos::detail::amx {

/// Rows, and terms, of a tile of x; columns of one of w, and of sums.
inline constexpr index_t tile_rows = 16;
inline constexpr index_t tile_depth = 64;
inline constexpr index_t tile_bytes = tile_rows * tile_depth;

/// All 16 lanes. What is not masked starts from undefined lanes, of which gcc 12 warns.
inline constexpr __mmask16 all_lanes = 0xffff;

/// A number is three digits to the base 256, each from -128 to 127: d0 + d1 / 256 + d2 / 65536, in
/// the unit of its row, of which the largest is almost 127.5.
inline constexpr index_t digits = 3;
inline constexpr float largest_number = 8355700.0f;  // times 65536; below 127, 127, 127
inline constexpr index_t step_bytes = digits * tile_bytes;

/// Sums of one tile of the result: of each of four places of digits, one after the other.
inline constexpr index_t sums_of_place = tile_rows * tile_rows;
inline constexpr index_t sums_of_tile = 4 * sums_of_place;

/// Whether this CPU has it and the system lets this process use it: asked for once. Linux grants
/// it only where the alternate signal stacks that there are have room for the tiles, some 12 KB,
/// and refuses smaller ones from then on.
[[nodiscard]] inline bool available() {
  static const bool here = [] {
    constexpr unsigned wide = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;
    constexpr unsigned permutes = 1u << 1;               // AVX512_VBMI
    constexpr unsigned units = (1u << 24) | (1u << 25);  // AMX-TILE, AMX-INT8
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    if ((b & wide) != wide || (c & permutes) == 0 || (d & units) != units) return false;
    constexpr unsigned saved = 0x600e6;  // what the system saves: all of AVX-512's, and tiles
    unsigned low = 0;
    asm volatile("xgetbv" : "=a"(low) : "c"(0) : "edx");
    if ((low & saved) != saved) return false;
    constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr long tile_data = 18;               // XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return here;
}

/// Lets the calling thread use its tile registers, all of full size, while it lives.
class tile_registers {
 public:
  TOPOS_AMX_FUNCTION tile_registers() {
    struct alignas(64) {
      std::uint8_t palette = 1;
      std::uint8_t start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } sizes;
    // gcc 12 does not know that the instruction reads all of it.
    asm volatile("" : : "r"(&sizes) : "memory");
    _tile_loadconfig(&sizes);
  }
  TOPOS_AMX_FUNCTION ~tile_registers() { _tile_release(); }
  tile_registers(const tile_registers&) = delete;
  tile_registers& operator=(const tile_registers&) = delete;
};

/// The first `count` of 16 lanes, or all of them.
TOPOS_AMX_FUNCTION inline __mmask16 first_lanes(index_t count) {
  return count >= 16 ? all_lanes : static_cast<__mmask16>((1u << count) - 1);
}

/// The largest magnitude of a row, or 2^-104 where all are smaller; NaN if one is not finite.
TOPOS_AMX_FUNCTION inline float largest_of(const float* x, index_t count) {
  __m512 largest = _mm512_set1_ps(0x1p-104f);
  __m512 not_finite = _mm512_setzero_ps();
  for (index_t i = 0; i < count; i += 16) {
    const __m512 v = _mm512_maskz_loadu_ps(first_lanes(count - i), x + i);
    largest = _mm512_maskz_max_ps(all_lanes, largest, _mm512_abs_ps(v));
    not_finite = _mm512_fmadd_ps(v, _mm512_setzero_ps(), not_finite);
  }
  alignas(64) float lanes[16];
  alignas(64) float zeros[16];
  _mm512_store_ps(lanes, largest);
  _mm512_store_ps(zeros, not_finite);
  float result = 0;
  float zero = 0;
  for (int i = 0; i < 16; ++i) {
    result = std::max(result, lanes[i]);
    zero += zeros[i];
  }
  return result + zero;
}

/// Byte `digit` of each of 64 numbers.
TOPOS_AMX_FUNCTION inline __m512i bytes_of(const __m512i (&numbers)[4], char digit) {
  const __m512i every_fourth = _mm512_add_epi8(
      _mm512_set1_epi8(digit),
      _mm512_set_epi32(0x7c787470, 0x6c686460, 0x5c585450, 0x4c484440, 0x3c383430, 0x2c282420,
                       0x1c181410, 0x0c080400, 0x7c787470, 0x6c686460, 0x5c585450, 0x4c484440,
                       0x3c383430, 0x2c282420, 0x1c181410, 0x0c080400));
  return _mm512_mask_blend_epi8(0xffffffff00000000,
                                _mm512_permutex2var_epi8(numbers[0], every_fourth, numbers[1]),
                                _mm512_permutex2var_epi8(numbers[2], every_fourth, numbers[3]));
}

/// Writes the digits of a row, those of 64 numbers `step_distance` bytes after those of the 64
/// before, each digit `digit_distance` bytes after the one before. Returns the row's unit.
TOPOS_AMX_FUNCTION inline float split_row(const float* x, index_t count, std::int8_t* to,
                                          index_t step_distance, index_t digit_distance) {
  const float whole_numbers = largest_number / largest_of(x, count);
  const __m512 scale = _mm512_set1_ps(whole_numbers);
  const __m512i middle = _mm512_set1_epi32(0x808080);
  for (index_t i = 0; i < count; i += tile_depth, to += step_distance) {
    __m512i numbers[4];
    for (index_t part = 0; part < 4; ++part) {
      const index_t from = i + 16 * part;
      const __mmask16 these = from < count ? first_lanes(count - from) : __mmask16{0};
      const __m512 v = _mm512_maskz_loadu_ps(these, x + from);
      // The bytes of whole + 0x808080 are the digits, each greater by 128.
      const __m512i whole = _mm512_maskz_cvtps_epi32(all_lanes, _mm512_mul_ps(v, scale));
      numbers[part] = _mm512_xor_si512(_mm512_add_epi32(whole, middle), middle);
    }
    _mm512_storeu_si512(to, bytes_of(numbers, 2));
    _mm512_storeu_si512(to + digit_distance, bytes_of(numbers, 1));
    _mm512_storeu_si512(to + 2 * digit_distance, bytes_of(numbers, 0));
  }
  return 65536 / whole_numbers;
}

/// What becomes of the sums of one tile.
struct tile_result {
  const std::int32_t* sums;  // of products of digits i and j, by i + j
  float* y;                  // its place in the result
  index_t y_row;             // the distance of its rows
  index_t rows;
  const float* x_units;  // of its rows
  const float* w_units;  // of its columns
  const float* bias;     // of its columns, or null
  index_t columns;
  bool first;  // of the terms
  bool last;
};

/// Rows [from, to) of a tile of y.
TOPOS_AMX_FUNCTION inline void add_up(const tile_result& s, index_t from, index_t to) {
  const __mmask16 these = first_lanes(s.columns);
  const __m512 w_units = _mm512_maskz_loadu_ps(these, s.w_units);
  const __m512 bias =
      s.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(these, s.bias);
  for (index_t r = from; r < to; ++r) {
    const std::int32_t* of = s.sums + r * tile_rows;
    const __m512 digit = _mm512_set1_ps(0x1p-8f);
    __m512 total = _mm512_setzero_ps();
    for (index_t place = 3; place >= 0; --place) {
      const __m512i sum = _mm512_load_si512(of + place * sums_of_place);
      total = _mm512_fmadd_ps(total, digit, _mm512_maskz_cvtepi32_ps(all_lanes, sum));
    }
    float* y = s.y + r * s.y_row;
    if (!s.first) total = _mm512_add_ps(total, _mm512_maskz_loadu_ps(these, y));
    if (s.last) {
      // Sums of very large numbers would overflow before they meet small ones of w.
      const float held = s.x_units[r] > 0x1p40f ? 0x1p-40f : 1.0f;
      total = _mm512_mul_ps(total, _mm512_set1_ps(held * s.x_units[r]));
      total = _mm512_mul_ps(total, w_units);
      total = _mm512_fmadd_ps(total, _mm512_set1_ps(1 / held), bias);
    }
    _mm512_mask_storeu_ps(y, these, total);
  }
}

/// Steps that one sum of 32 bits has room for: three products of digits a term.
inline constexpr index_t most_steps =
    std::numeric_limits<std::int32_t>::max() / (3 * tile_depth * 128 * 128);

/// The sums of `steps` steps, at most most_steps, of one tile of x and one of w. Meanwhile it adds
/// up those of the tile before, which the vector units do while the matrix unit works.
TOPOS_AMX_FUNCTION inline void multiply_tile(const std::int8_t* x, const std::int8_t* w,
                                             index_t steps, std::int32_t* sums,
                                             const tile_result& before) {
  constexpr int row_bytes = tile_depth;
  const index_t share = (tile_rows + steps - 1) / steps;
  asm volatile("" : : : "memory");  // gcc 12 does not know that loads of tiles read memory
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  index_t done = 0;
  for (index_t s = 0; s < steps; ++s, x += step_bytes, w += step_bytes) {
    // Sums of one register as far apart as can be: each takes 52 cycles, and one can begin every
    // 16. Registers 4 to 6 hold the digits of x, register 7 one of w.
    _tile_loadd(7, w, row_bytes);
    _tile_loadd(4, x, row_bytes);
    _tile_dpbssd(0, 4, 7);
    _tile_loadd(5, x + tile_bytes, row_bytes);
    _tile_dpbssd(1, 5, 7);
    _tile_loadd(6, x + 2 * tile_bytes, row_bytes);
    _tile_dpbssd(2, 6, 7);
    _tile_loadd(7, w + tile_bytes, row_bytes);
    _tile_dpbssd(3, 6, 7);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 7);
    _tile_loadd(7, w + 2 * tile_bytes, row_bytes);
    _tile_dpbssd(3, 5, 7);
    _tile_dpbssd(2, 4, 7);
    const index_t until = std::min(before.rows, done + share);
    add_up(before, done, until);
    done = until;
  }
  _tile_stored(0, sums, row_bytes);
  _tile_stored(1, sums + sums_of_place, row_bytes);
  _tile_stored(2, sums + 2 * sums_of_place, row_bytes);
  _tile_stored(3, sums + 3 * sums_of_place, row_bytes);
}

}  // namespace topos::detail::amx

#endif
