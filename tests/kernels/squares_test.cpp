// SPDX-License-Identifier: Apache-2.0

/// Products of what has one type: a factor that is both is computed once, and others are told from
/// it.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/random/normal.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/statistics.hpp>
#include <utility>
#include <vector>

#include "../support/as_computed.hpp"
#include "../support/counted.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace squares_test {

using support::calls;
using support::counted_square;
using support::expect_as_computed;
using support::on_each_real_device;
using support::same_bits;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;

template <class T>
tensor<T, 1> some(index_t n, const topos::device& d, int seed) {
  if constexpr (topos::detail::is_half<T>)
    return eval(astype<T>(some<float>(n, d, seed)));
  else
    return support::vector_on(d, support::varied<T>(n, seed));
}

// Of one type, whether it is the same or not.
const auto square = [](const auto& e) { return e * e; };
template <class E>
void expect_products(const E& d, const E& e) {
  expect_as_computed(d, square);
  const auto lazy = values_of(eval(d * e));
  EXPECT_TRUE(same_bits(lazy, values_of(eval(eval(d) * eval(e)))));
}

TEST(squares, compute_their_factor_once) {
  for (const index_t n : {1, 15, 64, 1000}) {
    const tensor<float, 1> x = some<float>(n, topos::cpu(), 1).block_until_ready();
    const tensor<float, 1> y = some<float>(n, topos::cpu(), 2).block_until_ready();
    const auto calls_of = [](const auto& e) {
      calls = 0;
      eval(e).block_until_ready();
      return calls.load();
    };
    const auto h = map(counted_square{}, x), g = map(counted_square{}, y);
    EXPECT_EQ(calls_of(h * h), n);
    EXPECT_EQ(calls_of(sum(h * h)), n);
    EXPECT_EQ(calls_of(sqrt(h * h + g * g)), 2 * n);
    EXPECT_EQ(calls_of((h + 1) * (h + 1)), n);
    EXPECT_EQ(calls_of(h * g), 2 * n);
  }
}

// With a member that a square has: nothing but a product is taken for one.
struct squared_difference {
  bool is_square;
  float operator()(float a, float b) const { return is_square ? (a - b) * (a - b) : a - b; }
  float operator()(float a) const { return is_square ? a * a : a; }
};

TEST(squares, are_no_functors_of_users) {
  const tensor<float, 1> x = some<float>(100, topos::cpu(), 1);
  const auto of_two = map(squared_difference{true}, 2 * x, 3 * x);
  const auto of_one = map(squared_difference{true}, -x);
  EXPECT_TRUE(
      same_bits(values_of(eval(of_two)), values_of(eval((2 * x - 3 * x) * (2 * x - 3 * x)))));
  EXPECT_TRUE(same_bits(values_of(eval(of_one)), values_of(eval(x * x))));
}

TEST(squares, are_of_squares_and_of_pairs_of_rows) {
  on_each_real_device([](topos::device d) {
    const auto x = some<float>(40 * 30, d, 1).reshape({40, 30});
    const auto y = some<float>(7 * 30, d, 2).reshape({7, 30});
    const auto pairs = expand_dims(x, 1) - y;
    const auto others = y - expand_dims(x, 1) * 2.0f - y;
    expect_products(pairs, expand_dims(eval(x + 1.0f), 1) - y);
    expect_as_computed(pairs, [](const auto& e) { return e * e * (e * e); });
    expect_as_computed(pairs, [](const auto& e) { return max(e * e * (e * e) - e * e, 2); });
    expect_as_computed(others, [](const auto& e) { return min(e * e, 0); });
    const auto [a, b, c] = eval(pairs * pairs, pairs, max(pairs * pairs, 1));
    EXPECT_TRUE(same_bits(values_of(a), values_of(eval(b * b))));
    EXPECT_TRUE(same_bits(values_of(c), values_of(eval(max(a, 1)))));
  });
}

template <class T>
class squares_of : public testing::Test {};
using types = support::types<float, double, topos::f16, topos::bf16, std::int8_t, std::int16_t,
                             std::int32_t, std::int64_t, Kokkos::complex<float>>;
TYPED_TEST_SUITE(squares_of, types);

TYPED_TEST(squares_of, have_the_bits_of_products) {
  on_each_real_device([](topos::device d) {
    for (const index_t n : {1, 7, 64, 333, 5000}) {
      const auto x = some<TypeParam>(n, d, 1), y = some<TypeParam>(n, d, 2);
      const auto z = some<TypeParam>(n, d, 3), w = some<TypeParam>(n, d, 4);
      expect_products(x - y, z - w);
      expect_products(x - y, x - w);
    }
  });
}

TEST(squares, lie_in_any_way) {
  on_each_real_device([](topos::device d) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<index_t, index_t>>{{3, 5}, {40, 3}, {70, 90}, {9, 700}}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      const tensor<float, 2> x = some<float>(rows * columns, d, 1).reshape({rows, columns});
      const tensor<float, 2> y = some<float>(rows * columns, d, 2).reshape({rows, columns});
      const tensor<float, 2> column = some<float>(rows, d, 3).reshape({rows, 1});
      const tensor<float, 2> row = some<float>(columns, d, 4).reshape({1, columns});
      expect_products(x - row, y - row);
      expect_products(x - column, y - column);
      expect_products(transpose(x) - transpose(y), transpose(y) - transpose(x));
      expect_products(slice(x, {}, {1, {}}) - slice(y, {}, {1, {}}),
                      slice(x, {}, {1, {}}) - slice(y, {}, {0, -1}));
      expect_products(slice(x, {}, {{}, {}, 2}) - column, slice(y, {}, {{}, {}, 2}) - column);
      for (const index_t axis : {0, 1}) {
        expect_as_computed(x - row, [&](const auto& e) { return max(e * e, axis); });
        expect_as_computed(x - column, [&](const auto& e) { return max(e * e, axis); });
        expect_as_computed(transpose(x) - transpose(y),
                           [&](const auto& e) { return max(e * e, axis); });
      }
      tensor<float, 2> to = topos::zeros<float, 2>({rows, 2 * columns}, d);
      const auto e = x - row;
      to.slice({}, {1, {}, 2}) = e * e;
      EXPECT_TRUE(
          same_bits(values_of(eval(slice(to, {}, {1, {}, 2}))), values_of(eval(square(eval(e))))));
    }
  });
}

TEST(squares, are_told_from_products_by_their_numbers) {
  on_each_real_device([](topos::device d) {
    const auto x = some<float>(500, d, 1);
    expect_products(x + 1.0f, x + 2.0f);
    expect_products(x * 0.0f, x * -0.0f);
    expect_products(pow(abs(x), 2.5f), pow(abs(x), 1.5f));
  });
}

TEST(squares, are_of_random_numbers) {
  on_each_real_device([](topos::device d) {
    for (const index_t n : {1, 128, 129, 2001, 9000}) {
      const topos::random::key k{5}, other{6};
      expect_products(topos::random::normal(k, {n}, d), topos::random::normal(other, {n}, d));
      expect_products(topos::random::uniform(k, {n}, d), topos::random::uniform(other, {n}, d));
    }
  });
}

}  // namespace squares_test
