// SPDX-License-Identifier: Apache-2.0

/// Reductions against NumPy's values: every type, choice of axes and layout.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <stdexcept>
#include <string>
#include <topos/async/in_place_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/types.hpp"
#include "reduction_case.hpp"

namespace reduction_test {

using support::contains;
using support::on_each_device;
using support::reduction_case;
using support::refusal;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::index_t;
using topos::keep_dims;
using topos::range;
using topos::shape;
using topos::tensor;

template <class T, class X, class... Axes>
void check_some(const reduction_case<T>& c, const X& x, std::size_t number, const Axes&... axes) {
  c.check(sum(x, axes...), number, "sum", std::is_integral_v<T> ? 0 : 2);
  c.check(max(x, axes...), number, "max");
}

template <class T, class X, class... Axes>
void check_axes(const reduction_case<T>& c, const X& x, std::size_t number, const Axes&... axes) {
  check_some(c, x, number, axes...);
  c.check(mean(x, axes...), number, "mean", 2);
  c.check(min(x, axes...), number, "min");
  c.check(any(x > 3, axes...), number, "any");
  c.check(all(x < 3, axes...), number, "all");
  c.check(count_nonzero(x, axes...), number, "count_nonzero");
}

// Every type is reduced along each axis.
template <class T>
class reduction_of : public testing::Test {};
using types = support::types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, topos::f16,
                             topos::bf16, float, double>;
TYPED_TEST_SUITE(reduction_of, types);

TYPED_TEST(reduction_of, gives_numpys_values) {
  on_each_device([](topos::device d) {
    const reduction_case<TypeParam> c;
    const tensor<TypeParam, 3> x = c.x(d);
    for (int axis = 0; axis < 3; ++axis) {
      check_some(c, x, static_cast<std::size_t>(1 + axis), axis == 1 ? -2 : axis);
    }
  });
}

// Some types are reduced by each function, over all choices of axes.
template <class T>
class reductions_of : public testing::Test {};
using some_types = support::types<bool, std::int32_t, topos::f16, float>;
TYPED_TEST_SUITE(reductions_of, some_types);

TYPED_TEST(reductions_of, give_numpys_values) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const reduction_case<T> c;
    const tensor<T, 3> x = c.x(d);
    check_axes(c, x, 0);
    for (int axis = 0; axis < 3; ++axis) {
      check_axes(c, x, static_cast<std::size_t>(1 + axis), axis == 1 ? -2 : axis);
    }
    using factor = std::conditional_t<std::is_same_v<T, bool>, int, T>;
    const tensor<factor, 3> factors = topos::sign(topos::astype<factor>(x)) * 2;
    c.check(prod(factors, 0), 1, "prod");
    c.check(prod(factors, 1), 2, "prod");
  });
}

TEST(reduction, takes_lists_of_axes) {
  on_each_device([](topos::device d) {
    const reduction_case<float> c;
    const tensor<float, 3> x = c.x(d);
    constexpr index_t pairs[3][2] = {{0, 1}, {-1, 0}, {1, 2}};
    constexpr index_t all[] = {2, 0, -2};
    for (std::size_t i = 0; i < 3; ++i) check_axes(c, x, 4 + i, pairs[i]);
    check_some(c, x, 7, all);
  });
}

TEST(reduction, does_not_depend_on_the_layout) {
  on_each_device([](topos::device d) {
    const reduction_case<float> c;
    support::in_several_layouts(c.x(d), [&](const auto& x) {
      check_some(c, x, 0);
      for (int axis = 0; axis < 3; ++axis) {
        check_some(c, x, static_cast<std::size_t>(1 + axis), axis);
      }
    });
  });
}

TEST(reduction, means_of_integers_are_of_exact_sums) {
  on_each_device([](topos::device d) {
    constexpr int most = std::numeric_limits<int>::max();
    const auto x = vector_on<int>(d, {most, most, 5, -most, -most, 0});
    EXPECT_EQ(mean(x).item(), 5.0f / 6);
    EXPECT_EQ(mean(topos::astype<std::int64_t>(x)).item(), 5.0f / 6);
    EXPECT_EQ(mean(vector_on<std::uint8_t>(d, {255, 255, 0})).item(), 170);
    EXPECT_EQ(mean(x > 0).item(), 0.5f);
  });
}

TEST(reduction, of_several_chunks_gives_numpys_values) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x = vector_on(d, support::reductions_file<float>("long_x").values);
    const auto expected = support::reductions_file<double>("long_results").values;
    EXPECT_NEAR(sum(x).item(), expected[0], 1e-7 * expected[0]);
    EXPECT_NEAR(mean(x).item(), expected[2], 1e-6);
    EXPECT_EQ(min(x).item(), expected[3]);
    EXPECT_EQ(max(x).item(), expected[4]);
  });
}

TEST(reduction, of_several_pieces_down_and_across_is_exact) {
  const auto expected = support::reductions_file<std::int64_t>("wide_sums").values;
  const std::vector<std::int64_t> down(expected.begin(), expected.begin() + 4200);
  const std::vector<std::int64_t> across(expected.begin() + 4200, expected.end());
  on_each_device([&](topos::device d) {
    const auto wide =
        tensor_on<2>(d, {6, 4200}, support::reductions_file<std::int8_t>("wide_x").values);
    const tensor<std::int8_t, 2> tall = transpose(wide);
    EXPECT_EQ(values_of(eval(sum(wide, 0))), down);
    EXPECT_EQ(values_of(eval(sum(wide, 1))), across);
    EXPECT_EQ(values_of(eval(sum(tall, 0))), across);
    EXPECT_EQ(values_of(eval(sum(tall, 1))), down);
    // In floating point, whose lanes are other code: these sums are exact.
    const tensor<float, 2> reals = topos::astype<float>(tall);
    EXPECT_EQ(values_of(eval(topos::astype<std::int64_t>(sum(reals, 0)))), across);
    EXPECT_EQ(values_of(eval(topos::astype<std::int64_t>(sum(reals, 1)))), down);
  });
}

TEST(reduction, down_more_columns_than_a_piece_takes_is_exact) {
  on_each_device([](topos::device d) {
    constexpr index_t rows = 131;
    constexpr index_t columns = 40'003;
    std::vector<float> values(rows * columns);
    std::vector<float> expected(columns);
    for (index_t r = 0; r < rows; ++r) {
      for (index_t c = 0; c < columns; ++c) {
        values[r * columns + c] = static_cast<float>(r % 3 + c % 5);
        expected[c] += values[r * columns + c];
      }
    }
    const auto x = tensor_on<2>(d, {rows, columns}, values);
    EXPECT_EQ(values_of(eval(sum(x, 0))), expected);
    EXPECT_EQ(values_of(eval(max(x, 0))).back(), 2.0f + (columns - 1) % 5);
  });
}

TEST(reduction, of_every_size_is_whole) {
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const std::vector<std::int32_t> in = support::varied<std::int32_t>(n);
      std::int64_t expected = 0;
      for (const std::int32_t v : in) expected += v;
      EXPECT_EQ(sum(vector_on(d, in)).item(), expected) << n;
      if (n > 0) {
        const auto most = std::max_element(in.begin(), in.end());
        EXPECT_EQ(max(vector_on(d, in)).item(), *most) << n;
      }
    }
  });
}

// Some short rows are combined at once.
TEST(reduction, of_rows_has_the_bits_of_each_by_itself) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {31, 32, 33, 47, 48, 100, 255, 256, 300}) {
      const auto x = tensor_on<2>(d, {7, columns}, support::varied(7 * columns));
      const tensor<float, 2> column = topos::slice(x, range{}, range{0, 1}) / 3;
      const auto sums = values_of(eval(sum(x / 7, 1)));
      const auto squares = values_of(eval(sum(square(x - column), 1)));
      for (index_t i = 0; i < 7; ++i) {
        const range row{i, i + 1};
        const tensor<float, 2> one = topos::slice(x, row);
        const tensor<float, 2> from = topos::slice(column, row);
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(sum(one / 7, 1).item(), sums[at]) << columns;
        EXPECT_EQ(sum(square(one - from), 1).item(), squares[at]) << columns;
      }
    }
  });
}

TEST(reduction, keeps_axes_where_asked) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 3>({5, 7, 33}, d);
    EXPECT_EQ(eval(sum(x, keep_dims)).shape(), (shape<3>{1, 1, 1}));
    EXPECT_EQ(eval(sum(x, 1, keep_dims)).shape(), (shape<3>{5, 1, 33}));
    EXPECT_EQ(eval(mean(x, {0, -1}, keep_dims)).shape(), (shape<3>{1, 7, 1}));
    EXPECT_EQ(values_of(eval(sum(x, 1, keep_dims))), values_of(eval(sum(x, 1))));
  });
}

TEST(reduction, is_an_operand) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 5, 7, 9});
    const tensor<float, 2> centred = x - mean(x, 1, keep_dims);
    EXPECT_EQ(values_of(centred), (std::vector<float>{-1, 0, 1, -2, 0, 2}));
    EXPECT_EQ(values_of(eval(sqrt(sum(x, 0) + 3))),
              (std::vector<float>{3, std::sqrt(12.0F), std::sqrt(15.0F)}));
    EXPECT_EQ(max(sum(x, 0) * sum(x, 0)).item(), 144);
  });
}

TEST(reduction, becomes_a_tensor_by_assignment) {
  const auto x = tensor_on<2>(topos::cpu(), {2, 2}, std::vector<std::int32_t>{1, 2, 3, 4});
  tensor all = sum(x);
  static_assert(std::is_same_v<decltype(all), tensor<std::int64_t, 0>>);
  const tensor<std::int32_t, 1> most = max(x, 0);
  EXPECT_EQ(values_of(most), (std::vector<std::int32_t>{3, 4}));
  EXPECT_EQ(all.item(), 10);
}

TEST(reduction, shares_a_pass_with_other_results) {
  on_each_device([](topos::device d) {
    const std::vector<float> in = support::varied(10001);
    const tensor<float, 1> x = vector_on(d, in);
    const auto [low, high, doubled] = eval(min(x * 2), max(x * 2), x * 2);
    const auto least = std::min_element(in.begin(), in.end());
    const auto most = std::max_element(in.begin(), in.end());
    EXPECT_EQ(low.item(), 2 * *least);
    EXPECT_EQ(high.item(), 2 * *most);
    EXPECT_EQ(values_of(doubled)[7], 2 * in[7]);
  });
}

TEST(reduction, of_nothing_is_the_neutral_element) {
  on_each_device([](topos::device d) {
    const auto none = topos::zeros<float, 2>({0, 3}, d);
    EXPECT_EQ(values_of(eval(sum(none, 0))), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(values_of(eval(prod(none, 0))), (std::vector<float>{1, 1, 1}));
    EXPECT_EQ(eval(sum(none, 1)).shape(), (shape<1>{0}));
    EXPECT_EQ(eval(max(none, 1)).shape(), (shape<1>{0})) << "no result is asked for";
    EXPECT_FALSE(any(none).item());
    EXPECT_TRUE(all(none).item());
    EXPECT_TRUE(std::isnan(mean(none).item()));
    const auto [a, b] = eval(sum(none), count_nonzero(none));
    EXPECT_EQ(a.item(), 0);
    EXPECT_EQ(b.item(), 0);
  });
}

TEST(reduction, of_nothing_has_no_extremum) {
  const auto none = topos::zeros<float, 2>({0, 3});
  const std::string message =
      refusal<topos::invalid_argument>([&] { static_cast<void>(max(none, 0)); });
  EXPECT_TRUE(contains(message, "max") && contains(message, "(0, 3)")) << message;
  EXPECT_THROW(static_cast<void>(min(none)), topos::invalid_argument);
}

TEST(reduction, of_a_scalar_is_its_value) {
  on_each_device([](topos::device d) {
    EXPECT_EQ(sum(topos::full<float, 0>({}, 3, d)).item(), 3);
    EXPECT_EQ(max(topos::full<std::int32_t, 0>({}, -3, d)).item(), -3);
  });
}

TEST(reduction, extrema_are_nan_where_one_is) {
  on_each_device([](topos::device d) {
    for (const index_t n : {3, 40, 5000}) {
      for (const index_t at : {index_t{0}, n / 2, n - 1}) {
        std::vector<float> in(static_cast<std::size_t>(n), 1.0F);
        in[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
        const tensor<float, 1> x = vector_on(d, in);
        EXPECT_TRUE(std::isnan(min(x).item())) << n << ' ' << at;
        EXPECT_TRUE(std::isnan(max(x).item())) << n << ' ' << at;
        const tensor<float, 2> columns = x.reshape<2>({n, 1}) + topos::zeros<float, 1>({5}, d);
        for (const float most : values_of(eval(max(columns, 0)))) EXPECT_TRUE(std::isnan(most));
      }
    }
  });
}

TEST(reduction, bears_infinities) {
  static constexpr float inf = std::numeric_limits<float>::infinity();
  on_each_device([](topos::device d) {
    const tensor<float, 1> x = vector_on<float>(d, {1, inf, 2});
    EXPECT_EQ(sum(x).item(), inf);
    EXPECT_EQ(max(x).item(), inf);
    EXPECT_EQ(min(-x).item(), -inf);
    EXPECT_TRUE(std::isnan(sum(where(x > 1.5F, x, -inf)).item()));
  });
}

TEST(reduction, has_the_same_bits_on_one_thread_and_on_all) {
  const tensor<float, 2> x =
      tensor_on<2>(topos::cpu(), {700, 900}, support::varied(index_t{700} * 900));
  const auto all_of = [&] {
    std::vector<float> all{sum(x).item(), mean(x * x).item()};
    for (int axis = 0; axis < 2; ++axis) {
      const std::vector<float> some = values_of(eval(sum(exp(x), axis)));
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  };
  const std::vector<float> on_all = all_of();
  const topos::in_place_scope scope;
  EXPECT_TRUE(support::same_bits(all_of(), on_all));
}

// A product of the user's own, whose lanes compilers may fuse with a sum.
struct product {
  KOKKOS_FUNCTION float operator()(float a, float b) const { return a * b; }
  template <class B>
  B lanes(const B& a, const B& b) const {
    return a * b;
  }
};

TEST(reduction, of_a_row_does_not_depend_on_the_other_rows) {
  on_each_device([](topos::device d) {
    for (const index_t n : {3, 5, 15, 16, 100, 700, 5000}) {
      const tensor<float, 2> x = tensor_on<2>(d, {40, n}, support::varied(40 * n));
      const auto products = [](const auto& e) { return topos::map(product{}, e, e + 0.1f); };
      const std::vector<float> sums = values_of(eval(sum(exp(x), 1)));
      const std::vector<float> of_products = values_of(eval(sum(products(x), 1)));
      for (const index_t r : {0, 7, 39}) {
        const auto i = static_cast<std::size_t>(r);
        EXPECT_EQ(sum(exp(x.row(r))).item(), sums[i]) << n;
        EXPECT_EQ(sum(products(x.row(r))).item(), of_products[i]) << n;
      }
    }
  });
}

TEST(reduction, of_parted_axes_does_not_depend_on_the_other_results) {
  on_each_device([](topos::device d) {
    const tensor<float, 3> x = tensor_on<3>(d, {40, 2, 4}, support::varied(320));
    const auto part = [&](index_t first, index_t past) {
      return topos::slice(x, topos::range{first, past}, topos::range{}, topos::range{0, 3});
    };
    const std::vector<float> together = values_of(eval(sum(part(0, 40), {1, 2})));
    for (const index_t r : {0, 7, 39}) {
      EXPECT_EQ(values_of(eval(sum(part(r, r + 1), {1, 2}))),
                std::vector<float>{together[static_cast<std::size_t>(r)]});
    }
  });
}

TEST(reduction, of_short_integers_is_summed_in_64_bits) {
  on_each_device([](topos::device d) {
    const auto x = topos::full<std::int32_t, 1>({5}, std::numeric_limits<std::int32_t>::max(), d);
    EXPECT_EQ(sum(x).item(), std::int64_t{5} * std::numeric_limits<std::int32_t>::max());
    static_assert(std::is_same_v<decltype(sum(x))::value_type, std::int64_t>);
    static_assert(std::is_same_v<decltype(mean(x))::value_type, float>);
    const auto bytes = topos::full<std::uint8_t, 1>({3000}, 255, d);
    EXPECT_EQ(sum(bytes).item(), 765000U);
    static_assert(std::is_same_v<decltype(sum(bytes))::value_type, std::uint64_t>);
    const auto halves = topos::full<topos::f16, 1>({4096}, topos::f16(1.0F), d);
    EXPECT_EQ(static_cast<float>(sum(halves).item()), 4096.0F) << "2048 + 1 is 2048 in f16";
    static_assert(std::is_same_v<decltype(sum(halves))::value_type, topos::f16>);
  });
}

TEST(reduction, of_complex_numbers) {
  using complex = Kokkos::complex<float>;
  on_each_device([](topos::device d) {
    const auto x = vector_on<complex>(d, {{1, 2}, {3, -4}, {-1, 5}});
    EXPECT_EQ(sum(x).item(), complex(3, 3));
    EXPECT_EQ(mean(x).item(), complex(1, 1));
    EXPECT_EQ(prod(x).item(), complex(1, 2) * complex(3, -4) * complex(-1, 5));
  });
}

TEST(reduction, errs_by_the_logarithm_of_the_length) {
  if (support::few_types) GTEST_SKIP() << "it takes long";
  support::on_each_real_device([](topos::device d) {
    // 2^24 + 1 is not a float: added up one by one, the sum would stay at 2^24.
    const index_t n = index_t{20} << 20;
    EXPECT_EQ(sum(topos::full<float, 1>({n}, 1, d)).item(), static_cast<float>(n));
    const tensor<float, 2> x = topos::full<float, 2>({n / 2, 2}, 0.1F, d);
    const double expected = static_cast<double>(0.1F) * static_cast<double>(n / 2);
    for (const float got : values_of(eval(sum(x, 0)))) EXPECT_NEAR(got, expected, 1e-6 * expected);
    EXPECT_NEAR(sum(x).item(), 2 * expected, 2e-6 * expected);
  });
}

TEST(reduction, down_columns_adds_in_short_chains) {
  on_each_device([](topos::device d) {
    for (const index_t n : {100, 128, 4096}) {
      const tensor<float, 2> x = topos::full<float, 2>({n, 3}, 0.1F, d);
      const double expected = static_cast<double>(0.1F) * static_cast<double>(n);
      for (const float got : values_of(eval(sum(x, 0))))
        EXPECT_NEAR(got, expected, 3e-7 * expected) << n;
    }
  });
}

TEST(reduction, refuses_axes_that_are_not_there) {
  const auto x = topos::zeros<float, 2>({2, 3});
  const std::string message = refusal<topos::out_of_range>([&] { static_cast<void>(sum(x, 2)); });
  EXPECT_TRUE(contains(message, "sum") && contains(message, "axis 2")) << message;
  EXPECT_THROW(static_cast<void>(max(x, -3)), topos::out_of_range);
  EXPECT_THROW(static_cast<void>(sum(x, {1, -1})), topos::invalid_argument);
}

TEST(reduction, of_what_failed_has_failed) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> failed({10000}, d);
    topos::detail::queue_of(d, std::source_location::current())
        .submit({}, {failed.memory()}, topos::detail::always_queued,
                [](const auto&) { throw std::domain_error("gone"); });
    EXPECT_THROW(static_cast<void>(sum(failed).item()), std::domain_error);
  });
}

}  // namespace reduction_test
