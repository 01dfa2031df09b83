// SPDX-License-Identifier: Apache-2.0

/// Joining tensors along an axis.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <topos/expr/split.hpp>
#include <topos/tensor/concatenate.hpp>
#include <topos/tensor/reduction.hpp>
#include <tuple>
#include <vector>

#include "../support/devices.hpp"

namespace concatenate_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::tensor_on;
using support::values_of;
using topos::concatenate;
using topos::index_t;
using topos::stack;
using topos::tensor;

TEST(concatenate, puts_one_after_the_other) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {1, 3, 17, 4097}) {
      const auto a = support::varied(2 * columns, 1);
      const auto b = support::varied(5 * columns, 2);
      std::vector<float> expected = a;
      expected.insert(expected.end(), b.begin(), b.end());

      const auto none = topos::zeros<float, 2>({0, columns}, d);
      const tensor<float, 2> y =
          concatenate({tensor_on<2>(d, {2, columns}, a), none, tensor_on<2>(d, {5, columns}, b)});

      EXPECT_EQ(y.shape(), (topos::shape<2>{7, columns}));
      EXPECT_EQ(y.device(), d);
      EXPECT_EQ(values_of(y), expected) << columns;
    }
  });
}

TEST(concatenate, takes_parts_of_tensors_and_integers) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    EXPECT_EQ(values_of(concatenate({x.row(1), x.row(0), x.row(1)})),
              (std::vector<int>{3, 4, 1, 2, 3, 4}));
  });
}

TEST(concatenate, takes_expressions) {
  on_each_device([](topos::device d) {
    tensor<int, 2> x = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    using topos::range;
    EXPECT_EQ(values_of(concatenate({x.slice(range{1, 2}), x.slice(range{0, 1})})),
              (std::vector<int>{3, 4, 1, 2}));
    EXPECT_EQ(values_of(concatenate({x + 1, x + 2}, 1)),
              (std::vector<int>{2, 3, 3, 4, 4, 5, 5, 6}));
    EXPECT_EQ(values_of(concatenate(topos::split(x, 2, 1))), (std::vector<int>{1, 3, 2, 4}));
    EXPECT_EQ(values_of(stack({x.slice(1), x.slice(0)})), (std::vector<int>{3, 4, 1, 2}));
    EXPECT_EQ(values_of(stack({topos::max(x, 0), topos::max(x, 0)})),
              (std::vector<int>{3, 4, 3, 4}));
  });
}

TEST(concatenate, of_several_types_takes_a_tuple) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    const auto half = tensor_on<2>(d, {1, 2}, std::vector<double>{0.5, 1.5});

    const tensor<double, 2> y = concatenate(std::tuple{x, x * 2, half});
    EXPECT_EQ(values_of(y), (std::vector<double>{1, 2, 3, 4, 2, 4, 6, 8, 0.5, 1.5}));
    EXPECT_EQ(y.device(), d);
    EXPECT_EQ(values_of(concatenate(std::tie(x, x), -1)),
              (std::vector<int>{1, 2, 1, 2, 3, 4, 3, 4}));
    EXPECT_EQ(values_of(stack(std::tuple{x, topos::ones<int, 2>({2, 2}, d) - x}, 2)),
              (std::vector<int>{1, 0, 2, -1, 3, -2, 4, -3}));
    EXPECT_THROW(static_cast<void>(concatenate(std::tuple{x, half}, 1)), topos::shape_mismatch);
    EXPECT_THROW(static_cast<void>(stack(std::tuple{x, half})), topos::shape_mismatch);
  });
}

TEST(concatenate, along_any_axis) {
  on_each_device([](topos::device d) {
    const auto a = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    const auto b = tensor_on<2>(d, {2, 1}, std::vector<int>{5, 6});
    EXPECT_EQ(values_of(concatenate({a, b, a}, 1)),
              (std::vector<int>{1, 2, 5, 1, 2, 3, 4, 6, 3, 4}));
    EXPECT_EQ(values_of(concatenate(std::vector{b, a}, -1)), (std::vector<int>{5, 1, 2, 6, 3, 4}));
    EXPECT_THROW(static_cast<void>(concatenate({a, b}, 2)), topos::out_of_range);
    EXPECT_THROW(static_cast<void>(concatenate({a, b}, 0)), topos::shape_mismatch);
  });
}

TEST(stack, puts_tensors_beside_each_other_on_a_new_axis) {
  on_each_device([](topos::device d) {
    const auto a = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    const auto b = tensor_on<2>(d, {2, 2}, std::vector<int>{5, 6, 7, 8});
    const tensor<int, 3> first = stack({a, b});
    EXPECT_EQ(first.shape(), (topos::shape<3>{2, 2, 2}));
    EXPECT_EQ(values_of(first), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(values_of(stack({a, b}, 1)), (std::vector<int>{1, 2, 5, 6, 3, 4, 7, 8}));
    EXPECT_EQ(values_of(stack(std::vector{a, b}, -1)), (std::vector<int>{1, 5, 2, 6, 3, 7, 4, 8}));
    const auto one = topos::full<int, 0>({}, 3, d);
    EXPECT_EQ(values_of(stack({one, one, one})), (std::vector<int>{3, 3, 3}));
  });
}

TEST(stack, of_other_shapes_is_refused) {
  const auto a = topos::zeros<float, 2>({2, 3});
  const auto b = topos::zeros<float, 2>({3, 3});
  const std::string message = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(stack({a, b}));
  });
  EXPECT_TRUE(contains(message, "(2, 3)") && contains(message, "(3, 3)")) << message;
  EXPECT_THROW(static_cast<void>(stack({a}, 3)), topos::out_of_range);
}

TEST(concatenate, of_one_is_a_copy) {
  const auto x = topos::ones<float, 1>({3});
  EXPECT_NE(concatenate({x}).data(), x.data());
}

TEST(concatenate, of_a_failed_part_has_failed) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> failed({10}, d);
    topos::detail::queue_of(d, std::source_location::current())
        .submit({}, {failed.memory()}, topos::detail::always_queued,
                [](const auto&) { throw std::domain_error("gone"); });
    const auto whole = topos::ones<float, 1>({3}, d);

    EXPECT_THROW(values_of(concatenate({failed, whole})), std::domain_error);
    EXPECT_THROW(values_of(concatenate({whole, failed, whole})), std::domain_error);
  });
}

TEST(concatenate, of_nothing_is_refused) {
  EXPECT_THROW(static_cast<void>(concatenate(std::initializer_list<tensor<float, 1>>{})),
               topos::invalid_argument);
}

TEST(concatenate, of_other_axes_is_refused_and_names_both) {
  const auto a = topos::zeros<float, 2>({2, 3});
  const auto b = topos::zeros<float, 2>({2, 4});

  const std::string message = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(concatenate({a, b}));
  });

  EXPECT_TRUE(contains(message, "(2, 3)") && contains(message, "(2, 4)")) << message;
}

TEST(concatenate, along_an_axis_that_does_not_fit_is_refused) {
  const auto x = topos::zeros<float, 2>({0, topos::index_t{1} << 62});

  const std::string message = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(concatenate({x, x}, 1));
  });

  EXPECT_TRUE(contains(message, "concatenate: axis 1 of the result does not fit")) << message;
}

TEST(concatenate, across_devices_is_refused_and_names_both) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const auto a = topos::zeros<float, 1>({2});
  const auto b = topos::zeros<float, 1>({2}, topos::gpu());

  const std::string message = refusal<topos::device_mismatch>([&] {
    static_cast<void>(concatenate({a, b}));
  });

  EXPECT_TRUE(contains(message, "cpu") && contains(message, "cuda:0")) << message;
}

}  // namespace concatenate_test
