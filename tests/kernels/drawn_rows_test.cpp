// SPDX-License-Identifier: Apache-2.0

/// Integers that are made of lanes of another type, combined: counts of truths, rounded numbers.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/math.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>

#include "../support/devices.hpp"

namespace drawn_rows_test {

using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;

// 0, 0.5, 1 and so on, in an order of their own.
tensor<float, 1> some(index_t n, const topos::device& d) {
  return 0.5f * topos::astype<float>(topos::arange<std::int32_t>(0, n, 1, d) * 7 % 64);
}

TEST(drawn_rows, of_truths_are_counted) {
  support::on_each_device([](topos::device d) {
    for (const index_t n : {0, 1, 7, 16, 63, 64, 65, 2047, 2048, 2049, 4096, 4097, 50001}) {
      const tensor<float, 1> x = some(n, d);
      std::int64_t expected = 0;
      for (index_t i = 0; i < n; ++i) expected += i * 7 % 64 < 20;

      EXPECT_EQ(count_nonzero(x < 10.0f).item(), expected) << n;
      EXPECT_EQ(sum(exp(x) < std::exp(9.75f)).item(), expected) << n;
      EXPECT_EQ(count_nonzero(slice(x, topos::range{{}, {}, -1}) < 10.0f).item(), expected) << n;
    }
  });
}

TEST(drawn_rows, are_combined_along_either_axis) {
  support::on_each_device([](topos::device d) {
    for (const auto& [rows, columns] : std::vector<std::pair<index_t, index_t>>{
             {3, 5}, {40, 3}, {300, 20}, {50, 111}, {7, 700}, {3, 5000}}) {
      const auto x = some(rows * columns, d).reshape({rows, columns});
      const tensor<bool, 2> truths = exp(x) < 100.0f;
      const tensor<std::int32_t, 2> whole = topos::astype<std::int32_t>(round(sqrt(x) * 10.0f));
      for (const index_t axis : {0, 1}) {
        EXPECT_EQ(values_of(eval(count_nonzero(exp(x) < 100.0f, axis))),
                  values_of(eval(count_nonzero(truths, axis))));
        EXPECT_EQ(values_of(eval(sum(topos::astype<std::int32_t>(round(sqrt(x) * 10.0f)), axis))),
                  values_of(eval(sum(whole, axis))));
        EXPECT_EQ(values_of(eval(max(topos::astype<std::int32_t>(round(sqrt(x) * 10.0f)), axis))),
                  values_of(eval(max(whole, axis))));
        EXPECT_EQ(
            values_of(eval(argmax(topos::astype<std::int32_t>(round(sqrt(x) * 10.0f)), axis))),
            values_of(eval(argmax(whole, axis))));
      }
    }
  });
}

}  // namespace drawn_rows_test
