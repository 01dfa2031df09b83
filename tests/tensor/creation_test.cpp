// SPDX-License-Identifier: Apache-2.0

/// New tensors of every type and size, on every device.

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace creation_test {

using support::on_each_device;
using support::values_of;
using topos::index_t;

template <class T>
class creation : public testing::Test {};
using types = support::types<float, double, std::int8_t, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(creation, types);

TYPED_TEST(creation, full_zeros_and_ones_hold_their_value_everywhere) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const auto count = static_cast<std::size_t>(n);
      EXPECT_EQ(values_of(topos::full<T, 1>({n}, T(5), d)), std::vector<T>(count, 5)) << n;
      EXPECT_EQ(values_of(topos::zeros<T, 2>({1, n}, d)), std::vector<T>(count, 0)) << n;
      EXPECT_EQ(values_of(topos::ones<T, 2>({n, 1}, d)), std::vector<T>(count, 1)) << n;
    }
  });
}

TEST(full, converts_numbers_of_other_types) {
  on_each_device([](topos::device d) {
    using complex = Kokkos::complex<float>;
    const topos::f16 half(0.5F);
    const topos::bf16 three(3.0F);
    EXPECT_EQ(values_of(topos::full<topos::f16>({2}, 0.5F, d)), std::vector(2, half));
    EXPECT_EQ(values_of(topos::full<topos::f16>({2}, 0.5, d)), std::vector(2, half));
    EXPECT_EQ(values_of(topos::full<topos::bf16>({2}, 3, d)), std::vector(2, three));
    EXPECT_EQ(values_of(topos::full<topos::bf16, 1>({2}, 3, d)), std::vector(2, three));
    EXPECT_EQ(values_of(topos::full<float>({2}, half, d)), std::vector(2, 0.5F));
    EXPECT_EQ(values_of(topos::full<complex>({2}, 3, d)), std::vector(2, complex(3.0F)));
    EXPECT_EQ(values_of(topos::full<complex>({2}, Kokkos::complex<double>(1, 2), d)),
              std::vector(2, complex(1.0F, 2.0F)));
    const auto x = topos::zeros<topos::f16>({2}, d);
    EXPECT_EQ(values_of(topos::full_like(x, 0.5)), std::vector(2, half));
    EXPECT_EQ(values_of(topos::full_like<topos::bf16>(x, 3)), std::vector(2, three));
    EXPECT_EQ(values_of(topos::full_like<std::uint8_t>(x, 3)), (std::vector<std::uint8_t>{3, 3}));
  });
}

TEST(full, refuses_whole_numbers_that_its_type_does_not_have) {
  EXPECT_THROW((void)topos::full<std::uint8_t>({2}, 256), topos::invalid_argument);
  EXPECT_THROW((void)topos::full<std::uint64_t>({2}, -1), topos::invalid_argument);
  const auto x = topos::zeros<std::int8_t>({2});
  EXPECT_THROW((void)topos::full_like(x, 128), topos::invalid_argument);
  EXPECT_EQ(values_of(topos::full_like(x, -128)), (std::vector<std::int8_t>{-128, -128}));
}

TYPED_TEST(creation, copies_host_memory) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      std::vector<T> values = support::varied<T>(n);
      const std::vector<T> expected = values;
      const auto x = support::vector_on(d, values);
      values.assign(values.size(), T(99));  // the tensor has its own
      EXPECT_EQ(values_of(x), expected) << n;
      EXPECT_EQ(x.device(), d);
    }
  });
}

TEST(from_host, takes_the_type_of_what_is_in_memory_side_by_side) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const topos::shape<2> extents{2, 3};
  const std::array<int, 2> pair{7, 8};
  static_assert(std::same_as<decltype(topos::from_host(values, {2, 3})), topos::tensor<float, 2>>);

  EXPECT_EQ(values_of(topos::from_host(values, {2, 3})), values);
  EXPECT_EQ(values_of(topos::from_host(std::span(values), extents)), values);
  EXPECT_EQ(values_of(topos::from_host(std::span(values).first(2), {2})),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of(topos::from_host(pair, {2, 1})), (std::vector<int>{7, 8}));
}

TEST(from_host, of_another_number_of_values_is_refused) {
  const std::vector<float> values(5);

  const std::string message = support::refusal<topos::shape_mismatch>([&] {
    static_cast<void>(topos::from_host<float, 2>(values, {2, 3}));
  });

  EXPECT_TRUE(support::contains(message, "5") && support::contains(message, "(2, 3)")) << message;
}

TEST(array, has_the_shape_of_its_braces) {
  on_each_device([](topos::device d) {
    const topos::tensor<int, 1> one = topos::array({1, 2, 3}, d);
    const topos::tensor<float, 2> two = topos::array<float>({{1, 2, 3}, {4, 5, 6}}, d);
    const topos::tensor<bool, 3> three = topos::array({{{true, false}}, {{false, true}}}, d);

    EXPECT_EQ(values_of(one), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(two.shape(), (topos::shape<2>{2, 3}));
    EXPECT_EQ(values_of(two), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(three.shape(), (topos::shape<3>{2, 1, 2}));
    EXPECT_EQ(three.device(), d);
  });
}

TEST(array, of_sixteen_bit_floats_is_written_in_numbers) {
  on_each_device([](topos::device d) {
    const topos::tensor<topos::f16, 1> one = topos::array<topos::f16>({1, 2.5}, d);
    const topos::tensor<topos::bf16, 2> two = topos::array<topos::bf16>({{1, 2}, {3, -4}}, d);

    EXPECT_EQ(values_of(topos::eval(topos::astype<float>(one))), (std::vector<float>{1, 2.5f}));
    EXPECT_EQ(values_of(topos::eval(topos::astype<float>(two))), (std::vector<float>{1, 2, 3, -4}));
    EXPECT_EQ(topos::array<topos::f16>({topos::f16(1.0f)}, d).shape(), (topos::shape<1>{1}));
  });
}

TEST(creation_functions, take_their_shape_from_braces) {
  const topos::shape<2> expected{2, 3};

  EXPECT_EQ(topos::empty<float>({2, 3}).shape(), expected);
  EXPECT_EQ(topos::empty<float>(2, 3).shape(), expected);
  EXPECT_EQ(values_of(topos::zeros<int>(2)), (std::vector<int>{0, 0}));
  EXPECT_EQ(values_of(topos::ones<float>(1, std::size_t{2})), (std::vector<float>{1, 1}));
  EXPECT_EQ(topos::zeros<float>({2, 3}).shape(), expected);
  EXPECT_EQ(topos::ones<float>({2, 3}).shape(), expected);
  EXPECT_EQ(values_of(topos::full<float>({1, 2}, 7)), (std::vector<float>{7, 7}));
  EXPECT_EQ(topos::from_host<float>(std::vector<float>(6), {2, 3}).shape(), expected);
  EXPECT_EQ(topos::reshape(topos::arange<float>(6), {2, -1}).shape(), expected);
  EXPECT_EQ(topos::broadcast_to(topos::zeros<float>({3}), {2, 3}).shape(), expected);
}

TEST(creation_functions, are_of_float_or_of_their_value_where_no_type_is_named) {
  using topos::tensor;
  static_assert(std::same_as<decltype(topos::zeros({2, 3})), tensor<float, 2>>);
  static_assert(std::same_as<decltype(topos::ones(2, 3)), tensor<float, 2>>);
  static_assert(std::same_as<decltype(topos::empty({4})), tensor<float, 1>>);
  on_each_device([](topos::device d) {
    EXPECT_EQ(values_of(topos::full({2}, 7, d)), (std::vector<int>{7, 7}));
    EXPECT_EQ(values_of(topos::full({2}, 0.5, d)), (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(values_of(eval(topos::eye(2, d))), (std::vector<float>{1, 0, 0, 1}));
  });
}

TEST(empty, has_its_shape) {
  on_each_device([](topos::device d) {
    const auto x = topos::empty<float, 3>({2, 0, 4}, d);
    EXPECT_EQ(x.shape(), (topos::shape<3>{2, 0, 4}));
    EXPECT_EQ(x.device(), d);
    EXPECT_TRUE(x.is_ready());
  });
}

TEST(creation_functions, use_the_default_device) {
  on_each_device([](topos::device d) {
    const topos::default_device here(d);
    EXPECT_EQ((topos::empty<float, 1>({1}).device()), d);
    EXPECT_EQ((topos::zeros<float, 1>({1}).device()), d);
    EXPECT_EQ((topos::ones<float, 1>({1}).device()), d);
    EXPECT_EQ((topos::full<float, 1>({1}, 2).device()), d);
    EXPECT_EQ((topos::from_host<float, 1>(std::vector<float>{1}, {1}).device()), d);
  });
}

TEST(creation_functions, take_after_another_tensor) {
  support::on_each_device([](topos::device d) {
    const topos::tensor<float, 2> x = topos::full<float, 2>({2, 3}, 7, d);

    const auto zeros = topos::zeros_like(x);
    const auto ones = topos::ones_like<std::int32_t>(x);
    const auto full = topos::full_like(x * 2, 4);
    const auto empty = topos::empty_like(x);
    const auto here = topos::zeros_like(x, topos::cpu());

    EXPECT_EQ(zeros.shape(), x.shape());
    EXPECT_EQ(zeros.device(), d);
    EXPECT_EQ(support::values_of(zeros), std::vector<float>(6, 0));
    EXPECT_EQ(support::values_of(ones), std::vector<std::int32_t>(6, 1));
    EXPECT_EQ(support::values_of(full), std::vector<float>(6, 4));
    EXPECT_EQ(empty.shape(), x.shape());
    EXPECT_EQ(empty.device(), d);
    EXPECT_EQ(here.device(), topos::cpu());
  });
}

}  // namespace creation_test
