// SPDX-License-Identifier: Apache-2.0

/// Arithmetic, comparisons and bits of two types at random: shapes that broadcast, and views.

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <utility>

#include "../support/types.hpp"
#include "cases.hpp"

namespace elementwise_properties_test {

using support::operand_on;

constexpr std::size_t rank = 5;

template <class Pair>
class elementwise_properties : public testing::Test {};
using c64 = Kokkos::complex<float>;
using types =
    support::types<std::pair<bool, std::uint8_t>, std::pair<std::int8_t, std::uint8_t>,
                   std::pair<std::uint32_t, std::int32_t>, std::pair<std::int64_t, std::uint64_t>,
                   std::pair<std::uint16_t, topos::f16>, std::pair<topos::f16, topos::bf16>,
                   std::pair<topos::bf16, std::int64_t>, std::pair<bool, double>,
                   std::pair<float, c64>, std::pair<c64, double>,
                   std::pair<std::int32_t, std::int32_t>, std::pair<double, float>>;
TYPED_TEST_SUITE(elementwise_properties, types);

TYPED_TEST(elementwise_properties, are_numpys) {
  using A = typename TypeParam::first_type;
  using B = typename TypeParam::second_type;
  using T = topos::promote_t<A, B>;
  support::for_each_case<A, B>("elementwise", [](auto d, const auto& c, auto& run) {
    const auto a = operand_on<A, rank>(d, c.operands[0]);
    const auto b = operand_on<B, rank>(d, c.operands[1]);
    run("add", [&] { return a + b; });
    run("multiply", [&] { return a * b; });
    run("divide", [&] { return a / b; }, {topos::detail::is_complex<T> ? 4.0 : 0.0, 0});
    run("where", [&] { return where(operand_on<bool, rank>(d, c.operands[2]), a, b); });
    if constexpr (topos::detail::is_complex<T>) {
      run("equal", [&] { return equal(a, b); });
    } else {
      run("less", [&] { return a < b; });
      run("clip", [&] { return clip(a, b, operand_on<B, rank>(d, c.operands[2])); });
    }
    if constexpr (std::integral<T>) {
      run("floor_divide", [&] { return floor_divide(a, b); });
      run("bitwise_xor", [&] { return a ^ b; });
      run("right_shift", [&] { return a >> b; });
    } else {
      run("subtract", [&] { return a - b; });
      if constexpr (!topos::detail::is_complex<T>) run("remainder", [&] { return a % b; });
    }
  });
}

}  // namespace elementwise_properties_test
