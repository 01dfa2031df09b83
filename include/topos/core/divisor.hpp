// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Division by a number that is known before, as a kernel's extents are: a division of 64 bits
/// takes a processor as long as dozens of sums, and a GPU longer. In its place are a product and
/// shifts: Granlund and Montgomery, Division by Invariant Integers using Multiplication (PLDI
/// 1994), figure 4.1.

#include <bit>
#include <cstdint>
#include <limits>
#include <topos/core/config.hpp>
#include <type_traits>

namespace topos::detail {

/// Divides words of 32 or 64 bits, all that there are, by a number that is not 0.
template <class Word>
class word_divisor {
  static constexpr int bits = std::numeric_limits<Word>::digits;
  __extension__ using product =
      std::conditional_t<bits == 32, std::uint64_t, unsigned __int128>;  // of two words

 public:
  constexpr word_divisor() = default;  // by 1
  constexpr explicit word_divisor(Word number) : length_(std::bit_width(Word(number - 1))) {
    const product above = (product{1} << length_) - number;
    factor_ = static_cast<Word>((above << bits) / number + 1);
  }

  /// n / the number, cut off.
  [[nodiscard]] KOKKOS_FUNCTION Word quotient(Word n) const {
    const int some = length_ != 0;
    const Word high = high_word(factor_, n);
    return static_cast<Word>(high + ((n - high) >> some)) >> (length_ - some);
  }

 private:
  // The product's upper half. Of 64 bits it is put together of products that there are lanes of.
  KOKKOS_FUNCTION static Word high_word(Word a, Word b) {
    if constexpr (bits == 32) {
      return static_cast<Word>(std::uint64_t{a} * b >> 32);
    } else {
      constexpr Word low = 0xFFFFFFFF;
      const Word of_lows = (a & low) * (b & low);
      const Word left = (a >> 32) * (b & low) + (of_lows >> 32);  // has no carry
      const Word right = (a & low) * (b >> 32) + (left & low);    // nor this
      return (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
    }
  }

  Word factor_ = 1;
  int length_ = 0;  // of the number less one, in bits
};

/// A number to divide by; by 0 nothing is.
class divisor {
 public:
  constexpr divisor() = default;
  constexpr divisor(index_t number) : number_(number) {  // NOLINT: it stands for the number
    if (number <= 0 || number >= most) return;
    words_ = word_divisor<std::uint32_t>(static_cast<std::uint32_t>(number));
    below_ = most;
  }

  KOKKOS_FUNCTION constexpr operator index_t() const { return number_; }  // NOLINT

  /// n / the number, cut off, of n >= 0.
  [[nodiscard]] KOKKOS_FUNCTION index_t quotient(index_t n) const {
    if (n >= below_) return n / number_;
    return words_.quotient(static_cast<std::uint32_t>(n));
  }

  friend bool operator==(const divisor& a, const divisor& b) { return a.number_ == b.number_; }

 private:
  static constexpr index_t most = index_t{1} << 32;

  index_t number_ = 1;
  index_t below_ = 0;  // what is multiplied
  word_divisor<std::uint32_t> words_;
};

}  // namespace topos::detail
