// SPDX-License-Identifier: Apache-2.0

/// Random numbers that are combined where they are drawn: the same as if they had been written
/// down.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <topos/random/integers.hpp>
#include <topos/random/normal.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/scan.hpp>
#include <topos/tensor/statistics.hpp>
#include <utility>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace paired_runs_test {

namespace random = topos::random;
using support::values_of;
using topos::index_t;
using topos::tensor;

// Beside a chunk, and such that the second half has as many chunks as the first or one fewer.
constexpr index_t sizes[] = {1, 2, 33, 4095, 4096, 4097, 8191, 8192, 8193, 8194, 12289, 40003};

const random::key keys[] = {random::key{1}, random::key{2, random::layout::partitionable}};

// That all elements of an expression are combined, and none twice.
template <class X>
void expect_combined(const X& drawn) {
  using T = typename X::value_type;
  const tensor<T, X::rank> made = drawn;
  const auto total = static_cast<double>(sum(made).item());
  EXPECT_EQ(argmin(drawn).item(), argmin(made).item());
  EXPECT_EQ(max(drawn).item(), max(made).item());
  EXPECT_NEAR(static_cast<double>(sum(drawn).item()), total, 1e-6 * total);
}

TEST(paired_runs, of_all_elements_are_those_drawn) {
  support::on_each_device([](topos::device d) {
    for (const random::key& key : keys) {
      for (const index_t n : sizes) {
        if (support::few_types && n > 20000) continue;  // a slow build draws fewer
        SCOPED_TRACE(n);
        expect_combined(random::uniform(key, {n}, d));
        expect_combined(random::uniform<double>(key, {n}, d));
        expect_combined(random::randint(key, {n}, 0, 1000, d));
      }
    }
  });
}

TEST(paired_runs, of_rows_are_those_of_written_ones) {
  support::on_each_device([](topos::device d) {
    for (const random::key& key : keys) {
      for (const auto& [rows, columns] : std::vector<std::pair<index_t, index_t>>{
               {2, 3}, {3, 7}, {2000, 4}, {64, 64}, {6, 1000}, {5, 1000}, {2, 3000}, {4, 5000}}) {
        if (support::few_types && rows * columns > 10000) continue;
        SCOPED_TRACE(rows);
        const auto drawn = random::normal(key, {rows, columns}, d);
        const tensor<float, 2> made = drawn;
        const tensor<float, 1> error = abs(sum(drawn, 1) - sum(made, 1));
        EXPECT_LT(max(error).item(), 1e-3f);
        EXPECT_EQ(values_of(topos::eval(max(drawn, 1))), values_of(topos::eval(max(made, 1))));
        EXPECT_EQ(values_of(topos::eval(max(drawn, 0))), values_of(topos::eval(max(made, 0))));
        EXPECT_EQ(values_of(topos::eval(argmax(drawn, 1))),
                  values_of(topos::eval(argmax(made, 1))));
        EXPECT_EQ(values_of(topos::eval(count_nonzero(drawn < 0, 1))),
                  values_of(topos::eval(count_nonzero(made < 0, 1))));
        EXPECT_EQ(values_of(topos::eval(argmax(drawn))), values_of(topos::eval(argmax(made))));
      }
    }
  });
}

TEST(paired_runs, are_shared_by_results_of_one_pass) {
  support::on_each_device([](topos::device d) {
    for (const index_t n : {100, 4096, 30001}) {
      const auto drawn = random::uniform(random::key{3}, {n}, d) * 2.0f;

      const auto [low, high, mean] = topos::eval(min(drawn), max(drawn), topos::mean(drawn));

      EXPECT_EQ(low.item(), min(drawn).item());
      EXPECT_EQ(high.item(), max(drawn).item());
      EXPECT_EQ(mean.item(), topos::mean(drawn).item());
    }
  });
}

TEST(paired_runs, take_numbers_that_others_stand_beside) {
  support::on_each_device([](topos::device d) {
    constexpr index_t n = 20001;
    const auto x = random::uniform(random::key{1}, {n}, d);
    const auto y = random::uniform(random::key{2}, {n}, d);
    const tensor<float, 1> made_x = x;
    const tensor<float, 1> made_y = y;
    const auto inside = x * x + y * y < 1.0f;
    const auto made_inside = made_x * made_x + made_y * made_y < 1.0f;

    EXPECT_EQ(count_nonzero(inside).item(), count_nonzero(made_inside).item());
    EXPECT_EQ(sum(inside).item(), sum(made_inside).item());
    EXPECT_EQ(max(x - made_y).item(), max(made_x - made_y).item());
    EXPECT_EQ(argmax(x - made_y).item(), argmax(made_x - made_y).item());
    EXPECT_NEAR(topos::var(x).item(), topos::var(made_x).item(), 1e-7);
  });
}

TEST(paired_runs, are_reshaped_and_scanned) {
  support::on_each_device([](topos::device d) {
    for (const auto& [rows, columns] : std::vector<std::pair<index_t, index_t>>{
             {1, 3}, {2, 5000}, {100, 70}, {12, 5000}, {3, 4097}}) {
      const auto drawn = random::normal(random::key{4}, {rows, columns}, d);
      const tensor<float, 2> made = drawn;
      EXPECT_EQ(values_of(topos::eval(topos::reshape(drawn, {columns, rows}))),
                values_of(made.reshape({columns, rows})));
      EXPECT_EQ(values_of(cumsum(drawn, 1)), values_of(cumsum(made, 1)));
      EXPECT_EQ(values_of(cumsum(drawn, 0)), values_of(cumsum(made, 0)));
      EXPECT_EQ(values_of(cummax(drawn)), values_of(cummax(made)));
      EXPECT_EQ(values_of(cumsum(drawn < 0)), values_of(cumsum(made < 0)));
      EXPECT_EQ(values_of(cumsum(exp(made) < 1, 1)),
                values_of(cumsum(topos::eval(exp(made) < 1), 1)));
    }
  });
}

}  // namespace paired_runs_test
