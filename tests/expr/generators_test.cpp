// SPDX-License-Identifier: Apache-2.0

/// Arrays that follow from their index: the same bits in any part of an expression.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <topos/expr/generators.hpp>
#include <topos/expr/views.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace generators_test {

using support::expect_same;
using support::named;
using support::on_each_device;
using support::values_of;
using topos::arange;
using topos::eval;
using topos::index_t;
using topos::linspace;

template <class T>
class generators : public testing::Test {};
using types = support::types<float, double>;
TYPED_TEST_SUITE(generators, types);

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

struct from_to {
  double start;
  double stop;
  double by;  // a step, or how many
};

TYPED_TEST(generators, linspace_has_numpys_bits) {
  using T = TypeParam;
  // In the order of scripts/reference/expr.py.
  const std::vector<from_to> cases{{0, 100, 1},      {0, 100, 2},      {-1, 1, 7}, {0, 100, 1001},
                                   {3.7, -12.1, 33}, {1e-3, 1e6, 257}, {5, 5, 16}};
  const std::vector<T> expected = support::rows_of<T>(named<T>("linspace")).at(0);
  on_each_device([&](topos::device d) {
    std::vector<T> got;
    for (const from_to& c : cases)
      append(got, values_of(eval(linspace<T>(static_cast<T>(c.start), static_cast<T>(c.stop),
                                             static_cast<index_t>(c.by), d))));
    expect_same("linspace", got, expected);
  });
}

TYPED_TEST(generators, arange_has_jaxs_bits) {
  using T = TypeParam;
  const std::vector<from_to> cases{
      {0, 17, 1}, {-3, 4, 0.25}, {0, 1, 0.1}, {10, -10, -0.7}, {0.3, 33, 0.3}};
  const std::vector<T> expected = support::rows_of<T>(named<T>("arange")).at(0);
  on_each_device([&](topos::device d) {
    std::vector<T> got;
    for (const from_to& c : cases)
      append(got, values_of(eval(arange<T>(static_cast<T>(c.start), static_cast<T>(c.stop),
                                           static_cast<T>(c.by), d))));
    expect_same("arange", got, expected);
  });
}

TYPED_TEST(generators, bits_do_not_depend_on_the_place) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const auto line = linspace<T>(T(-0.3), T(7.1), 4099, d);
    const std::vector<T> whole = values_of(eval(line));
    const std::vector<T> back = values_of(eval(flip(line)));
    const std::vector<T> part = values_of(eval(slice(line, topos::range(3, {}, 7))));
    const std::vector<T> folded = values_of(eval(reshape(line * T(1), topos::shape<2>{-1, 4099})));
    EXPECT_EQ(whole.back(), T(7.1)) << "the end is met exactly";
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(back[whole.size() - 1 - i], whole[i]);
    for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], whole[3 + 7 * i]);
    EXPECT_EQ(folded, whole);
  });
}

TEST(arange, takes_its_type_from_its_numbers) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(values_of(eval(arange(5, d))), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(values_of(eval(arange(0, 10, 3, d))), (std::vector<std::int32_t>{0, 3, 6, 9}));
    EXPECT_EQ(values_of(eval(arange(2, 4, d))), (std::vector<std::int32_t>{2, 3}));
    EXPECT_EQ(values_of(eval(arange(topos::index_t{2}, d))), (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(values_of(eval(arange(0, topos::index_t{2}, d))), (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(values_of(eval(arange(0, 1, 0.5, d))), (std::vector<double>{0, 0.5}));
    EXPECT_EQ(values_of(eval(arange(1.5F, d))), (std::vector<float>{0, 1}));
  });
  EXPECT_EQ(eval(arange(3)).shape(), (topos::shape<1>{3}));
}

TEST(arange, of_integers_counts) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(values_of(eval(arange<int>(5, d))), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(values_of(eval(arange<std::int8_t>(-128, 127, 85, d))),
              (std::vector<std::int8_t>{-128, -43, 42}));
    EXPECT_EQ(values_of(eval(arange<std::int64_t>(7, -3, -4, d))),
              (std::vector<std::int64_t>{7, 3, -1}));
    EXPECT_EQ(values_of(eval(arange<std::uint8_t>(250, 255, 2, d))),
              (std::vector<std::uint8_t>{250, 252, 254}));
    EXPECT_EQ(values_of(eval(arange<int>(2, 5, d))), (std::vector<int>{2, 3, 4}));
    EXPECT_TRUE(values_of(eval(arange<int>(3, 3, 1, d))).empty());
    EXPECT_TRUE(values_of(eval(arange<int>(3, 0, 1, d))).empty());
  });
}

TEST(arange, has_numbers_up_to_bounds_that_its_type_has_not) {
  const std::size_t n = 256;
  on_each_device([&](topos::device d) {
    const auto bytes = values_of(eval(arange<std::uint8_t>(n, d)));
    ASSERT_EQ(bytes.size(), 256U);
    EXPECT_EQ(bytes.back(), 255);
    EXPECT_EQ(values_of(eval(arange<std::int8_t>(-128, 128, 85, d))),
              (std::vector<std::int8_t>{-128, -43, 42, 127}));
    EXPECT_EQ(values_of(eval(arange<std::uint8_t>(2, -1, -1, d))),
              (std::vector<std::uint8_t>{2, 1, 0}));
    EXPECT_EQ(values_of(eval(arange(0, std::size_t{2}, d))), (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(values_of(eval(arange(1, std::size_t{5}, 2, d))), (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(static_cast<float>(values_of(eval(arange<topos::f16>(1, 3, 0.5F, d)))[3]), 2.5F);
  });
}

TEST(arange, of_numbers_that_its_type_has_not_is_refused) {
  EXPECT_THROW(static_cast<void>(arange<std::uint8_t>(257)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(arange<std::uint8_t>(3, -2, -1)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(arange<std::int8_t>(-129, 0)), topos::invalid_argument);
  EXPECT_EQ(arange<std::uint8_t>(300, 300).shape()[0], 0);
}

TEST(arange, of_large_integers_has_the_length_of_their_distance) {
  using u64 = std::uint64_t;
  constexpr std::int64_t big = std::int64_t{1} << 60;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  on_each_device([&](topos::device d) {
    EXPECT_EQ(values_of(eval(arange<std::int64_t>(big, big + 3, 1, d))),
              (std::vector<std::int64_t>{big, big + 1, big + 2}));
    EXPECT_EQ(values_of(eval(arange<u64>(~u64{0} - 3, ~u64{0}, 2, d))),
              (std::vector<u64>{~u64{0} - 3, ~u64{0} - 1}));
    EXPECT_EQ(values_of(eval(arange<std::int64_t>(least, most, most, d))),
              (std::vector<std::int64_t>{least, -1, most - 1}));
    EXPECT_EQ(values_of(eval(arange<std::int64_t>(most, least, least, d))),
              (std::vector<std::int64_t>{most, -1}));
    EXPECT_EQ(values_of(eval(arange<int>(2147483647, -2147483647 - 1, -1073741824, d))),
              (std::vector<int>{2147483647, 1073741823, -1, -1073741825}));
  });
  EXPECT_EQ(arange<std::int64_t>(0, 9007199254740993).shape()[0], 9007199254740993);
  EXPECT_EQ(arange<std::int64_t>(most).shape()[0], most);
  EXPECT_THROW(static_cast<void>(arange<std::int64_t>(least, most)), topos::invalid_argument);
}

template <class T>
void expect_numbers_from(index_t first, T step) {
  const auto all = arange<T>(T(3), T(3) + static_cast<T>(index_t{1} << 33) * step, step);
  const auto some = values_of(eval(topos::slice(all, topos::range{first, first + 100})));
  for (index_t i = 0; i < 100; ++i)
    EXPECT_EQ(some[static_cast<std::size_t>(i)], T(3) + static_cast<T>(first + i) * step) << i;
}

TEST(arange, goes_on_behind_what_32_bits_count) {
  for (const index_t first : {index_t{5}, (index_t{1} << 31) - 50, index_t{1} << 32}) {
    expect_numbers_from<std::int64_t>(first, 1);
    expect_numbers_from<std::int64_t>(first, -7);
    expect_numbers_from<std::uint64_t>(first, 3);
    expect_numbers_from<double>(first, 0.5);
    expect_numbers_from<float>(first, 2);
  }
}

TEST(generators, are_on_a_device_and_read_no_memory) {
  on_each_device([](topos::device d) {
    std::vector<topos::buffer> reads;
    const auto e = arange<float>(3, d) * linspace<float>(0, 1, 3, d);
    e.collect(reads);
    EXPECT_TRUE(reads.empty());
    EXPECT_EQ(e.device(), std::optional(d));
    const topos::default_device here(d);
    EXPECT_EQ(topos::eye<float>(2).device(), std::optional(d));
  });
}

TEST(linspace, takes_its_type_from_its_numbers) {
  using topos::detail::value_of_t;
  static_assert(std::same_as<value_of_t<decltype(linspace(0, 1, 3))>, float>);
  static_assert(std::same_as<value_of_t<decltype(linspace(0, 1.0F))>, float>);
  static_assert(std::same_as<value_of_t<decltype(linspace(0.0, 1))>, double>);
  EXPECT_EQ(values_of(eval(linspace(0, 1, 5))), (std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1}));
}

TEST(linspace, of_what_is_further_than_its_type_holds_is_refused) {
  const std::string text = support::refusal<topos::invalid_argument>(
      [] { (void)topos::linspace<float>(-3e38F, 3e38F, 5); });
  EXPECT_TRUE(support::contains(text, "further than float32 holds")) << text;
  EXPECT_NO_THROW((void)topos::linspace<double>(-3e38, 3e38, 5));
  EXPECT_NO_THROW((void)topos::linspace<float>(0, std::numeric_limits<float>::infinity(), 5));
}

TEST(eye, has_them_in_rows_of_any_length) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 2, 7, 15, 16, 17, 33, 100}) {
      for (const index_t diagonal : {0, 1, -1, 16, -20, 99}) {
        const index_t rows = 40;
        std::vector<float> expected(static_cast<std::size_t>(rows * columns), 0);
        for (index_t r = std::max<index_t>(0, -diagonal); r < rows && r + diagonal < columns; ++r)
          expected[static_cast<std::size_t>(r * columns + r + diagonal)] = 1;
        EXPECT_EQ(values_of(eval(topos::eye<float>(rows, columns, diagonal, d))), expected)
            << columns << ' ' << diagonal;
      }
    }
  });
}

TEST(eye, has_its_ones_on_a_diagonal) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(values_of(eval(topos::eye<int>(2, 3, 0, d))), (std::vector<int>{1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(values_of(eval(topos::eye<int>(2, 3, d))), (std::vector<int>{1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(values_of(eval(topos::eye<int>(2, 3, 2, d))), (std::vector<int>{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(values_of(eval(topos::eye<int>(3, 2, -1, d))), (std::vector<int>{0, 0, 1, 0, 0, 1}));
    EXPECT_EQ(values_of(eval(topos::eye<int>(2, 2, 5, d))), std::vector<int>(4, 0));
    constexpr auto far = std::numeric_limits<index_t>::max();
    EXPECT_EQ(values_of(eval(topos::eye<int>(2, 2, far, d))), std::vector<int>(4, 0));
    EXPECT_EQ(values_of(eval(topos::eye<int>(2, 2, -far, d))), std::vector<int>(4, 0));
    EXPECT_TRUE(values_of(eval(topos::eye<int>(0, 0, 0, d))).empty());
    EXPECT_EQ(values_of(eval(transpose(topos::eye<float>(2, 3, 1, d)))),
              (std::vector<float>{0, 0, 1, 0, 0, 1}));
    EXPECT_EQ(static_cast<float>(values_of(eval(topos::eye<topos::f16>(1, 1, 0, d)))[0]), 1);
  });
}

TEST(generators, without_an_end_are_refused) {
  EXPECT_THROW(static_cast<void>(arange<int>(0, 3, 0)), topos::invalid_argument);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THROW(static_cast<void>(arange<float>(0, infinity)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(arange<float>(0, std::nanf(""))), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(linspace<float>(0, 1, -1)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(topos::eye<float>(-1, 2)), topos::shape_mismatch);
  EXPECT_EQ(linspace<float>(0, 1, 0).shape(), (topos::shape<1>{0}));
}

}  // namespace generators_test
