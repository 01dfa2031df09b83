// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Integers by a number that is the same for all elements: products in place of divisions. The
/// results are those of floor_divide_op and remainder_op.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/core/divisor.hpp>
#include <type_traits>

namespace topos::detail {

template <class T>
class number_divisor {
  using word = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;
  using whole = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<word>, word>;

 public:
  explicit number_divisor(T number) : number_(as_word(number)) {
    if constexpr (std::is_signed_v<T>) negative_ = number < T(0);
    if (number == T(0)) return;
    by_ = word_divisor<word>(negative_ != 0 ? word(0) - number_ : number_);
    kept_ = ~word(0);
  }

  friend bool operator==(const number_divisor& a, const number_divisor& b) {
    return a.number_ == b.number_;
  }

  /// The largest integer not above a / the number; 0 where that is 0.
  [[nodiscard]] KOKKOS_FUNCTION T quotient(T a) const {
    return static_cast<T>(floor(as_word(a)) & kept_);
  }

  /// What it leaves, of the number's sign; 0 where that is 0.
  [[nodiscard]] KOKKOS_FUNCTION T remainder(T a) const {
    const word x = as_word(a);
    return static_cast<T>((x - floor(x) * number_) & kept_);
  }

 private:
  KOKKOS_FUNCTION static word as_word(T a) { return static_cast<word>(static_cast<whole>(a)); }

  // Below 0, with q = floor(-(a + 1) / n): floor(a / n) = -(q + 1), which is q with its bits turned
  // round. By a number below 0 the same is done with 1 - a.
  [[nodiscard]] KOKKOS_FUNCTION word floor(word x) const {
    if constexpr (std::is_signed_v<T>) {
      const auto turned = static_cast<word>(
          word(0) - static_cast<word>(static_cast<whole>(x) < static_cast<whole>(negative_)));
      return by_.quotient((x - negative_) ^ turned) ^ turned ^ (word(0) - negative_);
    } else {
      return by_.quotient(x);
    }
  }

  word number_;
  word_divisor<word> by_;  // its size
  word negative_ = 0;      // 1 if it is
  word kept_ = 0;          // the bits of results
};

template <class T>
struct floor_divide_by {
  number_divisor<T> number;
  friend bool operator==(const floor_divide_by&, const floor_divide_by&) = default;
  KOKKOS_FUNCTION T operator()(T a) const { return number.quotient(a); }
};

template <class T>
struct remainder_by {
  number_divisor<T> number;
  friend bool operator==(const remainder_by&, const remainder_by&) = default;
  KOKKOS_FUNCTION T operator()(T a) const { return number.remainder(a); }
};

}  // namespace topos::detail
