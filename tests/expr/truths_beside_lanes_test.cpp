// SPDX-License-Identifier: Apache-2.0

/// Truths in memory beside numbers, which have lanes, and numbers made of truths.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/generators.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/eval.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace truths_beside_lanes_test {

using support::on_each_device;
using support::values_of;
using support::vector_on;
using topos::astype;
using topos::eval;
using topos::index_t;
using topos::range;
using topos::where;

// For tests that may not hold truths one by one.
using bytes = std::vector<std::uint8_t>;

template <class T>
class truths_beside : public testing::Test {};
using types = support::types<std::int8_t, std::int32_t, std::uint64_t, topos::f16, topos::bf16,
                             float, double, Kokkos::complex<float>>;
TYPED_TEST_SUITE(truths_beside, types);

TYPED_TEST(truths_beside, choose_however_they_lie) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 15, 16, 17, 65, 4099}) {
      SCOPED_TRACE(n);
      const auto size = static_cast<std::size_t>(n);
      const std::vector<float> numbers = support::varied(3 * n);
      std::vector<T> a;
      std::vector<T> b;
      bytes all;  // of which some are every third, others every third from the end
      for (std::size_t i = 0; i < size; ++i) {
        a.push_back(static_cast<T>(static_cast<int>(numbers[i] * 8)));
        b.push_back(static_cast<T>(static_cast<int>(numbers[size + i] * 8)));
      }
      for (const float v : numbers) all.push_back(v > 0 ? 1 : 0);
      const auto x = vector_on<T>(d, a);
      const auto y = vector_on<T>(d, b);
      const auto stored = eval(vector_on<std::uint8_t>(d, all) != std::uint8_t{0});
      const auto dense = slice(stored, range(1, n + 1));
      const auto apart = slice(stored, range({}, {}, 3));
      const auto backwards = flip(apart, 0);
      const auto expect = [&](const char* how, const auto& truths, const auto& truth) {
        std::vector<T> chosen;
        std::vector<T> both;
        bytes neither;
        for (std::size_t i = 0; i < size; ++i) {
          chosen.push_back(truth(i) ? T(a[i] * b[i] + a[i]) : b[i]);
          both.push_back(truth(i) && a[i] == b[i] ? a[i] : T(0));
          neither.push_back(!truth(i) && !(a[i] == b[i]) ? 1 : 0);
        }
        EXPECT_EQ(values_of(eval(where(truths, x * y + x, y))), chosen) << how;
        EXPECT_EQ(values_of(eval(where(truths && x == y, x, 0))), both) << how;
        EXPECT_EQ(values_of(eval(astype<std::uint8_t>(!truths && !(x == y)))), neither) << how;
      };
      expect("dense", dense, [&](std::size_t i) { return all[i + 1] != 0; });
      expect("apart", apart, [&](std::size_t i) { return all[3 * i] != 0; });
      expect("backwards", backwards, [&](std::size_t i) { return all[3 * (size - 1 - i)] != 0; });
      expect("one for all", slice(stored, range(0, 1)), [&](std::size_t) { return all[0] != 0; });
    }
  });
}

TYPED_TEST(truths_beside, choose_by_rows_and_columns) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t columns : {3, 17, 300}) {
      SCOPED_TRACE(columns);
      constexpr index_t rows = 5;
      std::vector<T> in;
      for (index_t i = 0; i < rows * columns; ++i) in.push_back(static_cast<T>(i % 50));
      const auto x = support::tensor_on<2, T>(d, {rows, columns}, in);
      const auto of_columns = eval(topos::arange<std::int32_t>(0, columns, 1, d) % 3 == 0);
      const auto of_rows = eval(topos::arange<std::int32_t>(0, rows, 1, d) % 2 == 0);
      std::vector<T> expected;
      for (index_t i = 0; i < rows * columns; ++i) {
        const T v = in[static_cast<std::size_t>(i)];
        expected.push_back(i % columns % 3 == 0 ? T(T(v * v) + v)
                                                : (i / columns % 2 == 0 ? v : T(1)));
      }
      const auto e = where(of_columns, x * x + x, where(expand_dims(of_rows, 1), x, 1));
      EXPECT_EQ(values_of(eval(e)), expected);
    }
  });
}

// Truths that are made of numbers, as numbers of this type.
TYPED_TEST(truths_beside, become_numbers) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 15, 16, 17, 65, 4099}) {
      SCOPED_TRACE(n);
      const std::vector<float> in = support::varied(n);
      std::vector<T> small;
      std::vector<bool> any;
      for (const float v : in) {
        small.push_back(v < 1 ? T(1) : T(0));
        any.push_back(v != 0);
      }
      const auto x = vector_on(d, in);
      const auto wide = eval(astype<double>(x));
      EXPECT_EQ(values_of(eval(astype<T>(exp2(x) < 2))), small);
      EXPECT_EQ(values_of(eval(astype<T>(exp2(wide) < 2))), small);
      EXPECT_EQ(values_of(eval(astype<T>(x < 1) * T(1))), small);
      EXPECT_EQ(values_of(eval(astype<bool>(x * x))), any);
    }
  });
}

TEST(truths, are_reshaped_before_they_are_there) {
  on_each_device([](topos::device d) {
    std::vector<float> in = support::varied(120);
    const auto x = vector_on(d, in);
    std::vector<bool> expected;
    std::vector<float> chosen;
    for (const float v : in) {
      expected.push_back(v > 0);
      chosen.push_back(v > 0 ? v * v : 0);
    }
    const topos::shape<2> whole{6, 20};
    EXPECT_EQ(values_of(eval(reshape(x > 0, whole))), expected);
    EXPECT_EQ(values_of(eval(where(reshape(x > 0, whole), reshape(x * x, whole), 0))), chosen);
  });
}

}  // namespace truths_beside_lanes_test
