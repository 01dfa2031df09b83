// SPDX-License-Identifier: Apache-2.0

/// What is the same in all columns, or everywhere, is the same number as where it is not.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <topos/expr/generators.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/settled_row.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/explain.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace settled_row_test {

using support::on_each_device;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;
using topos::where;

template <class T>
class settled : public testing::Test {};
using types = support::types<float, double, topos::f16, Kokkos::complex<float>>;
TYPED_TEST_SUITE(settled, types);

constexpr index_t rows = 3;

// Numbers from 1/16 on.
template <class T>
tensor<T, 2> numbers(index_t columns, topos::device d) {
  std::vector<T> all;
  for (index_t i = 0; i < rows * columns; ++i)
    all.push_back(static_cast<T>(static_cast<float>(i % 61 + 1) / 16));
  return support::tensor_on<2, T>(d, {rows, columns}, all);
}

// Against the same with all operands as large as the result.
TYPED_TEST(settled, columns_and_numbers_have_the_same_bits) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 17, 40, 600, 5000}) {
      SCOPED_TRACE(columns);
      const topos::shape<2> whole{rows, columns};
      const tensor<T, 2> x = numbers<T>(columns, d);
      const tensor<T, 2> column = eval(slice(x, topos::range{}, topos::range{0, 1}));
      const tensor<T, 0> number = eval(reshape(slice(x, 1, topos::range{0, 1}), topos::shape<0>{}));
      const tensor<T, 2> columns_of = eval(broadcast_to(column, whole));
      const tensor<T, 2> numbers_of = eval(broadcast_to(number, whole));
      const auto all = [&](const auto& c, const auto& s) {
        return exp(sqrt(c) / s) + x * log(s) - (x + exp(s)) * sqrt(c * s);
      };
      EXPECT_EQ(values_of(eval(all(column, number))), values_of(eval(all(columns_of, numbers_of))));
      EXPECT_EQ(values_of(eval(sum(all(column, number), 1))),
                values_of(eval(sum(all(columns_of, numbers_of), 1))));
      const tensor<T, 2> turned = eval(transpose(x));
      EXPECT_EQ(values_of(eval(turned * exp(number) + transpose(log(column)))),
                values_of(eval(turned * exp(transpose(numbers_of)) + log(transpose(columns_of)))));
    }
  });
}

TEST(settled, truths_of_numbers_choose) {
  on_each_device([](topos::device d) {
    const tensor<float, 2> x = numbers<float>(100, d);
    const tensor<float, 0> number = eval(max(x));
    const tensor<bool, 0> stored = eval(number > 1);
    EXPECT_EQ(values_of(eval(where(number > 1, x * x, 0))), values_of(eval(x * x)));
    EXPECT_EQ(values_of(eval(where(stored, x * x, 0))), values_of(eval(x * x)));
    EXPECT_EQ(values_of(eval(where(stored && x > 1, x, 0))), values_of(eval(where(x > 1, x, 0))));
    EXPECT_EQ(values_of(eval(where(!stored, x, 1))), std::vector<float>(300, 1));
  });
}

// A number is loaded as such, and leaves what is beside it dense, in views as well.
TEST(settled, numbers_leave_rows_dense) {
  const tensor<float, 2> x = numbers<float>(100, topos::cpu());
  const auto e = x - mean(x);
  EXPECT_TRUE(e.rows(topos::detail::walk_of(e)).row(0).is_dense());
  const auto part = slice(e, topos::range{1, 3});
  EXPECT_TRUE(part.rows(topos::detail::walk_of(part)).row(0).is_dense());
  std::vector<float> expected = values_of(eval(e));
  expected.erase(expected.begin(), expected.begin() + 100);
  EXPECT_EQ(values_of(eval(part)), expected);
}

// What fewer axes have is computed once, where that takes longer than to load it.
TEST(settled, operands_of_fewer_axes_are_leaves) {
  on_each_device([](topos::device d) {
    const tensor<float, 2> x = numbers<float>(40, d);
    const tensor<float, 1> w = eval(slice(x, 1));
    const tensor<float, 1> powers = eval(exp(w));
    const auto e = x * exp(w);
    EXPECT_EQ(topos::explain(e).bytes_read, topos::explain(x * powers).bytes_read);
    EXPECT_EQ(values_of(eval(e)), values_of(eval(x * powers)));
    // Lazy: nothing that is the same size, nor what takes no longer.
    EXPECT_EQ(topos::explain(x * exp(x)).bytes_read, topos::explain(x).bytes_read);
    const auto simple = x * (w + 1);
    EXPECT_EQ(topos::explain(simple).bytes_read, topos::explain(x * w).bytes_read);
    EXPECT_EQ(values_of(eval(simple)), values_of(eval(x * eval(w + 1))));
  });
}

}  // namespace settled_row_test
