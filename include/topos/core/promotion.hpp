// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The type of a result: JAX's type promotion.
///
/// Types rise along bool, integers, bf16 and f16, float, double, complex; an integer never widens a
/// float. Scalars of C++ are weak: they take the type of the array they meet, and rise only from
/// bool to an integer, from an integer to float, from a real type to complex.
/// See "Type promotion semantics" in JAX's documentation.

#include <concepts>
#include <cstdint>
#include <topos/core/dtype.hpp>
#include <type_traits>

namespace topos {

namespace detail {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Kokkos::complex<T>> = true;

template <class T>
inline constexpr bool is_half = std::same_as<T, f16> || std::same_as<T, bf16>;

template <class T>
inline constexpr bool is_real_floating = std::floating_point<T> || is_half<T>;

template <class T>
inline constexpr bool is_integer = std::integral<T> && !std::same_as<T, bool>;

/// The type of bounds between which integers of type T lie: one beyond T's largest is a bound, too.
template <class T>
using integer_bound =
    std::conditional_t<std::same_as<T, std::uint64_t>, std::uint64_t, std::int64_t>;

/// The real type of a complex one; any other type itself.
template <class T>
struct real_part {
  using type = T;
};
template <class T>
struct real_part<Kokkos::complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename real_part<T>::type;

template <std::size_t Bytes>
using signed_of_size = std::conditional_t<
    Bytes <= 1, std::int8_t,
    std::conditional_t<Bytes <= 2, std::int16_t,
                       std::conditional_t<Bytes <= 4, std::int32_t, std::int64_t>>>;

template <class A, class B>
struct promotion {
  static constexpr auto choose() {
    if constexpr (std::same_as<A, B> || std::same_as<B, bool>) {
      return std::type_identity<A>{};
    } else if constexpr (std::same_as<A, bool>) {
      return std::type_identity<B>{};
    } else if constexpr (is_complex<A> || is_complex<B>) {
      using real = typename promotion<real_t<A>, real_t<B>>::type;
      return std::type_identity<
          Kokkos::complex<std::conditional_t<std::same_as<real, double>, double, float>>>{};
    } else if constexpr (is_real_floating<A> && is_real_floating<B>) {
      if constexpr (is_half<A> && is_half<B>)
        return std::type_identity<float>{};
      else
        return std::type_identity<std::conditional_t<(sizeof(A) > sizeof(B)), A, B>>{};
    } else if constexpr (is_real_floating<A>) {
      return std::type_identity<A>{};
    } else if constexpr (is_real_floating<B>) {
      return std::type_identity<B>{};
    } else if constexpr (std::is_signed_v<A> == std::is_signed_v<B>) {
      return std::type_identity<std::conditional_t<(sizeof(A) > sizeof(B)), A, B>>{};
    } else {
      constexpr std::size_t of_signed = std::is_signed_v<A> ? sizeof(A) : sizeof(B);
      constexpr std::size_t of_unsigned = std::is_signed_v<A> ? sizeof(B) : sizeof(A);
      if constexpr (of_signed > of_unsigned)
        return std::type_identity<signed_of_size<of_signed>>{};
      else if constexpr (of_unsigned < 8)
        return std::type_identity<signed_of_size<2 * of_unsigned>>{};
      else
        return std::type_identity<float>{};  // no integer holds both
    }
  }
  using type = typename decltype(choose())::type;
};

/// A scalar of C++, which takes the type of the array that it meets.
template <class S>
concept scalar = std::integral<S> || std::floating_point<S> || is_complex<S> || is_half<S>;

template <class T, class S>
struct weak_promotion {
  static constexpr auto choose() {
    if constexpr (is_complex<S>) {
      if constexpr (is_complex<T>)
        return std::type_identity<T>{};
      else
        return std::type_identity<
            Kokkos::complex<std::conditional_t<std::same_as<T, double>, double, float>>>{};
    } else if constexpr (is_real_floating<S>) {
      return std::type_identity<std::conditional_t<std::integral<T>, float, T>>{};
    } else if constexpr (is_integer<S>) {
      return std::type_identity<std::conditional_t<std::same_as<T, bool>, std::int32_t, T>>{};
    } else {
      return std::type_identity<T>{};
    }
  }
  using type = typename decltype(choose())::type;
};

/// The type in which functions of real numbers compute: integers become float.
template <class T>
using floating_t = std::conditional_t<std::integral<T>, float, T>;

}  // namespace detail

/// The type of an operation on elements of two types.
template <element A, element B>
using promote_t = typename detail::promotion<A, B>::type;

/// The type of an operation on elements of type T and a scalar of C++.
template <element T, detail::scalar S>
using weak_promote_t = typename detail::weak_promotion<T, S>::type;

}  // namespace topos
