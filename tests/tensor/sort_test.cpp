// SPDX-License-Identifier: Apache-2.0

/// Orders against NumPy's, and against the standard library's stable sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/tensor/sort.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reduction_case.hpp"

namespace sort_test {

using support::contains;
using support::on_each_device;
using support::reduction_case;
using support::reductions_file;
using support::refusal;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::tensor;

// Part `number` of `parts` of a file.
template <class T>
std::vector<T> part_of(const std::string& file, std::size_t number, std::size_t parts) {
  const std::vector<T> all = reductions_file<T>(file).values;
  const auto size = static_cast<std::ptrdiff_t>(all.size() / parts);
  const auto from = all.begin() + size * static_cast<std::ptrdiff_t>(number);
  return {from, from + size};
}

template <class T>
const char* kind() {
  if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? "signed" : "unsigned";
  else
    return "real";
}

template <class T>
class sort_of : public testing::Test {};
using types = support::types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                             std::uint16_t, std::uint32_t, std::uint64_t, topos::f16, topos::bf16,
                             float, double>;
TYPED_TEST_SUITE(sort_of, types);

TYPED_TEST(sort_of, gives_numpys_order) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const tensor<T, 3> x = reduction_case<T>().x(d);
    const std::vector<T> in = values_of(x);
    const index_t strides[] = {7 * 33, 33, 1};
    for (const topos::sort_order first : {topos::ascending, topos::descending}) {
      const std::string file =
          std::string(kind<T>()) + (first == topos::ascending ? "_ascending" : "_descending");
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto expected = part_of<std::int8_t>(file, axis, 3);
        const auto order = values_of(argsort(x, static_cast<index_t>(axis) - 3, first));
        const std::vector<T> values = values_of(sort(x, static_cast<index_t>(axis), first));
        const index_t stride = strides[axis];
        const index_t extent = x.shape()[axis];
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const auto at = static_cast<index_t>(i);
          ASSERT_EQ(order[i], expected[i]) << file << ' ' << i;
          const index_t from = at - at / stride % extent * stride + expected[i] * stride;
          ASSERT_EQ(static_cast<double>(values[i]),
                    static_cast<double>(in[static_cast<std::size_t>(from)]))
              << file << ' ' << i;
        }
      }
    }
  });
}

TEST(sort, of_expressions_in_any_layout) {
  on_each_device([](topos::device d) {
    support::in_several_layouts(reduction_case<float>().x(d), [](const auto& x) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto expected = part_of<std::int8_t>("real_ascending", axis, 3);
        const auto order = values_of(argsort(x, static_cast<index_t>(axis)));
        EXPECT_EQ(order, std::vector<std::int64_t>(expected.begin(), expected.end()));
      }
    });
  });
}

TEST(sort, of_every_size_is_stable) {
  on_each_device([](topos::device d) {
    for (const index_t n : {0, 1, 2, 31, 32, 33, 1000, 5000, 70001}) {
      std::vector<float> in = support::varied(n);
      for (float& v : in) v = std::round(v * 200);  // many are equal
      const tensor<float, 1> x = vector_on(d, in);
      std::vector<std::int64_t> order(in.size());
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](std::int64_t i) { return in[static_cast<std::size_t>(i)]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t i, std::int64_t j) { return value(i) < value(j); });
      EXPECT_EQ(values_of(argsort(x)), order) << n;
      std::vector<float> sorted = in;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(values_of(sort(x)), sorted) << n;
      std::reverse(sorted.begin(), sorted.end());
      EXPECT_EQ(values_of(sort(x, topos::descending)), sorted) << n;
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
        return value(i) > value(j) || (value(i) == value(j) && i < j);
      });
      EXPECT_EQ(values_of(argsort(x, 0, topos::descending)), order) << n;
      for (const index_t k : {index_t{0}, std::min<index_t>(n, 5), n / 2, n}) {
        const auto [most, places] = topk(x, k);
        EXPECT_EQ(values_of(places), (std::vector<std::int64_t>(order.begin(), order.begin() + k)))
            << n << ' ' << k;
        EXPECT_EQ(k == 0 || values_of(most).back() == value(order[static_cast<std::size_t>(k - 1)]),
                  true);
      }
    }
  });
}

// Elements of some kinds of order: with many that are equal, NaN, infinities and both zeros; all
// alike; rising; falling; the largest a few apart in each 64; a few above many that are equal.
template <class T>
std::vector<T> elements_of_kind(int kind, index_t size, index_t columns) {
  const std::vector<float> from = support::varied(size);
  std::vector<T> all(from.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto j = static_cast<index_t>(i) % columns;
    float v = std::round(from[i] * 40);
    if (kind == 1) v = 3;
    if (kind == 2) v = static_cast<float>(j / 50);
    if (kind == 3) v = static_cast<float>(100 - j / 50);
    if (kind == 4) v = j % 64 < 5 ? 100 : v;
    if (kind == 5) v = j % 97 == 5 ? 7 : 0;
    if constexpr (std::is_integral_v<T>) {
      const auto whole = static_cast<std::int64_t>(v);
      all[i] = std::is_same_v<T, bool> ? T(whole > 0) : static_cast<T>(whole);
    } else {
      all[i] = T(v);
      if (kind != 0) continue;
      if (i % 53 == 7) all[i] = T(std::numeric_limits<float>::quiet_NaN());
      if (i % 59 == 9) all[i] = T(-std::numeric_limits<float>::quiet_NaN());
      if (i % 31 == 3) all[i] = T(std::numeric_limits<float>::infinity());
      if (i % 37 == 4) all[i] = T(-std::numeric_limits<float>::infinity());
      if (i % 5 == 1) all[i] = T(i % 2 == 0 ? 0.0F : -0.0F);
    }
  }
  return all;
}

template <class T>
tensor<T, 2> rows_on(topos::device d, topos::shape<2> extents, const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, bool>) {  // whose vectors are not of bools
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return tensor<T, 2>(tensor_on<2>(d, extents, bytes) != std::uint8_t{0});
  } else {
    return tensor_on<2>(d, extents, values);
  }
}

template <class T>
class topk_of : public testing::Test {};
using chosen_types = support::types<bool, std::int8_t, std::uint64_t, topos::f16, float, double>;
TYPED_TEST_SUITE(topk_of, chosen_types);

TYPED_TEST(topk_of, few_is_the_start_of_a_stable_sort) {
  using T = TypeParam;
  const auto is_nan = [](const T& v) { return v != v; };
  const auto before = [&](const T& a, const T& b) {
    return is_nan(a) || is_nan(b) ? is_nan(a) && !is_nan(b) : a > b;
  };
  on_each_device([&](topos::device d) {
    for (const index_t n : {1, 2, 20, 63, 64, 65, 100, 129, 1000, 5000, 70001}) {
      const bool selects = d == topos::cpu();
      if (!selects && n > 1000) break;
      const index_t rows = n > 5000 ? 1 : 2;
      for (int kind = 0; kind < (selects ? 6 : 1); ++kind) {
        const std::vector<T> in = elements_of_kind<T>(kind, rows * n, n);
        const tensor<T, 2> x = rows_on<T>(d, {rows, n}, in);
        std::vector<std::int64_t> order;
        for (index_t r = 0; r < rows; ++r) {
          std::vector<std::int64_t> own(static_cast<std::size_t>(n));
          std::iota(own.begin(), own.end(), 0);
          const auto at = [&](std::int64_t i) -> T {
            return in[static_cast<std::size_t>(r * n + i)];
          };
          std::stable_sort(own.begin(), own.end(),
                           [&](std::int64_t i, std::int64_t j) { return before(at(i), at(j)); });
          order.insert(order.end(), own.begin(), own.end());
        }
        for (const index_t k : {index_t{1}, index_t{2}, index_t{10}, index_t{16}, index_t{17},
                                n / 32, n / 32 + 1, n / 8, n / 8 + 1, n / 4, n / 4 + 1}) {
          if (k > n) continue;
          const auto [most, places] = topk(x, k);
          const auto values = values_of(most);
          const auto numbers = values_of(places);
          for (index_t i = 0; i < rows * k; ++i) {
            const auto e = static_cast<std::size_t>(i);
            const std::int64_t expected = order[static_cast<std::size_t>(i / k * n + i % k)];
            ASSERT_EQ(numbers[e], expected) << n << ' ' << k << ' ' << kind << ' ' << i;
            const T value = in[static_cast<std::size_t>(i / k * n + expected)];
            const T found = values[e];
            ASSERT_TRUE(found == value || (is_nan(found) && is_nan(value))) << n << ' ' << k;
            if constexpr (!std::is_integral_v<T>) {
              ASSERT_FALSE(found == T(0.0F) && std::signbit(static_cast<double>(found)));
            }
          }
        }
      }
    }
  });
}

TEST(sort, of_rows_of_every_width_is_stable) {
  on_each_device([](topos::device d) {
    const index_t rows = 19;
    for (const index_t n : {1, 2, 31, 32, 33, 100, 192, 193, 1024, 1025}) {
      std::vector<float> in = support::varied(rows * n);
      for (float& v : in) v = std::round(v * 20);  // many are equal
      const tensor<float, 2> x = tensor_on<2>(d, {rows, n}, in);
      std::vector<std::int64_t> order;
      std::vector<float> sorted;
      for (index_t r = 0; r < rows; ++r) {
        const float* const row = in.data() + r * n;
        std::vector<std::int64_t> own(static_cast<std::size_t>(n));
        std::iota(own.begin(), own.end(), 0);
        std::stable_sort(own.begin(), own.end(),
                         [&](std::int64_t i, std::int64_t j) { return row[i] < row[j]; });
        order.insert(order.end(), own.begin(), own.end());
        for (const std::int64_t i : own) sorted.push_back(row[i]);
      }
      EXPECT_EQ(values_of(argsort(x)), order) << n;
      EXPECT_EQ(values_of(sort(x)), sorted) << n;
      EXPECT_EQ(values_of(sort(-x, 1, topos::descending)), values_of(topos::eval(-sort(x)))) << n;
      EXPECT_EQ(values_of(argsort(topos::transpose(x), 0)),
                values_of(topos::eval(topos::transpose(topos::argsort(x)))))
          << n;
    }
  });
}

TEST(sort, of_long_rows_sorts_each) {
  on_each_device([](topos::device d) {
    const index_t n = 70001;
    const std::vector<std::int32_t> in = support::varied<std::int32_t>(3 * n);
    const tensor<std::int32_t, 2> x = tensor_on<2>(d, {3, n}, in);
    const auto rows = values_of(sort(x));
    const auto columns = values_of(sort(transpose(x), 0));
    std::vector<std::int32_t> expected = in;
    for (index_t r = 0; r < 3; ++r) {
      std::sort(expected.begin() + r * n, expected.begin() + (r + 1) * n);
    }
    EXPECT_EQ(rows, expected);
    EXPECT_EQ(columns[3], expected[1]);

    // Few values, whose digits are those of most keys.
    const tensor<double, 2> few = topos::astype<double>(x % 3);
    std::vector<std::int64_t> order;
    const std::vector<double> values = values_of(few);
    for (index_t r = 0; r < 3; ++r) {
      std::vector<std::int64_t> own(static_cast<std::size_t>(n));
      std::iota(own.begin(), own.end(), 0);
      std::stable_sort(own.begin(), own.end(), [&](std::int64_t i, std::int64_t j) {
        return values[static_cast<std::size_t>(r * n + i)] <
               values[static_cast<std::size_t>(r * n + j)];
      });
      order.insert(order.end(), own.begin(), own.end());
    }
    EXPECT_EQ(values_of(argsort(few)), order);
  });
}

template <class T>
class sort_of_reals : public testing::Test {};
using real_types = support::types<topos::f16, float, double>;
TYPED_TEST_SUITE(sort_of_reals, real_types);

TYPED_TEST(sort_of_reals, puts_nan_last_and_zeros_as_they_were) {
  using T = TypeParam;
  const auto nan = T(std::numeric_limits<float>::quiet_NaN());
  const auto inf = T(std::numeric_limits<float>::infinity());
  on_each_device([&](topos::device d) {
    const tensor<T, 1> x = vector_on<T>(
        d, {T(0.0F), nan, T(-0.0F), inf, T(-1.0F), T(-static_cast<float>(nan)), T(-inf), T(3.0F)});
    EXPECT_EQ(values_of(argsort(x)), (std::vector<std::int64_t>{6, 4, 0, 2, 7, 3, 1, 5}));
    const std::vector<T> sorted = values_of(sort(x));
    EXPECT_EQ(static_cast<double>(sorted[0]), -static_cast<double>(inf));
    EXPECT_EQ(static_cast<double>(sorted[5]), static_cast<double>(inf));
    EXPECT_TRUE(std::isnan(static_cast<double>(sorted[6])));
    EXPECT_TRUE(std::isnan(static_cast<double>(sorted[7])));
    EXPECT_EQ(values_of(topk(x, 4).indices), (std::vector<std::int64_t>{1, 5, 3, 7}));
    EXPECT_EQ(values_of(argsort(x, 0, topos::descending)),
              (std::vector<std::int64_t>{1, 5, 3, 7, 0, 2, 4, 6}));
  });
}

TEST(sort, of_bools) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {3, -1, 2, -5});
    EXPECT_EQ(values_of(argsort(x > 0)), (std::vector<std::int64_t>{1, 3, 0, 2}));
    EXPECT_EQ(values_of(sort(x > 0)), (std::vector<bool>{false, false, true, true}));
  });
}

TEST(sort, is_the_same_on_one_thread_and_on_all) {
  const tensor<float, 1> x = vector_on(topos::cpu(), support::varied(200000));
  const auto order = values_of(argsort(sin(x)));
  const topos::in_place_scope scope;
  EXPECT_EQ(values_of(argsort(sin(x))), order);
}

TEST(sort, refuses_what_is_not_there) {
  const auto x = topos::zeros<float, 2>({2, 3});
  EXPECT_TRUE(
      contains(refusal<topos::out_of_range>([&] { static_cast<void>(sort(x, 2)); }), "sort"));
  EXPECT_TRUE(
      contains(refusal<topos::invalid_argument>([&] { static_cast<void>(topk(x, 4)); }), "(2, 3)"));
  EXPECT_THROW(static_cast<void>(topk(x, -1)), topos::invalid_argument);
}

TEST(topk, along_any_axis) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {3, 2}, std::vector<float>{3, 1, 5, 9, 4, 2});
    const auto [values, indices] = topos::topk(x, 2, 0);
    EXPECT_EQ(values.shape(), (topos::shape<2>{2, 2}));
    EXPECT_EQ(values_of(values), (std::vector<float>{5, 9, 4, 2}));
    EXPECT_EQ(values_of(indices), (std::vector<std::int64_t>{1, 1, 2, 2}));
    EXPECT_EQ(values_of(topos::eval(topos::gather(x, indices, 0))), values_of(values));
    EXPECT_THROW((void)topos::topk(x, 3, 1), topos::invalid_argument);
    EXPECT_THROW((void)topos::topk(x, 1, 2), topos::out_of_range);
  });
}

}  // namespace sort_test
