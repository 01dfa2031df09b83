// SPDX-License-Identifier: Apache-2.0

/// Operators broadcast, take scalars and refuse what does not fit, at every place in a row.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace elementwise_test {

using support::contains;
using support::on_each_device;
using support::rows_of;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::index_t;
using topos::tensor;

template <class T>
class elementwise_of : public testing::Test {};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(elementwise_of, real_types);

TYPED_TEST(elementwise_of, operators_broadcast_as_numpys) {
  using T = TypeParam;
  const std::string prefix = support::named<T>("");
  const auto blocks = rows_of<T>("broadcast_" + prefix + "result");
  std::vector<T> a;
  for (const auto& block : rows_of<T>("broadcast_" + prefix + "a"))
    a.insert(a.end(), block.begin(), block.end());
  std::vector<T> b;
  for (const auto& row : rows_of<T>("broadcast_" + prefix + "b")) b.push_back(row.at(0));
  on_each_device([&](topos::device d) {
    const auto x = tensor_on<3>(d, {3, 1, 17}, a);
    const auto y = tensor_on<2>(d, {5, 1}, b);
    const std::vector<tensor<T, 3>> results{x + y, x - y, x * y, x / y};
    ASSERT_EQ(results.size(), blocks.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].shape(), (topos::shape<3>{3, 5, 17}));
      EXPECT_EQ(values_of(results[i]), blocks[i]) << "each is rounded once, block " << i;
    }
  });
}

TYPED_TEST(elementwise_of, bits_do_not_depend_on_the_place) {
  using T = TypeParam;
  const std::vector<T> in = support::varied<T>(67);
  on_each_device([&](topos::device d) {
    const tensor<T, 1> x = vector_on(d, in);
    const tensor<T, 2> rows = x.template reshape<2>({67, 1});
    const auto both = [](const auto& v) {
      return gelu(v) * T(1.5) + exp(v) / (square(v) + T(0.3));
    };
    const std::vector<T> together = values_of(eval(both(x)));
    for (index_t i = 0; i < 67; ++i) {
      const std::vector<T> alone = values_of(eval(both(rows.row(i))));
      EXPECT_TRUE(same_bits(alone, {together[static_cast<std::size_t>(i)]})) << i;
    }
  });
}

TYPED_TEST(elementwise_of, every_size_is_computed_whole) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const std::vector<T> in = support::varied<T>(n);
      std::vector<T> expected = in;
      for (T& v : expected) v = v * v;
      EXPECT_EQ(values_of(eval(square(vector_on(d, in)))), expected) << n;
    }
  });
}

TEST(elementwise, integers_are_computed_exactly) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<std::int64_t>(d, {std::int64_t{1} << 53, -3, 7});
    const auto y = vector_on<std::int64_t>(d, {1, 2, -2});

    EXPECT_EQ(values_of(eval(x + y)),
              (std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1, -1, 5}));
    EXPECT_EQ(values_of(eval(abs(x * y))),
              (std::vector<std::int64_t>{std::int64_t{1} << 53, 6, 14}));
    EXPECT_EQ(values_of(eval(floor_divide(x, y))),
              (std::vector<std::int64_t>{std::int64_t{1} << 53, -2, -4}));
    EXPECT_EQ(values_of(eval(-x - 1)),
              (std::vector<std::int64_t>{-(std::int64_t{1} << 53) - 1, 2, -8}));
  });
}

TEST(elementwise, scalars_take_the_other_sides_type_on_either_side) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<float>(d, {1, 2, 4});

    const auto e = 1 / (0.5 * x) - 1;

    static_assert(std::is_same_v<decltype(e)::value_type, float>);
    EXPECT_EQ(values_of(eval(e)), (std::vector<float>{1, 0, -0.5f}));
  });
}

TEST(elementwise, operand_of_one_axis_repeats_over_rows) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 17, 4097}) {
      const auto a = support::varied(3 * columns);
      const auto b = support::varied(columns, 2);
      std::vector<float> expected = a;
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b[i % b.size()];
      const tensor<float, 2> y = tensor_on<2>(d, {3, columns}, a) + vector_on(d, b);
      EXPECT_EQ(values_of(y), expected) << columns;
    }
  });
}

TEST(elementwise, empty_operands_broadcast_to_nothing) {
  on_each_device([](topos::device d) {
    const auto none = topos::zeros<float, 2>({0, 5000}, d);
    const auto row = topos::ones<float, 1>({5000}, d);

    const tensor<float, 2> sum = none + row;
    const tensor<float, 2> wide =
        topos::zeros<float, 2>({3, 0}, d) + topos::ones<float, 2>({3, 1}, d);

    EXPECT_EQ(sum.shape(), (topos::shape<2>{0, 5000}));
    EXPECT_TRUE(values_of(sum).empty());
    EXPECT_EQ(wide.shape(), (topos::shape<2>{3, 0}));
    EXPECT_TRUE(values_of(wide).empty());
  });
}

TEST(elementwise, tensors_without_axes_broadcast) {
  on_each_device([](topos::device d) {
    const auto two = topos::full<float, 0>({}, 2, d);
    const auto x = vector_on<float>(d, {1, 2, 3});

    EXPECT_EQ(values_of(eval(two * two)), std::vector<float>{4});
    EXPECT_EQ(values_of(eval(two * x)), (std::vector<float>{2, 4, 6}));
  });
}

TEST(elementwise, shapes_that_do_not_broadcast_are_both_named) {
  const auto x = topos::zeros<float, 2>({2, 3});
  const auto y = topos::zeros<float, 1>({4});

  const std::string message =
      support::refusal<topos::shape_mismatch>([&] { static_cast<void>(x * y); });

  EXPECT_TRUE(contains(message, "multiply")) << message;
  EXPECT_TRUE(contains(message, "(2, 3)")) << message;
  EXPECT_TRUE(contains(message, "(4,)")) << message;
}

TEST(elementwise, operands_on_two_devices_are_both_named) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const auto x = topos::zeros<float, 2>({2, 3});
  const auto y = topos::zeros<float, 1>({3}, topos::gpu());

  const std::string message =
      support::refusal<topos::device_mismatch>([&] { static_cast<void>(x - y); });

  for (const char* part : {"subtract", "(2, 3)", "cpu", "(3,)", "cuda:0", "device_put"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
}

TEST(elementwise, deep_expressions_are_one_kernel_over_one_operand) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<double>(d, {0.25, 1, 4});
    const auto y = vector_on<double>(d, {1, 2, 3});

    const auto e = ((sqrt(x) + y) * (sqrt(x) - y)) / (x - square(y) + 1e-3) + (-abs(y) + y);

    const std::vector<double> got = values_of(eval(e));
    for (std::size_t i = 0; i < 3; ++i) {
      const double a = values_of(x)[i];
      const double b = values_of(y)[i];
      EXPECT_DOUBLE_EQ(got[i], (std::sqrt(a) + b) * (std::sqrt(a) - b) / (a - b * b + 1e-3));
    }
  });
}

// As in NumPy 2, whose arithmetic raises OverflowError.
TEST(elementwise, whole_numbers_that_do_not_fit_are_refused) {
  const topos::device d = topos::cpu();
  const auto bytes = support::vector_on<std::uint8_t>(d, {1, 2});
  const auto small = support::vector_on<std::int8_t>(d, {1, 2});
  const auto words = support::vector_on<std::int32_t>(d, {1, 2});

  const std::string message =
      support::refusal<topos::invalid_argument>([&] { static_cast<void>(bytes > -1); });
  EXPECT_TRUE(support::contains(message, "-1") && support::contains(message, "uint8") &&
              support::contains(message, "0 to 255"))
      << message;
  EXPECT_THROW(static_cast<void>(bytes == 300), topos::invalid_argument);
  EXPECT_TRUE(support::contains(
      support::refusal<topos::invalid_argument>([&] { static_cast<void>(fma(bytes, 300, 1)); }),
      "fma"));
  EXPECT_THROW(static_cast<void>(small + 128), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(small * -129), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(3'000'000'000LL - words), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(clip(small, 1000, 2000)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(clip(bytes, -2, -1)), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(where(small > 0, small, 1000U)), topos::invalid_argument);

  EXPECT_EQ(support::values_of(eval(bytes + 253)), (std::vector<std::uint8_t>{254, 255}));
  EXPECT_EQ(support::values_of(eval(small + -128)), (std::vector<std::int8_t>{-127, -126}));
  EXPECT_EQ(support::values_of(eval(clip(small, -1000, 1000))), (std::vector<std::int8_t>{1, 2}));
  EXPECT_EQ(support::values_of(eval(clip(bytes, -1, 1ULL))), (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(support::values_of(eval(bytes * 2.5f)), (std::vector<float>{2.5f, 5}));
}

TEST(elementwise, shifts_by_more_than_the_width_are_as_by_the_width) {
  on_each_device([](topos::device d) {
    const auto bytes = vector_on<std::uint8_t>(d, {1, 255});
    EXPECT_EQ(values_of(eval(bytes >> 300)), (std::vector<std::uint8_t>{0, 0}));
    EXPECT_EQ(values_of(eval(bytes << 256)), (std::vector<std::uint8_t>{0, 0}));
    const auto numbers = vector_on<std::int8_t>(d, {-5, 5});
    EXPECT_EQ(values_of(eval(numbers >> 1000L)), (std::vector<std::int8_t>{-1, 0}));
  });
}

TEST(elementwise, complex_signs_have_size_1) {
  using complex = Kokkos::complex<double>;
  on_each_device([](topos::device d) {
    const auto x = vector_on<complex>(d, {complex(3, -4), complex(0, 0), complex(0, 2)});
    EXPECT_EQ(values_of(eval(sign(x))),
              (std::vector<complex>{complex(0.6, -0.8), complex(0, 0), complex(0, 1)}));
  });
}

TEST(elementwise, functions_are_what_the_operators_are) {
  const topos::device d = topos::cpu();
  const auto x = support::vector_on<std::int32_t>(d, {0, 3, -4});
  const auto y = support::vector_on<std::int32_t>(d, {0, 0, 1});
  EXPECT_EQ(support::values_of(eval(negative(x))), (std::vector<std::int32_t>{0, -3, 4}));
  EXPECT_EQ(support::values_of(eval(bitwise_not(x))), (std::vector<std::int32_t>{-1, -4, 3}));
  EXPECT_EQ(support::values_of(eval(astype<std::int32_t>(logical_not(x)))),
            (std::vector<std::int32_t>{1, 0, 0}));
  EXPECT_EQ(support::values_of(eval(astype<std::int32_t>(logical_xor(x, y)))),
            (std::vector<std::int32_t>{0, 1, 0}));
}

}  // namespace elementwise_test
