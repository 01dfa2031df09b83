// SPDX-License-Identifier: Apache-2.0

/// Lanes that are loaded from elements of a narrower type are those of conversions one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/kernels/rows.hpp>
#include <type_traits>
#include <vector>

namespace wide_lanes_test {

using topos::index_t;
using topos::detail::memory_elements;
using topos::detail::strided_row;
using topos::detail::widened_elements;
namespace lane = topos::lane;

template <class T>
struct values_of {
  std::unique_ptr<T[]> data;
  index_t count;
};

// All values of the small types; of the others the ends, and whole numbers of all sizes between.
template <class T>
values_of<T> some_values() {
  std::vector<long double> some;
  constexpr long double lowest = std::numeric_limits<T>::lowest();
  constexpr long double highest = std::numeric_limits<T>::max();
  if constexpr (sizeof(T) <= 2) {
    // More than a batch of each.
    while (some.size() < 64) {
      for (long double x = lowest; x <= highest; ++x) some.push_back(x);
    }
  } else {
    some = {lowest, lowest + 1, -1, 0, 1, highest - 1, highest};
    for (long double x = 1; x < 0x1p31L; x = x * 1.5L + 1) some.insert(some.end(), {x, -x});
  }
  values_of<T> made{std::make_unique<T[]>(some.size()), 0};
  for (const long double x : some) {
    if (x >= lowest && x <= highest) made.data[made.count++] = static_cast<T>(x);
  }
  return made;
}

// Calls check(std::type_identity<To>{}) for each type that has lanes.
template <class Check>
void with_each_wide_type(Check check) {
  const auto with = [&]<class... To>() { (check(std::type_identity<To>{}), ...); };
  with.template
  operator()<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>();
}

template <class T, class To>
void expect_conversions() {
  if constexpr (lane::widens<T, To>) {
    const values_of<T> from = some_values<T>();
    constexpr index_t width = lane::width<To>;
    To lanes[width];
    for (index_t i = 0; i + width <= from.count; ++i) {
      lane::store(lanes, lane::load_wide<To>(from.data.get() + i));
      for (index_t k = 0; k < width; ++k)
        ASSERT_EQ(lanes[k], static_cast<To>(from.data[i + k])) << "element " << i + k;
    }
    for (index_t n = 0; n <= std::min(width, from.count); ++n) {
      lane::store(lanes, lane::load_wide<To>(from.data.get(), n));
      for (index_t k = 0; k < width; ++k)
        ASSERT_EQ(lanes[k], k < n ? static_cast<To>(from.data[k]) : To(0)) << k << " of " << n;
    }
  }
}

template <class T>
class wide_lanes : public testing::Test {};
using narrow_types = testing::Types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                    std::int32_t, std::uint32_t, float>;
TYPED_TEST_SUITE(wide_lanes, narrow_types);

TYPED_TEST(wide_lanes, have_the_values_of_conversions) {
  if constexpr (!lane::widens<TypeParam, double>) GTEST_SKIP() << "no lanes in this build";
  with_each_wide_type(
      []<class To>(std::type_identity<To>) { expect_conversions<TypeParam, To>(); });
}

// A row as kernels assign it, and element by element, after an operation that has lanes.
template <class T, class To>
void expect_rows_of_any_step() {
  if constexpr (lane::widens<T, To>) {
    using elements = widened_elements<memory_elements<T>, To>;
    const values_of<T> from = some_values<T>();
    for (const index_t step : {0, 1, 2, 3, 4, 5, -1}) {
      const index_t count = step > 1 ? (from.count + step - 1) / step : from.count;
      const auto row = topos::detail::make_row(
          topos::detail::negate_op{},
          strided_row<elements>{{{from.data.get()}}, step < 0 ? from.count - 1 : 0, step});
      EXPECT_EQ(row.width, lane::width<To>);
      std::vector<To> to(static_cast<std::size_t>(count));
      topos::detail::host_rows::assign(to.data(), 1, row, 0, count);
      for (index_t j = 0; j < count; ++j)
        ASSERT_EQ(to[static_cast<std::size_t>(j)], row[j]) << "element " << j << ", step " << step;
    }
  }
}

TYPED_TEST(wide_lanes, serve_rows_of_any_step) {
  if constexpr (!lane::widens<TypeParam, double>) GTEST_SKIP() << "no lanes in this build";
  with_each_wide_type(
      []<class To>(std::type_identity<To>) { expect_rows_of_any_step<TypeParam, To>(); });
}

}  // namespace wide_lanes_test
