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

/// Expects the same of a float among others as of it alone, wherever it comes.
template <class To>
void expect_converted_among_others() {
  const std::vector<float> edges = rows_of<float>(named<float>("cast_source")).at(0);
  std::vector<To> each;
  for (const float x : edges) {
    const topos::tensor<To, 1> alone = topos::astype<To>(tensor_of(topos::cpu(), std::vector{x}));
    each.push_back(values_of(alone)[0]);
  }
  for (const std::size_t count : {15, 16, 17, 40, 999}) {
    std::vector<float> many(count);
    std::vector<To> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      many[i] = edges[i * 7 % edges.size()];
      expected[i] = each[i * 7 % edges.size()];
    }
    on_each_device([&](topos::device d) {
      const auto x = tensor_of(d, many);
      EXPECT_EQ(values_of(topos::eval(topos::astype<To>(x))), expected) << count;
      EXPECT_EQ(values_of(topos::eval(topos::astype<To>(x * 1.0f))), expected) << count;
    });
  }
}

}  // namespace support
