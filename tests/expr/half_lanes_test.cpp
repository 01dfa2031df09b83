// SPDX-License-Identifier: Apache-2.0

/// Lanes of sixteen-bit floats give the bits that one number at a time gives.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <topos/expr/detail/math_operations.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/kernels/detail/past_caches.hpp>
#include <topos/kernels/rows.hpp>
#include <vector>

namespace half_lanes_test {

using topos::bf16;
using topos::f16;
using topos::index_t;
using topos::detail::memory_row;
namespace lane = topos::lane;

template <class T>
class half_lanes : public testing::Test {};
using half_types = testing::Types<bf16, f16>;
TYPED_TEST_SUITE(half_lanes, half_types);

// All values, in the order of their bits.
template <class T>
std::vector<T> all_values() {
  std::vector<T> values(1 << 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<std::uint16_t>(i);
  return values;
}

// Rows of all values, and of the same from the last to the first.
template <class T>
struct all_pairs {
  std::vector<T> values = all_values<T>();
  std::vector<T> others = std::vector<T>(values.rbegin(), values.rend());
  memory_row<T> x{{values.data()}};
  memory_row<T> y{{others.data()}};
};

// Bits; of NaN, which may have any, always the same.
template <class T>
std::uint32_t bits_of(T value) {
  const auto wide = static_cast<float>(value);
  return std::isnan(wide) ? 0xffffffffU : Kokkos::bit_cast<std::uint32_t>(wide);
}

// A row assigned as kernels do it, through the caches and past them, and element by element.
template <class T, class Row>
void expect_the_same(const Row& row, index_t count) {
  const auto by_lanes = std::make_unique<T[]>(static_cast<std::size_t>(count));
  for (const bool past_caches : {false, true}) {
    std::fill_n(by_lanes.get(), count, T{});
    topos::detail::host_rows::assign_row(by_lanes.get(), 1, row, 0, count, past_caches);
    topos::detail::fence();
    for (index_t j = 0; j < count; ++j)
      ASSERT_EQ(bits_of(by_lanes[j]), bits_of<T>(row[j])) << "element " << j;
  }
}

// From memory that ends with the last one.
TYPED_TEST(half_lanes, are_loaded_from_places_that_lie_apart) {
  using T = TypeParam;
  if constexpr (lane::is_half_with_lanes<T>) {
    const std::vector<T> all = all_values<T>();
    constexpr index_t width = lane::width<float>;
    for (const index_t step : {-3, -1, 0, 1, 2, 3, 100}) {
      const index_t furthest = std::abs(step) * (width - 1);
      for (const index_t begin : {index_t{0}, index_t{0x3c00}, (1 << 16) - furthest - 1}) {
        const std::vector<T> from(all.begin() + begin, all.begin() + begin + furthest + 1);
        const T* const first = from.data() + (step < 0 ? furthest : 0);
        float got[width];
        lane::store(got, lane::load_apart(first, step));
        for (index_t i = 0; i < width; ++i)
          ASSERT_EQ(bits_of(got[i]), bits_of(first[i * step])) << step << ' ' << i;
      }
    }
  }
}

TYPED_TEST(half_lanes, are_there_where_the_machine_converts) {
  using T = TypeParam;
  if constexpr (!lane::is_half_with_lanes<T>) GTEST_SKIP() << "no lanes in this build";
  EXPECT_EQ(memory_row<T>::width, lane::width<float>);
}

TYPED_TEST(half_lanes, round_every_float_as_one_number_is_rounded) {
  using T = TypeParam;
  // All upper halves, with what is below, at and above the middle between two values, of either.
  std::vector<float> floats;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000U, 0x0001U, 0x0fffU, 0x1000U, 0x1001U, 0x2000U, 0x3000U,
                                      0x7fffU, 0x8000U, 0x8001U, 0xffffU})
      floats.push_back(Kokkos::bit_cast<float>(upper << 16U | lower));
  }
  const auto count = static_cast<index_t>(floats.size());
  const memory_row<float> row{{floats.data()}};
  expect_the_same<T>(topos::detail::make_row(topos::detail::convert_op<T>{}, row), count);
}

TYPED_TEST(half_lanes, convert_every_value_to_float) {
  using T = TypeParam;
  const std::vector<T> values = all_values<T>();
  const memory_row<T> row{{values.data()}};
  expect_the_same<float>(topos::detail::make_row(topos::detail::convert_op<float>{}, row), 1 << 16);
}

TYPED_TEST(half_lanes, are_rounded_after_each_operation) {
  using T = TypeParam;
  using namespace topos::detail;
  const all_pairs<T> all;
  const auto& x = all.x;
  const auto& y = all.y;
  const constant_row<T> third{T(1.0f / 3)};
  const index_t count = (1 << 16) - 5;  // and a part of a batch
  expect_the_same<T>(make_row(add_op{}, make_row(multiply_op{}, x, third), y), count);
  expect_the_same<T>(make_row(divide_op{}, x, make_row(subtract_op{}, y, third)), count);
  expect_the_same<T>(make_row(sqrt_op{}, make_row(abs_op{}, x)), count);
  expect_the_same<T>(make_row(floor_op{}, make_row(multiply_op{}, x, y)), count);
  expect_the_same<bool>(make_row(isfinite_op{}, x), count);
  expect_the_same<std::int32_t>(make_row(convert_op<std::int32_t>{}, x), count);
}

TYPED_TEST(half_lanes, need_not_be_rounded_after_operations_that_choose) {
  using T = TypeParam;
  using namespace topos::detail;
  const all_pairs<T> all;
  const auto& x = all.x;
  const auto& y = all.y;
  const constant_row<T> low{T(-1.0f / 3)}, high{T(100.5f)};
  const index_t count = (1 << 16) - 5;
  const auto of_one = [&](const auto&... op) { (expect_the_same<T>(make_row(op, x), count), ...); };
  const auto of_two = [&](const auto&... op) {
    (expect_the_same<T>(make_row(op, x, y), count), ...);
  };
  of_one(negate_op{}, abs_op{}, sign_op{}, floor_op{}, ceil_op{}, trunc_op{}, nearbyint_op{});
  of_two(minimum_op{}, maximum_op{}, fmin_op{}, fmax_op{});
  expect_the_same<T>(make_row(clip_op{}, x, low, high), count);
  expect_the_same<T>(make_row(where_op{}, make_row(less_op{}, x, y), x, high), count);
  expect_the_same<T>(make_row(add_op{}, make_row(floor_op{}, x), make_row(abs_op{}, y)), count);
}

TYPED_TEST(half_lanes, of_least_and_largest_give_what_one_by_one_gives) {
  using T = TypeParam;
  using namespace topos::detail;
  std::vector<T> values;
  for (int i = 0; i < 1000; ++i) values.push_back(T(static_cast<float>((i * 7919) % 1009 - 500)));
  const memory_row<T> row{{values.data()}};
  float least = 1e9f;
  float largest = -1e9f;
  for (const T& v : values) {
    least = std::min(least, static_cast<float>(v));
    largest = std::max(largest, static_cast<float>(v));
  }
  EXPECT_EQ(static_cast<float>(host_rows::reduce(minimum_op{}, row, 0, 1000)), least);
  EXPECT_EQ(static_cast<float>(host_rows::reduce(maximum_op{}, row, 0, 1000)), largest);
}

}  // namespace half_lanes_test
