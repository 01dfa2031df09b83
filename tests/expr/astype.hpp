// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Every type as one other, against JAX's values.

#include <cstdint>
#include <topos/expr/elementwise.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace support {

/// In the order of topos::dtype; those that may become real ones, and all.
using real_types =
    std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
               std::uint16_t, std::uint32_t, std::uint64_t, topos::f16, topos::bf16, float, double>;
using complex_types = std::tuple<Kokkos::complex<float>, Kokkos::complex<double>>;

template <class To, class From>
void expect_converted(const std::vector<To>& expected) {
  const std::vector<From> in = rows_of<From>(named<From>("cast_source")).at(0);
  on_each_device([&](topos::device d) {
    const auto x = tensor_of(d, in);
    expect_same(named<From>("as"), values_of(topos::eval(topos::astype<To>(x))), expected);
  });
}

/// Expects JAX's values of all types' edges as To.
template <class To>
void expect_all_converted() {
  const std::vector<std::vector<To>> expected = rows_of<To>(named<To>("cast"));
  std::size_t row = 0;
  const auto convert = [&]<class... From>(const std::tuple<From...>* /*types*/) {
    (expect_converted<To, From>(expected.at(row++)), ...);
  };
  convert(static_cast<const real_types*>(nullptr));
  if constexpr (is_complex<To>) convert(static_cast<const complex_types*>(nullptr));
  EXPECT_EQ(row, expected.size());
}

}  // namespace support
