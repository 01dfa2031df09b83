// SPDX-License-Identifier: Apache-2.0

/// Small functions under NumPy's names, with NumPy's results.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <topos/core/half.hpp>
#include <topos/expr/diff.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/triangle.hpp>
#include <topos/tensor/close.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/pad.hpp>
#include <topos/tensor/repeat.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace like_numpy_test {

using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::shape;

TEST(diff, is_of_neighbours) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{1, 4, 9, 16, 25, 36});
    EXPECT_EQ(values_of(eval(topos::diff(x))), (std::vector<int>{3, 5, 9, 11}));
    EXPECT_EQ(values_of(eval(topos::diff(x * 2, 0))), (std::vector<int>{30, 42, 54}));
    EXPECT_EQ(values_of(eval(topos::diff(topos::diff(x)))), (std::vector<int>{2, 2}));
  });
}

TEST(diff, of_one_element_or_none_is_empty) {
  EXPECT_EQ(topos::diff(topos::ones<float>({3, 1})).shape(), (shape<2>{3, 0}));
  EXPECT_EQ(topos::diff(topos::ones<float>({0, 4}), 0).shape(), (shape<2>{0, 4}));
  EXPECT_EQ(eval(topos::diff(topos::ones<float>({1}))).size(), 0);
  EXPECT_THROW((void)topos::diff(topos::ones<float>({3}), 1), topos::out_of_range);
}

TEST(repeat, puts_each_element_beside_itself) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{0, 1, 2, 3, 4, 5});
    const auto down = topos::repeat(x, 2, 0);
    EXPECT_EQ(down.shape(), (shape<2>{4, 3}));
    EXPECT_EQ(down.device(), d);
    EXPECT_EQ(values_of(down), (std::vector<int>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
    EXPECT_EQ(values_of(topos::repeat(x + 1, 2, -1)),
              (std::vector<int>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
    EXPECT_EQ(topos::repeat(x, 0, 1).shape(), (shape<2>{2, 0}));
  });
  const auto x = topos::ones<float>({2});
  EXPECT_THROW((void)topos::repeat(x, -1, 0), topos::invalid_argument);
  EXPECT_THROW((void)topos::repeat(x, 2, 1), topos::out_of_range);
  EXPECT_THROW((void)topos::repeat(x, std::int64_t{1} << 62, 0), topos::shape_mismatch);
}

TEST(tile, puts_the_whole_beside_itself) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 2}, std::vector<int>{0, 1, 2, 3});
    EXPECT_EQ(values_of(topos::tile(x, {2, 1})), (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
    const auto along = topos::tile(transpose(x), 2);
    EXPECT_EQ(along.shape(), (shape<2>{2, 4}));
    EXPECT_EQ(values_of(along), (std::vector<int>{0, 2, 0, 2, 1, 3, 1, 3}));
    const auto deep = topos::tile(x * 2, {2, 1, 2});
    EXPECT_EQ(deep.shape(), (shape<3>{2, 2, 4}));
    EXPECT_EQ(values_of(deep), (std::vector<int>{0, 2, 0, 2, 4, 6, 4, 6, 0, 2, 0, 2, 4, 6, 4, 6}));
    EXPECT_EQ(topos::tile(x, {0, 3}).shape(), (shape<2>{0, 6}));
  });
  EXPECT_THROW((void)topos::tile(topos::ones<float>({2}), {2, -1}), topos::invalid_argument);
}

TEST(pad, puts_a_border_around) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    const auto around = topos::pad(x, 1);
    EXPECT_EQ(around.shape(), (shape<2>{4, 4}));
    EXPECT_EQ(values_of(around),
              (std::vector<int>{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}));
    EXPECT_EQ(values_of(topos::pad(x * 2, {{0, 1}, {2, 0}}, -7)),
              (std::vector<int>{-7, -7, 2, 4, -7, -7, 6, 8, -7, -7, -7, -7}));
    EXPECT_EQ(values_of(topos::pad(slice(x, topos::range{0, 0}), {{1, 0}, {0, 1}}, 9)),
              (std::vector<int>{9, 9, 9}));
    EXPECT_EQ(values_of(topos::pad(x, 0)), values_of(x));
    EXPECT_EQ(values_of(topos::pad(slice(x, 0), {{1, 0}})), (std::vector<int>{0, 1, 2}));
  });
  const auto bytes = topos::ones<std::uint8_t>({2});
  EXPECT_THROW((void)topos::pad(bytes, -1), topos::invalid_argument);
  EXPECT_THROW((void)topos::pad(bytes, 1, 256), topos::invalid_argument);
}

TEST(triangle, keeps_one_side_of_a_diagonal) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(values_of(eval(tril(x))), (std::vector<float>{1, 0, 0, 4, 5, 0}));
    EXPECT_EQ(values_of(eval(triu(x + 1))), (std::vector<float>{2, 3, 4, 0, 6, 7}));
    EXPECT_EQ(values_of(eval(tril(x, 1))), (std::vector<float>{1, 2, 0, 4, 5, 6}));
    EXPECT_EQ(values_of(eval(triu(x, -1))), values_of(x));
    EXPECT_EQ(values_of(eval(triu(x, 3))), (std::vector<float>{0, 0, 0, 0, 0, 0}));
    const auto batch = tensor_on<3>(d, {2, 2, 2}, std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(values_of(eval(tril(batch))), (std::vector<int>{1, 0, 3, 4, 5, 0, 7, 8}));
  });
}

// numpy.isclose of the same doubles and floats, NumPy 2.
TEST(isclose, is_numpys) {
  on_each_device([](topos::device d) {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto a =
        vector_on(d, std::vector<double>{1e10, 1e-7, 1e10, 1e-8, 0, inf, inf, 1, nan, 1});
    const auto b = vector_on(
        d, std::vector<double>{1.00001e10, 1e-8, 1.0001e10, 1e-9, 1e-8, inf, -inf, inf, nan, nan});
    using truths = std::vector<bool>;
    const auto of = [](const auto& e) {
      const auto values = values_of(eval(e));
      return truths(values.begin(), values.end());
    };
    EXPECT_EQ(of(isclose(a, b)), (truths{1, 0, 0, 1, 1, 1, 0, 0, 0, 0}));
    EXPECT_EQ(of(isclose(a, b, {.equal_nan = true})), (truths{1, 0, 0, 1, 1, 1, 0, 0, 1, 0}));
    EXPECT_EQ(of(isclose(a, b, {.relative = 0, .absolute = 2e5})),
              (truths{1, 1, 0, 1, 1, 1, 0, 0, 0, 0}));
    EXPECT_FALSE(allclose(a, b).item());
    EXPECT_TRUE(allclose(a, a, {.equal_nan = true}).item());
    const auto whole = vector_on(d, std::vector<int>{1000000, 5});
    EXPECT_EQ(of(isclose(whole, whole + 1)), (truths{1, 0}));
    const auto half = topos::astype<topos::f16>(whole * 0 + 2);
    EXPECT_TRUE(allclose(half, 2).item());
    EXPECT_FALSE(allclose(half, 2.25, {.relative = 0.1}).item());
    using complex = Kokkos::complex<double>;
    const auto c = vector_on(d, std::vector<complex>{{1, 1}, {1, inf}, {nan, 0}, {3e-9, 4e-9}});
    const auto e = vector_on(d, std::vector<complex>{{1, 1.00001}, {1, inf}, {0, nan}, {0, 0}});
    EXPECT_EQ(of(isclose(c, e, {.equal_nan = true})), (truths{1, 1, 1, 1}));
    EXPECT_EQ(of(isclose(c, e, {.absolute = 4.9e-9})), (truths{1, 1, 0, 0}));
  });
}

}  // namespace like_numpy_test
