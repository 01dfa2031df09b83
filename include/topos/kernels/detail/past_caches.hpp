// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing memory past the caches: what is written whole is not read before, and does not push out
/// what the caches hold.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <topos/expr/lanes.hpp>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace topos::detail {

/// Results of at least so many bytes go past the caches: below that, who reads them next finds them
/// there.
inline constexpr std::size_t bytes_past_caches = std::size_t{32} << 20;

/// Where `stream` writes is aligned to so many bytes.
inline constexpr std::uintptr_t stream_line = 64;

/// Whether `stream` may write lanes to an address, and to those that follow it by whole lanes.
template <class T>
[[nodiscard]] bool can_stream(const T* to) {
  return reinterpret_cast<std::uintptr_t>(to) % stream_line == 0;
}

/// How many elements lie before the first that `stream` may write to.
template <class T>
[[nodiscard]] index_t elements_to_stream(const T* to) {
  const std::uintptr_t apart = reinterpret_cast<std::uintptr_t>(to) % stream_line;
  return apart == 0 ? 0 : static_cast<index_t>((stream_line - apart) / sizeof(T));
}

#ifdef __SSE2__
/// A register to memory past the caches.
template <class Register>
void stream_register(void* to, const Register& x) {
  if constexpr (sizeof(x) == 16)
    _mm_stream_si128(static_cast<__m128i*>(to), std::bit_cast<__m128i>(x));
#ifdef __AVX__
  else if constexpr (sizeof(x) == 32)
    _mm256_stream_si256(static_cast<__m256i*>(to), std::bit_cast<__m256i>(x));
#endif
#ifdef __AVX512F__
  else if constexpr (sizeof(x) == 64)
    _mm512_stream_si512(static_cast<__m512i*>(to), std::bit_cast<__m512i>(x));
#endif
  else
    static_assert(sizeof(x) == 0, "no such register");
}
#endif

/// Lanes to memory past the caches, where the machine can; not before `fence` do others see them
/// ahead of what is written next.
template <class T, class Lanes>
void stream(T* to, const Lanes& lanes) {
#if TOPOS_HAS_XSIMD && defined(__SSE2__)
  if constexpr (std::same_as<Lanes, lane::batch<T>>) return stream_register(to, lanes);
#ifdef __AVX2__
  if constexpr (lane::is_half_with_lanes<T> && std::same_as<Lanes, lane::batch<float>>)
    return stream_register(to, lane::to_halves<T>(lanes));
#endif
#endif
  lane::store(to, lanes);
}

template <class T, class B>
void stream(Kokkos::complex<T>* to, const lane::complex_batch<B>& lanes) {
  const auto both = lane::zipped(lanes.real, lanes.imag);
  auto* const parts = reinterpret_cast<T*>(to);
  stream(parts, both.first);
  stream(parts + lane::width<T>, both.second);
}

inline void fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace topos::detail
