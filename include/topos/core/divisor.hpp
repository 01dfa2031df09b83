// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Division by a number that is known before, as a kernel's extents are: a division of 64 bits
/// takes a processor as long as dozens of sums, and a GPU longer.

#include <bit>
#include <cstdint>
#include <topos/core/config.hpp>

namespace topos::detail {

/// A number to divide by; by 0 nothing is. Numbers below 2^31 are multiplied and shifted: Granlund
/// and Montgomery, Division by Invariant Integers using Multiplication (PLDI 1994), figure 4.1.
class divisor {
 public:
  constexpr divisor() = default;
  constexpr divisor(index_t number) : number_(number) {  // NOLINT: it stands for the number
    if (number <= 0 || number >= most) return;
    shift_ = std::bit_width(static_cast<std::uint32_t>(number) - 1);
    const std::uint64_t above = (std::uint64_t{1} << shift_) - static_cast<std::uint64_t>(number);
    factor_ = static_cast<std::uint32_t>((above << 32) / static_cast<std::uint64_t>(number) + 1);
    below_ = most;
  }

  KOKKOS_FUNCTION constexpr operator index_t() const { return number_; }  // NOLINT

  /// n / the number, cut off, of n >= 0.
  [[nodiscard]] KOKKOS_FUNCTION index_t quotient(index_t n) const {
    if (n >= below_) return n / number_;
    const auto x = static_cast<std::uint64_t>(n);
    return static_cast<index_t>(((x * factor_ >> 32) + x) >> shift_);
  }

  friend bool operator==(const divisor& a, const divisor& b) { return a.number_ == b.number_; }

 private:
  static constexpr index_t most = index_t{1} << 31;

  index_t number_ = 1;
  index_t below_ = 0;  // what is multiplied
  std::uint32_t factor_ = 1;
  int shift_ = 0;
};

}  // namespace topos::detail
