// SPDX-License-Identifier: Apache-2.0

/// Rows that indices name, combined with each other where they lie.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/gather.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace named_rows_test {

using support::on_each_real_device;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using topos::eval;
using topos::expand_dims;
using topos::index_t;
using topos::take;
using topos::tensor;

constexpr index_t table_rows = 97;
constexpr index_t groups = 5;

template <class T>
class named_rows : public testing::Test {};
using types = support::types<std::int32_t, topos::f16, double, float>;
TYPED_TEST_SUITE(named_rows, types);

TYPED_TEST(named_rows, are_combined_as_where_they_are_copied_to) {
  using T = TypeParam;
  on_each_real_device([](topos::device d) {
    for (const index_t columns : {1, 3, 16, 23, 24, 64, 65, 130}) {
      const tensor<T, 2> whole =
          topos::astype<T>(8 * tensor_on<2>(d, {table_rows, columns + 1},
                                            support::varied(table_rows * (columns + 1))));
      const tensor<T, 2> table = topos::slice(whole, {}, {1, {}});
      for (const index_t named : {1, 2, 5, 16, 20, 37, 70, 300}) {
        std::vector<std::int32_t> places;
        for (index_t i = 0; i < groups * named; ++i)
          places.push_back(static_cast<std::int32_t>(i * i * 31 % (2 * table_rows) - table_rows));
        const tensor<std::int32_t, 2> at = tensor_on<2>(d, {groups, named}, places);
        const tensor<T, 2> weights = topos::astype<T>(
            8 * tensor_on<2>(d, {groups, named}, support::varied(groups * named, 3)));
        const auto lazy = take(table, at, 0);
        const tensor<T, 3> copied = lazy;
        const auto expect_same = [&](const auto& of) {
          EXPECT_TRUE(same_bits(values_of(eval(of(lazy))), values_of(eval(of(copied)))))
              << columns << " columns, " << named << " rows";
        };
        expect_same([](const auto& x) { return sum(x, 1); });
        expect_same([&](const auto& x) { return sum(x * expand_dims(weights, 2), 1); });
        expect_same([](const auto& x) { return sum(x, 0); });
        // Beside others that are named, and what is the same for all groups.
        const auto expect_same_of_two = [&](const auto& of) {
          const auto other = take(table, topos::flip(at, 1), 0);
          EXPECT_TRUE(
              same_bits(values_of(eval(of(lazy, other))), values_of(eval(of(copied, eval(other))))))
              << columns << " columns, " << named << " rows of each";
        };
        const tensor<T, 2> same = topos::slice(copied, 0);
        expect_same_of_two([&](const auto& x, const auto& y) { return (x - y) * same; });
        expect_same_of_two([](const auto& x, const auto& y) { return sum(x * y, 2); });
        expect_same_of_two([&](const auto& x, const auto& y) { return sum(x * same + y, 1); });
        if constexpr (!support::few_types) {
          expect_same([](const auto& x) { return max(x, 1); });
          expect_same([](const auto& x) { return sum(x, 2); });
          expect_same([&](const auto& x) { return x * expand_dims(weights, 2); });
        }
      }
    }
  });
}

}  // namespace named_rows_test
