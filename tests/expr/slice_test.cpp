// SPDX-License-Identifier: Apache-2.0

/// Slices take what Python's take, of tensors and of expressions.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/slice.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace slice_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::tensor_on;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::range;
using topos::slice;

std::vector<int> counted(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

struct python_slice {
  range indices;
  std::vector<int> of_seven;
};

TEST(slice, ranges_are_written_in_braces) {
  on_each_device([](const topos::device& d) {
    const auto x = tensor_on<2>(d, {3, 4}, counted(12));
    EXPECT_EQ(values_of(eval(slice(x, {1, -1}, {1, -1}))), (std::vector{5, 6}));
    EXPECT_EQ(values_of(eval(slice(x, {1, {}}))), (std::vector{4, 5, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(values_of(eval(slice(x, 1, {{}, {}, -2}))), (std::vector{7, 5}));
    EXPECT_EQ(values_of(eval(slice(x, {}, 2))), (std::vector{2, 6, 10}));
    EXPECT_EQ(values_of(eval(slice(x, {0, 2}, range{3, {}}))), (std::vector{3, 7}));
    topos::tensor<int, 2> y = x;
    y.slice({0, 2}, {2, {}}) = 0;
    EXPECT_EQ(values_of(y), (std::vector{0, 1, 0, 0, 4, 5, 0, 0, 8, 9, 10, 11}));
    EXPECT_TRUE(contains(refusal<topos::invalid_argument>([&] {
                           static_cast<void>(slice(x, {0, 1}, 0, {0, 1}));
                         }),
                         "slice: index 2 is beyond the axes of (3, 4)"));
  });
}

TEST(slice, of_ranges_is_pythons) {
  constexpr index_t far = std::numeric_limits<index_t>::max();
  // list(range(7))[start:stop:step]
  const std::vector<python_slice> cases{
      {{}, {0, 1, 2, 3, 4, 5, 6}},
      {{2, 5}, {2, 3, 4}},
      {{-3, {}}, {4, 5, 6}},
      {{{}, -5}, {0, 1}},
      {{1, 6, 2}, {1, 3, 5}},
      {{{}, {}, 3}, {0, 3, 6}},
      {{{}, {}, -1}, {6, 5, 4, 3, 2, 1, 0}},
      {{5, 1, -2}, {5, 3}},
      {{{}, 3, -1}, {6, 5, 4}},
      {{3, {}, -2}, {3, 1}},
      {{-2, -6, -3}, {5, 2}},
      {{4, 4}, {}},
      {{5, 2}, {}},
      {{2, 5, -1}, {}},
      {{9, 20}, {}},
      {{-20, 2}, {0, 1}},
      {{20, {}, -3}, {6, 3, 0}},
      {{{}, -20, -4}, {6, 2}},
      {{0, far}, {0, 1, 2, 3, 4, 5, 6}},
      {{1, far, far}, {1}},
      {{-1, -far, -far}, {6}},
      {{-far, far, 5}, {0, 5}},
      {{{}, {}, -far - 1}, {6}},
      {{2, -far - 1, -far - 1}, {2}},
  };
  on_each_device([&](topos::device d) {
    const auto x = support::vector_on(d, counted(7));
    const auto none = topos::zeros<int, 1>({0}, d);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(values_of(eval(slice(x, cases[i].indices))), cases[i].of_seven) << "case " << i;
      EXPECT_EQ(values_of(eval(slice(x * 2 - x, cases[i].indices))), cases[i].of_seven) << i;
      EXPECT_TRUE(values_of(eval(slice(none, cases[i].indices))).empty()) << i;
    }
  });
}

TEST(slice, of_one_index_takes_any_step) {
  constexpr index_t far = std::numeric_limits<index_t>::max();
  on_each_device([&](topos::device d) {
    const auto x = tensor_on<2>(d, {3, 2}, counted(6));
    EXPECT_EQ(values_of(eval(slice(x, range{1, {}, far}))), (std::vector<int>{2, 3}));
    EXPECT_EQ(values_of(eval(slice(x, range{{}, {}, -far}))), (std::vector<int>{4, 5}));
  });
}

TEST(slice, of_an_integer_takes_the_axis_away) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<3>(d, {2, 3, 4}, counted(24));

    EXPECT_EQ(values_of(eval(slice(x, 1, 2, 3))), std::vector<int>{23});
    EXPECT_EQ(values_of(eval(slice(x, -1, -3, -4))), std::vector<int>{12});
    EXPECT_EQ(values_of(eval(slice(x, range{}, 1))),
              (std::vector<int>{4, 5, 6, 7, 16, 17, 18, 19}));
    EXPECT_EQ(values_of(eval(slice(x, 0, range{}, -1))), (std::vector<int>{3, 7, 11}));
    EXPECT_EQ(slice(x, range{0, 1}, 1).shape(), (topos::shape<2>{1, 4}));
    EXPECT_EQ(slice(x).shape(), x.shape());
    EXPECT_EQ(values_of(eval(slice(x, {}, 1, 2))), (std::vector<int>{6, 18}));
    EXPECT_EQ(values_of(eval(slice(slice(x, 1, range(0, 2)), range{}, range(1, {}, 2)))),
              (std::vector<int>{13, 15, 17, 19}));
  });
}

TEST(slice, of_an_operation_computes_no_more) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {3, 4}, counted(12));
    const auto row = support::vector_on<int>(d, {10, 20, 30, 40});

    const auto e = slice(x + row, range{}, 2);

    EXPECT_EQ(topos::size_of_shape(e.shape()), 3);
    EXPECT_EQ(values_of(eval(e)), (std::vector<int>{32, 36, 40}));
    EXPECT_EQ(values_of(eval(slice(x + row, -1, range({}, {}, -1)))),
              (std::vector<int>{51, 40, 29, 18}));
  });
}

TEST(slice, outside_is_refused_and_names_the_axis) {
  const auto x = topos::zeros<float, 2>({2, 3});
  for (const index_t i : {index_t{3}, index_t{-4}, std::numeric_limits<index_t>::min()}) {
    const std::string message =
        refusal<topos::out_of_range>([&] { static_cast<void>(slice(x, 0, i)); });
    for (const char* part : {"slice", "axis 1", "(2, 3)"})
      EXPECT_TRUE(contains(message, part)) << message;
    EXPECT_TRUE(contains(message, std::to_string(i))) << message;
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(contains(refusal<topos::out_of_range>([&] { static_cast<void>(slice(x, most)); }),
                       std::to_string(most)));
  const auto none = topos::zeros<float, 1>({0});
  EXPECT_THROW(static_cast<void>(slice(none, 0)), topos::out_of_range);
}

TEST(slice, with_a_step_of_zero_is_refused) {
  const auto x = topos::zeros<float, 1>({3});
  const std::string message =
      refusal<topos::invalid_argument>([&] { static_cast<void>(slice(x, range(0, 3, 0))); });
  EXPECT_TRUE(contains(message, "step")) << message;
}

}  // namespace slice_test
