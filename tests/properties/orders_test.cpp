// SPDX-License-Identifier: Apache-2.0

/// Scans, sorts and elements by index at random: along any axis, of any shape and layout.

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <topos/expr/gather.hpp>
#include <topos/expr/split.hpp>
#include <topos/tensor/concatenate.hpp>
#include <topos/tensor/scan.hpp>
#include <topos/tensor/scatter.hpp>
#include <topos/tensor/sort.hpp>
#include <vector>

#include "../support/types.hpp"
#include "cases.hpp"

namespace order_properties_test {

using support::is_one_of;
using support::operand_on;
using support::property_case;
using topos::index_t;

constexpr std::size_t rank = 5;

// The axis that a case names, of an operand that was given more axes.
template <std::size_t Rank>
index_t axis_of(const property_case& c) {
  return c.axes("axis", Rank - c.operands[0].extents.size()).at(0);
}

index_t option(const property_case& c, const char* name) {
  return support::numbers_in(c.options.at(name)).at(0);
}

template <class T>
class order_properties : public testing::Test {};
using topos::f16;
using ordered = support::types<std::uint8_t, std::int64_t, bool, f16, topos::bf16, double, float>;
TYPED_TEST_SUITE(order_properties, ordered);

TYPED_TEST(order_properties, are_numpys) {
  using T = TypeParam;
  support::for_each_case<T>("orders", [](auto d, const auto& c, auto& run) {
    const auto x = operand_on<T, rank>(d, c.operands[0]);
    if constexpr (std::same_as<T, float>) {
      if (c.options.at("axis") == "all") return run("cumsum", [&] { return cumsum(x); });
    }
    const index_t axis = axis_of<rank>(c);
    if constexpr (is_one_of<T, std::uint8_t, f16, float>)
      run("cumsum", [&] { return cumsum(x, axis); });
    if constexpr (std::same_as<T, float>) run("cumprod", [&] { return cumprod(x, axis); });
    if constexpr (is_one_of<T, std::uint8_t, topos::bf16, double, float>)
      run("sort", [&] { return sort(x, axis); });
    if constexpr (is_one_of<T, bool, std::int64_t, f16, float>)
      run("argsort", [&] { return argsort(x, axis); });
    if constexpr (is_one_of<T, std::uint8_t, float>) {
      const auto found = [&] { return topk(x, option(c, "k"), axis); };
      run("topk_values", [&] { return found().values; });
      run("topk_indices", [&] { return found().indices; });
    }
  });
}

template <class T>
class index_properties : public testing::Test {};
using indexed = support::types<std::uint32_t, Kokkos::complex<float>, f16, float>;
TYPED_TEST_SUITE(index_properties, indexed);

TYPED_TEST(index_properties, are_numpys) {
  using T = TypeParam;
  support::for_each_case<T>("indexed", [](auto d, const auto& c, auto& run) {
    if (c.function.starts_with("scatter")) {
      const auto y = operand_on<T, 2>(d, c.operands[0]);
      const auto rows = operand_on<std::int32_t, 1>(d, c.operands[1]);
      const auto updates = operand_on<T, 2>(d, c.operands[2]);
      run("scatter", [&] { return scatter(y, rows, updates); });
      run("scatter_add", [&] { return scatter_add(y, rows, updates); });
      return;
    }
    const auto x = operand_on<T, 3>(d, c.operands[0]);
    const index_t axis = axis_of<3>(c);
    run("take", [&] { return take(x, operand_on<std::int32_t, 2>(d, c.operands[1]), axis); });
    run("gather", [&] { return gather(x, operand_on<std::int64_t, 3>(d, c.operands[1]), axis); });
    const auto all = [&] {
      std::vector parts{x};
      for (std::size_t i = 1; i < c.operands.size(); ++i)
        parts.push_back(operand_on<T, 3>(d, c.operands[i]));
      return parts;
    };
    run("concatenate", [&] { return concatenate(all(), axis); });
    run("stack", [&] { return stack(all(), axis); });
    run("split", [&] {
      const auto parts = c.options.contains("at")
                             ? split(x, support::numbers_in(c.options.at("at")), axis)
                             : split(x, option(c, "parts"), axis);
      return parts.at(static_cast<std::size_t>(option(c, "number")));
    });
  });
}

}  // namespace order_properties_test
