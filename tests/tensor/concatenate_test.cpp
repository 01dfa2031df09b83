// SPDX-License-Identifier: Apache-2.0

/// Joining tensors along an axis.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <topos/expr/split.hpp>
#include <topos/random/uniform.hpp>
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

// Columns of a result one by one, each as it is said to be.
template <class Column>
std::vector<float> by_columns(index_t rows, index_t columns, const Column& column) {
  std::vector<float> all;
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = 0; c < columns; ++c) all.push_back(column(r, c));
  }
  return all;
}

TEST(concatenate, of_many_rows_of_parts_of_all_kinds) {
  on_each_device([](topos::device d) {
    for (const index_t width : {1, 5, 40, 300}) {
      const index_t rows = 500;
      const auto a = support::varied(rows * (width + 3), 1);
      const auto b = support::varied(rows, 2);
      const auto t = support::varied(width * rows, 3);
      const auto of_a = [&](index_t r, index_t c) { return a[r * (width + 3) + c]; };
      const auto x = tensor_on<2>(d, {rows, width + 3}, a);
      const auto column = tensor_on<2>(d, {rows, 1}, b);
      const auto across = tensor_on<2>(d, {width, rows}, t);

      const tensor<float, 2> y =
          concatenate(std::tuple{x.slice(topos::range{}, topos::range{1, width + 1}), x + 1.0f,
                                 topos::zeros<float, 2>({rows, 0}, d),
                                 topos::broadcast_to(column, {rows, width}), topos::flip(x, 1)},
                      1);
      const tensor<float, 2> turned = concatenate(std::tuple{x, topos::transpose(across)}, 1);

      const index_t w = width + 3;
      EXPECT_EQ(values_of(y), by_columns(rows, 2 * width + 2 * w,
                                         [&](index_t r, index_t c) {
                                           if (c < width) return of_a(r, c + 1);
                                           if (c < width + w) return of_a(r, c - width) + 1;
                                           if (c < 2 * width + w) return b[r];
                                           return of_a(r, 2 * width + 2 * w - 1 - c);
                                         }))
          << width;
      EXPECT_EQ(values_of(turned), by_columns(rows, w + width,
                                              [&](index_t r, index_t c) {
                                                return c < w ? of_a(r, c) : t[(c - w) * rows + r];
                                              }))
          << width;
    }
  });
}

TEST(concatenate, of_more_than_the_caches_hold) {
  const index_t rows = 2001;
  for (const index_t narrow : {50, 500}) {  // computed together with other rows, and alone
    const tensor<float, 2> wide = reshape(topos::arange<float>(rows * 4200), {rows, 4200});
    const tensor<float, 2> beside = reshape(topos::arange<float>(rows * narrow), {rows, narrow});
    const tensor<float, 2> y = concatenate({beside, wide}, 1);
    ASSERT_GE(y.memory().size(), topos::detail::bytes_past_caches);
    EXPECT_TRUE(topos::all(y.slice(topos::range{}, topos::range{0, narrow}) == beside).item());
    EXPECT_TRUE(topos::all(y.slice(topos::range{}, topos::range{narrow, {}}) == wide).item());
  }
}

TEST(concatenate, of_parts_with_axes_after_the_one_along_which_they_are_joined) {
  on_each_device([](topos::device d) {
    const index_t rows = 70;
    const auto a = support::varied(rows * 3 * 4, 1);
    const auto b = support::varied(rows * 4 * 2, 2);
    const auto x = tensor_on<3>(d, {rows, 3, 4}, a);
    const auto y = topos::permute(tensor_on<3>(d, {rows, 4, 2}, b), {0, 2, 1});  // (rows, 2, 4)
    const auto joined = by_columns(rows, 20, [&](index_t r, index_t c) {
      return c < 12 ? a[r * 12 + c] : b[r * 8 + c % 4 * 2 + (c - 12) / 4];
    });
    EXPECT_EQ(values_of(concatenate(std::tuple{x, y}, 1)), joined);
  });
}

TEST(concatenate, of_random_numbers_draws_those_of_each_part) {
  on_each_device([](topos::device d) {
    const topos::random::key k{7};
    const auto drawn = topos::random::uniform(k, {300, 32}, d);
    const tensor<float, 2> made = drawn;
    EXPECT_EQ(values_of(concatenate({drawn, drawn}, 1)), values_of(concatenate({made, made}, 1)));
  });
}

TEST(stack, interleaves_along_a_last_axis) {
  on_each_device([](topos::device d) {
    const index_t count = 10'000;
    const auto a = support::varied(count, 1);
    const auto x = tensor_on<1>(d, {count}, a);
    const auto both = by_columns(count, 3, [&](index_t r, index_t c) {
      return c == 0 ? a[r] : (c == 1 ? a[r] * 2 : a[count - 1 - r]);
    });
    EXPECT_EQ(values_of(stack(std::tuple{x, x * 2.0f, topos::flip(x, 0)}, 1)), both);
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
