// SPDX-License-Identifier: Apache-2.0

/// Rows that indices name, updated.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/scatter.hpp>
#include <vector>

#include "../support/counted.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace scatter_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::scatter;
using topos::scatter_add;
using topos::tensor;

TEST(scatter_add, adds_to_the_rows_named) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const auto rows = vector_on<std::int32_t>(d, {2, 0, 2, -1});
    const auto updates = tensor_on<2>(d, {4, 2}, std::vector<float>{1, 1, 10, 10, 2, 2, 100, 0});
    EXPECT_EQ(values_of(scatter_add(x, rows, updates)), (std::vector<float>{11, 12, 3, 4, 108, 9}));
    EXPECT_EQ(values_of(x), (std::vector<float>{1, 2, 3, 4, 5, 6})) << "x stays as it is";
  });
}

TEST(scatter_add, drops_rows_that_are_not_there) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<std::int32_t>(d, {1, 2});
    const auto updates = vector_on<std::int32_t>(d, {10, 20, 30, 40});
    EXPECT_EQ(values_of(scatter_add(x, vector_on<std::int64_t>(d, {2, 1, -3, -2}), updates)),
              (std::vector<std::int32_t>{41, 22}));
    EXPECT_EQ(values_of(scatter_add(x, vector_on<std::uint8_t>(d, {2, 1, 255, 0}), updates)),
              (std::vector<std::int32_t>{41, 22}));
  });
}

TEST(scatter_add, takes_expressions_and_other_types) {
  on_each_device([](topos::device d) {
    const auto x = topos::zeros<float, 1>({4}, d);
    const auto rows = vector_on<std::int32_t>(d, {0, 1});
    const auto updates = vector_on<std::int32_t>(d, {5, 7});
    EXPECT_EQ(values_of(scatter_add(x + 1, rows * 2, updates * 2)),
              (std::vector<float>{11, 1, 15, 1}));
  });
}

// numpy.add.at(x, indices, 1)
TEST(scatter_add, takes_one_number_for_all) {
  on_each_device([](topos::device d) {
    const auto indices = vector_on<std::int32_t>(d, {2, 0, 2, -1, 2});
    EXPECT_EQ(values_of(scatter_add(topos::zeros<int, 1>({4}, d), indices, 1)),
              (std::vector<int>{1, 0, 3, 1}));
    EXPECT_EQ(values_of(scatter_add(topos::zeros<float, 2>({4, 2}, d), indices, 0.5)),
              (std::vector<float>{0.5, 0.5, 0, 0, 1.5, 1.5, 0.5, 0.5}));
  });
}

template <class T>
class scatter_add_of : public testing::Test {};
using types = support::types<bool, std::int8_t, std::uint64_t, topos::f16, float, double,
                             Kokkos::complex<float>>;
TYPED_TEST_SUITE(scatter_add_of, types);

TYPED_TEST(scatter_add_of, counts) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const auto x = topos::zeros<T, 1>({3}, d);
    const auto ones = topos::ones<T, 1>({4}, d);
    const auto rows = vector_on<std::int16_t>(d, {1, 2, 1, 1});
    const T one(1.0F);
    const T three = std::is_same_v<T, bool> ? one : T(3.0F);
    EXPECT_EQ(values_of(scatter_add(x, rows, ones)), (std::vector<T>{T(0.0F), three, one}));
  });
}

// Each update goes to one of 1000 rows, in the order of the list.
TEST(scatter_add, adds_in_order_on_any_number_of_threads) {
  const index_t count = 100000;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<std::int32_t>(i * 7919 % 1009);
  const std::vector<float> in = support::varied(count);
  std::vector<float> expected(1000, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 1000) expected[static_cast<std::size_t>(rows[i])] += in[i];
  }
  on_each_device([&](topos::device d) {
    const auto add = [&] {
      return values_of(
          scatter_add(topos::zeros<float, 1>({1000}, d), vector_on(d, rows), vector_on(d, in)));
    };
    EXPECT_EQ(add(), expected);
    const topos::in_place_scope scope;
    EXPECT_EQ(add(), expected);
  });
}

// Few rows of integers for many indices, which threads count for themselves, and as many rows as
// indices, which they do not.
TYPED_TEST(scatter_add_of, many_indices_counts_as_one_by_one) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t rows : {1, 100, 1009, 40000}) {
      for (const index_t count : {100, 40000, 50021}) {
        if (support::few_types && count == 40000) continue;  // a slow build walks less
        std::vector<std::int32_t> named(static_cast<std::size_t>(count));
        std::vector<T> expected(static_cast<std::size_t>(rows), T(1.0F));
        std::vector<std::uint8_t> updates(named.size());
        std::vector<T> sums = expected;
        for (std::size_t i = 0; i < named.size(); ++i) {
          named[i] = static_cast<std::int32_t>(i * 7919 % (static_cast<std::size_t>(rows) + 3)) - 1;
          updates[i] = static_cast<std::uint8_t>(i % 5);
          const index_t row = named[i] < 0 ? named[i] + rows : named[i];
          if (row >= rows) continue;
          const auto add = [&](std::vector<T>& to, const T& update) {
            const T before = to[static_cast<std::size_t>(row)];
            to[static_cast<std::size_t>(row)] =
                topos::detail::call(topos::detail::add_op{}, before, update);
          };
          add(expected, T(1.0F));
          add(sums, T(static_cast<float>(updates[i])));
        }
        const auto x = topos::ones<T, 1>({rows}, d);
        const auto indices = vector_on(d, named);

        EXPECT_EQ(values_of(scatter_add(x, indices, T(1.0F))), expected) << rows << ' ' << count;
        const auto added = topos::astype<T>(vector_on(d, updates));
        EXPECT_EQ(values_of(scatter_add(x, indices, added)), sums) << rows << ' ' << count;
        const topos::in_place_scope scope;
        EXPECT_EQ(values_of(scatter_add(x, indices, T(1.0F))), expected) << rows << ' ' << count;
      }
    }
  });
}

TEST(scatter_add, of_one_number_adds_it_to_all_columns) {
  on_each_device([](topos::device d) {
    std::vector<std::int64_t> named(30000);
    for (std::size_t i = 0; i < named.size(); ++i) named[i] = static_cast<std::int64_t>(i * i % 7);
    std::vector<std::int16_t> expected(21, 0);
    for (const std::int64_t row : named) {
      for (std::size_t c = 0; c < 3; ++c) {
        std::int16_t& to = expected[static_cast<std::size_t>(row) * 3 + c];
        to = static_cast<std::int16_t>(to + 9);  // past the largest number, round
      }
    }
    const auto x = topos::zeros<std::int16_t, 2>({7, 3}, d);
    EXPECT_EQ(values_of(scatter_add(x, vector_on(d, named), 9)), expected);
  });
}

TEST(scatter_add, of_many_rows_of_any_width_adds_each) {
  for (const index_t width : {1, 3, 40, 500}) {
    const index_t rows = width == 3 ? 1 : 37;  // fewer than threads, too
    const index_t count = 60000 / width;
    std::vector<std::int32_t> named(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < named.size(); ++i)
      named[i] = static_cast<std::int32_t>(i * 7919 % (static_cast<std::size_t>(rows) + 1));
    const auto in = support::varied<std::int32_t>(count * width);
    std::vector<std::int32_t> expected(static_cast<std::size_t>(rows * width), 5);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t to = static_cast<std::size_t>(named[i / static_cast<std::size_t>(width)]) *
                                 static_cast<std::size_t>(width) +
                             i % static_cast<std::size_t>(width);
      if (to < expected.size()) expected[to] += in[i];
    }
    on_each_device([&](topos::device d) {
      const auto x = topos::full<std::int32_t, 2>({rows, width}, 5, d);
      const auto updates = support::tensor_on<2>(d, {count, width}, in);
      EXPECT_EQ(values_of(scatter_add(x, vector_on(d, named), updates)), expected) << width;
    });
  }
}

TEST(scatter_add, of_nothing_is_a_copy) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 2>({2, 3}, d);
    const auto none = topos::zeros<std::int32_t, 1>({0}, d);
    const tensor<float, 2> y = scatter_add(x, none, topos::zeros<float, 2>({0, 3}, d));
    EXPECT_EQ(values_of(y), std::vector<float>(6, 1));
    EXPECT_NE(y.data(), x.data());
  });
}

// x[indices] = updates
TEST(scatter, keeps_the_last_update_of_a_row) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const auto rows = vector_on<std::int32_t>(d, {2, 0, 2, -1, 3});
    const auto updates = tensor_on<2>(d, {5, 2}, std::vector<float>{1, 1, 7, 8, 2, 2, 9, 0, 5, 5});
    EXPECT_EQ(values_of(scatter(x, rows, updates)), (std::vector<float>{7, 8, 3, 4, 9, 0}));
    EXPECT_EQ(values_of(scatter(x, rows, 0)), (std::vector<float>{0, 0, 3, 4, 0, 0}));
  });
}

TEST(scatter, of_many_updates_is_that_of_one_after_the_other) {
  std::vector<std::int32_t> rows(50000);
  std::vector<int> updates(rows.size());
  std::vector<int> set(1000, 7), least = set, most = set;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<std::int32_t>(i * 7919 % 1009);
    updates[i] = static_cast<int>(i * 104729 % 100003) - 50000;
    const auto row = static_cast<std::size_t>(rows[i]);
    if (row >= set.size()) continue;
    set[row] = updates[i];
    least[row] = std::min(least[row], updates[i]);
    most[row] = std::max(most[row], updates[i]);
  }
  on_each_device([&](topos::device d) {
    const auto x = topos::full<int, 1>({1000}, 7, d);
    const auto at = vector_on(d, rows), by = vector_on(d, updates);
    EXPECT_EQ(values_of(scatter(x, at, by)), set);
    EXPECT_EQ(values_of(scatter_min(x, at, by)), least);
    EXPECT_EQ(values_of(scatter_max(x, at, by)), most);
  });
}

// numpy.minimum.at, numpy.maximum.at
TEST(scatter_min_and_max, keep_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  on_each_device([&](topos::device d) {
    const auto x = vector_on<float>(d, {1, 2, nan, 4});
    const auto rows = vector_on<std::int32_t>(d, {0, 1, 2, 0, 1});
    const auto updates = vector_on<float>(d, {-3, nan, 5, 8, 6});
    EXPECT_TRUE(
        same_bits(values_of(scatter_min(x, rows, updates)), std::vector<float>{-3, nan, nan, 4}));
    EXPECT_TRUE(
        same_bits(values_of(scatter_max(x, rows, updates)), std::vector<float>{8, nan, nan, 4}));
  });
}

TEST(scatter, updates_what_is_given_away_in_place) {
  on_each_device([](topos::device d) {
    const auto rows = vector_on<std::int32_t>(d, {1, 1});
    tensor<int, 1> x = vector_on<int>(d, {1, 2, 3});
    const int* const memory = x.data();
    x = scatter_add(std::move(x), rows, 10);
    EXPECT_EQ(x.data(), memory);
    EXPECT_EQ(values_of(x), (std::vector<int>{1, 22, 3}));

    const tensor<int, 1> y = x;
    x = scatter(std::move(x), rows, vector_on<int>(d, {5, 6}));
    EXPECT_EQ(values_of(x), (std::vector<int>{1, 6, 3}));
    EXPECT_EQ(values_of(y), (std::vector<int>{1, 22, 3})) << "who shares it keeps it";

    // What is computed from x is computed before x is written.
    x = scatter(std::move(x), x - 1, x * 2);
    EXPECT_EQ(values_of(x), (std::vector<int>{2, 6, 6}));
  });
}

TEST(scatter, computes_reductions_once) {
  const auto ones = topos::ones<float, 2>({20, 30}, topos::cpu());
  const auto largest = max(map(support::counted_square{}, ones), 1);
  const auto rows = topos::arange<std::int32_t>(0, 20, 1, topos::cpu());
  const auto x = topos::ones<float, 1>({20}, topos::cpu());
  support::calls = 0;
  scatter(largest, rows, 5).block_until_ready();
  EXPECT_EQ(support::calls, 600);
  scatter(largest, rows, x).block_until_ready();
  EXPECT_EQ(support::calls, 1200);
  scatter(x, rows, largest).block_until_ready();
  EXPECT_EQ(support::calls, 1800);
}

TEST(scatter_add, refuses_updates_that_are_no_rows) {
  const auto x = topos::zeros<float, 2>({2, 3});
  const auto rows = topos::zeros<std::int32_t, 1>({4});
  const std::string message = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(scatter_add(x, rows, topos::zeros<float, 2>({4, 2})));
  });
  EXPECT_TRUE(contains(message, "(4, 2)") && contains(message, "(4, 3)")) << message;
}

}  // namespace scatter_test
