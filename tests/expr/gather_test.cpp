// SPDX-License-Identifier: Apache-2.0

/// Rows picked by index, alone and inside a larger expression.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace gather_test {

using support::contains;
using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::index_t;
using topos::take;
using topos::tensor;

std::vector<float> picked(const std::vector<float>& table, index_t columns,
                          const std::vector<std::int32_t>& rows) {
  std::vector<float> result;
  for (const std::int32_t r : rows) {
    result.insert(result.end(), table.begin() + r * columns, table.begin() + (r + 1) * columns);
  }
  return result;
}

TEST(take, gives_the_rows_of_the_indices) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 7, 17, 33, 4097}) {
      const std::vector<float> table = support::varied(5 * columns);
      const std::vector<std::int32_t> rows{4, 0, 0, 3, 2, 4};

      const tensor<float, 2> y = take(tensor_on<2>(d, {5, columns}, table), vector_on(d, rows));

      EXPECT_EQ(y.shape(), (topos::shape<2>{6, columns}));
      EXPECT_EQ(values_of(y), picked(table, columns, rows)) << columns;
    }
  });
}

TEST(take, counts_negative_indices_from_the_end_and_clamps_others) {
  on_each_device([](topos::device d) {
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
    const std::vector<float> table{1, 2, 3};

    const tensor<float, 2> y =
        take(tensor_on<2>(d, {3, 1}, table),
             vector_on<std::int32_t>(d, {-1, 3, lowest, highest, 1, -3, -4}));

    EXPECT_EQ(values_of(y), (std::vector<float>{3, 3, 1, 3, 2, 1, 1}));
  });
}

template <class T>
class of_a_lazy_table : public testing::Test {};
using table_types = support::types<float, double, std::int32_t, std::uint8_t, topos::f16, bool>;
TYPED_TEST_SUITE(of_a_lazy_table, table_types);

// Whether it is computed once, for as many picks as it has elements, or at each pick.
TYPED_TEST(of_a_lazy_table, picks_are_as_of_a_tensor) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    constexpr index_t rows = 6;
    for (const index_t columns : {1, 5, 40}) {
      const auto numbers =
          reshape(topos::arange<float>(rows * columns, d), topos::shape<2>{rows, columns});
      const auto table = topos::astype<T>(numbers * numbers - 9 * numbers > 0);
      const auto line = reshape(table, topos::shape<1>{-1});
      const tensor<T, 2> made = table;
      const tensor<T, 1> made_line = line;
      for (const index_t picks : {1, 4, 6, 300}) {
        SCOPED_TRACE(picks);
        const tensor<std::int32_t, 1> at = topos::arange<std::int32_t>(picks, d) * 5 % 7 - 1;
        EXPECT_EQ(values_of(eval(take(table, at))), values_of(eval(take(made, at))));
        EXPECT_EQ(values_of(eval(take(table, at, 1))), values_of(eval(take(made, at, 1))));
        EXPECT_EQ(values_of(eval(take(line, at))), values_of(eval(take(made_line, at))));
        const auto beside = reshape(at, topos::shape<2>{1, -1});
        EXPECT_EQ(values_of(eval(gather(table, beside, 1))),
                  values_of(eval(gather(made, beside, 1))));
      }
    }
  });
}

TEST(take, clamps_the_largest_natural_numbers_to_the_last) {
  on_each_device([](topos::device d) {
    const auto table = vector_on<int>(d, {1, 2, 3});
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const auto wide = vector_on<std::uint64_t>(d, {0, 2, 3, most / 2, most / 2 + 1, most});
    const auto narrow = vector_on<std::uint8_t>(d, {1, 3, 255});

    EXPECT_EQ(values_of(eval(take(table, wide))), (std::vector<int>{1, 3, 3, 3, 3, 3}));
    EXPECT_EQ(values_of(eval(take(table, narrow))), (std::vector<int>{2, 3, 3}));
  });
}

// Tables and indices of all types that have lanes, and of some that have none.
template <class Types>
class gathers : public testing::Test {};
using tables_and_indices =
    support::types<std::pair<float, std::int32_t>, std::pair<float, std::uint8_t>,
                   std::pair<double, std::int32_t>, std::pair<double, std::int64_t>,
                   std::pair<std::int32_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>,
                   std::pair<std::int32_t, std::int8_t>, std::pair<std::uint8_t, std::int32_t>,
                   std::pair<topos::f16, std::int16_t>, std::pair<float, std::int64_t>>;
TYPED_TEST_SUITE(gathers, tables_and_indices);

// Indices inside, before and behind a table of `rows`, as far as their type has them.
template <class I>
std::vector<I> indices_of(index_t count, index_t rows) {
  std::vector<I> indices(count);
  for (index_t i = 0; i < count; ++i) {
    indices[i] = static_cast<I>((i * 7919) % (3 * rows) - (std::is_signed_v<I> ? rows : 0));
  }
  if (count > 2) indices[1] = std::numeric_limits<I>::max();
  if (count > 2) indices[2] = std::numeric_limits<I>::min();
  return indices;
}

template <class I>
index_t place_of(I index, index_t rows) {
  if (index < I(0)) return std::max<index_t>(static_cast<index_t>(index) + rows, 0);
  return std::in_range<index_t>(index) ? std::min(static_cast<index_t>(index), rows - 1) : rows - 1;
}

TYPED_TEST(gathers, what_is_named_one_by_one) {
  using T = typename TypeParam::first_type;
  using I = typename TypeParam::second_type;
  on_each_device([](topos::device d) {
    constexpr index_t rows = 23;
    std::vector<T> table(rows);
    for (index_t i = 0; i < rows; ++i) table[i] = T(static_cast<float>(i + 1));
    for (const index_t count : {1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 200}) {
      const std::vector<I> indices = indices_of<I>(count, rows);
      std::vector<T> expected(count);
      for (index_t i = 0; i < count; ++i) expected[i] = table[place_of(indices[i], rows)];
      const auto x = vector_on<T>(d, table);
      const auto named = vector_on<I>(d, indices);

      EXPECT_EQ(values_of(eval(take(x, named))), expected) << count;
      EXPECT_EQ(values_of(eval(take(x, topos::maximum(named, named)))), expected) << count;
      EXPECT_EQ(values_of(eval(take(x + x, named))), values_of(eval(take(x, named) * T(2.0f))));
      std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(values_of(eval(flip(take(x, named)))), expected) << count;
    }
  });
}

TYPED_TEST(gathers, along_both_axes_of_a_matrix) {
  using T = typename TypeParam::first_type;
  using I = typename TypeParam::second_type;
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 5, 16, 19, 40}) {
      constexpr index_t rows = 6;
      std::vector<T> table(rows * columns);
      for (std::size_t i = 0; i < table.size(); ++i) table[i] = T(static_cast<float>(i % 251));
      const std::vector<I> down = indices_of<I>(rows * columns, rows);
      const std::vector<I> across = indices_of<I>(rows * columns, columns);
      std::vector<T> by_rows(table.size());
      std::vector<T> by_columns(table.size());
      for (index_t r = 0; r < rows; ++r) {
        for (index_t c = 0; c < columns; ++c) {
          const index_t o = r * columns + c;
          by_rows[o] = table[place_of(down[o], rows) * columns + c];
          by_columns[o] = table[r * columns + place_of(across[o], columns)];
        }
      }
      const auto x = tensor_on<2>(d, {rows, columns}, table);
      const auto named_rows = tensor_on<2>(d, {rows, columns}, down);
      const auto named_columns = tensor_on<2>(d, {rows, columns}, across);

      EXPECT_EQ(values_of(eval(gather(x, named_rows, 0))), by_rows) << columns;
      EXPECT_EQ(values_of(eval(gather(x, named_columns, 1))), by_columns) << columns;
      const auto turned = eval(topos::transpose(x));
      EXPECT_EQ(values_of(eval(gather(topos::transpose(turned), named_columns, 1))), by_columns);
    }
  });
}

TEST(take, without_indices_is_empty) {
  on_each_device([](topos::device d) {
    const auto table = tensor_on<2>(d, {2, 5000}, support::varied(10'000));

    const tensor<float, 2> y = take(table, topos::empty<std::int32_t, 1>({0}, d));

    EXPECT_EQ(y.shape(), (topos::shape<2>{0, 5000}));
    EXPECT_TRUE(values_of(y).empty());
  });
}

TEST(take, fuses_with_what_follows) {
  on_each_device([](topos::device d) {
    const std::vector<float> table = support::varied(3 * 17);
    const std::vector<std::int32_t> rows{2, 1, 2, 0};
    const std::vector<float> bias = support::varied(17, 2);
    std::vector<float> expected = picked(table, 17, rows);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2 * expected[i] + bias[i % 17];

    const tensor<float, 2> y =
        2 * take(tensor_on<2>(d, {3, 17}, table), vector_on(d, rows)) + vector_on(d, bias);

    EXPECT_EQ(values_of(y), expected);
  });
}

TEST(take, of_one_index_broadcasts_over_rows) {
  on_each_device([](topos::device d) {
    const std::vector<float> table{1, 2, 3, 4, 5, 6};
    const tensor<float, 2> x = topos::full<float, 2>({40, 3}, 10, d);

    const tensor<float, 2> y =
        take(tensor_on<2>(d, {2, 3}, table), vector_on<std::int32_t>(d, {1})) + x;

    const std::vector<float> got = values_of(y);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], 14 + static_cast<float>(i % 3));
  });
}

TEST(take, of_one_column_broadcasts_over_columns) {
  on_each_device([](topos::device d) {
    const tensor<float, 2> x = topos::full<float, 2>({2, 40}, 10, d);

    const tensor<float, 2> y = take(tensor_on<2>(d, {3, 1}, std::vector<float>{1, 2, 3}),
                                    vector_on<std::int32_t>(d, {2, 0})) +
                               x;

    std::vector<float> expected(40, 13);
    expected.resize(80, 11);
    EXPECT_EQ(values_of(y), expected);
  });
}

TEST(take, of_a_part_of_a_tensor_begins_at_that_part) {
  on_each_device([](topos::device d) {
    const std::vector<float> both{1, 2, 3, 4, 5, 6, 7, 8};
    const tensor<float, 2> table = tensor_on<3>(d, {2, 2, 2}, both).row(1);
    const auto indices = tensor_on<2>(d, {2, 2}, std::vector<std::int32_t>{0, 0, 1, 0}).row(1);

    EXPECT_EQ(values_of(eval(take(table, indices))), (std::vector<float>{7, 8, 5, 6}));
  });
}

TEST(take, from_a_table_without_rows_is_refused) {
  const auto none = topos::zeros<float, 2>({0, 3});
  const auto indices = vector_on<std::int32_t>(topos::cpu(), {0});

  const std::string message =
      support::refusal<topos::invalid_argument>([&] { static_cast<void>(take(none, indices)); });

  EXPECT_TRUE(contains(message, "take")) << message;
}

TEST(take, across_devices_is_refused_and_names_both) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const auto table = topos::zeros<float, 2>({2, 3}, topos::gpu());
  const auto indices = vector_on<std::int32_t>(topos::cpu(), {0});

  const std::string message =
      support::refusal<topos::device_mismatch>([&] { static_cast<void>(take(table, indices)); });

  EXPECT_TRUE(contains(message, "cuda:0") && contains(message, "cpu")) << message;
}

// numpy.take_along_axis([[10, 30, 20], [60, 40, 50]], ..., axis)
TEST(gather, takes_along_an_axis) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<float>{10, 30, 20, 60, 40, 50});
    const auto last = tensor_on<2>(d, {2, 2}, std::vector<std::int32_t>{2, 0, -1, 1});
    const auto first = tensor_on<2>(d, {1, 3}, std::vector<std::uint8_t>{1, 0, 1});

    EXPECT_EQ(values_of(eval(gather(x, last, 1))), (std::vector<float>{20, 10, 50, 40}));
    EXPECT_EQ(values_of(eval(gather(x, last, -1) + 1)), (std::vector<float>{21, 11, 51, 41}));
    EXPECT_EQ(values_of(eval(gather(x * 2, first, 0))), (std::vector<float>{120, 60, 100}));
  });
}

TEST(gather, broadcasts_the_other_axes) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<float>{10, 30, 20, 60, 40, 50});
    const auto row = tensor_on<2>(d, {1, 3}, std::vector<float>{1, 2, 3});
    const auto one = tensor_on<2>(d, {1, 1}, std::vector<std::int64_t>{1});
    const auto each = tensor_on<2>(d, {2, 1}, std::vector<std::int64_t>{2, 0});

    EXPECT_EQ(values_of(eval(gather(x, one, 1))), (std::vector<float>{30, 40}));
    EXPECT_EQ(values_of(eval(gather(row, each, 1))), (std::vector<float>{3, 1}));
  });
}

TEST(gather, refuses_what_does_not_fit) {
  const auto x = topos::zeros<float, 2>({2, 3});
  const auto three = topos::zeros<std::int32_t, 2>({3, 1});
  EXPECT_THROW(static_cast<void>(gather(x, three, 1)), topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(gather(x, three, 2)), topos::out_of_range);
  const auto none = topos::zeros<float, 2>({3, 0});
  EXPECT_THROW(static_cast<void>(gather(none, three, 1)), topos::invalid_argument);
  EXPECT_EQ(eval(gather(none, topos::zeros<std::int32_t, 2>({3, 0}), 1)).size(), 0);
}

}  // namespace gather_test
