// SPDX-License-Identifier: Apache-2.0

/// What several results of one pass have in common is computed once, and each has the bits that it
/// has alone.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/random/integers.hpp>
#include <topos/random/normal.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/statistics.hpp>
#include <tuple>
#include <vector>

#include "../support/counted.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace shared_blocks_test {

using support::calls;
using support::counted_square;
using support::on_each_real_device;
using support::same_bits;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;

tensor<float, 1> some(index_t n, const topos::device& d, int seed = 1) {
  return 0.25f + abs(support::vector_on(d, support::varied<float>(n, seed)));
}

// How often the function is called for some results at once.
template <class... X>
index_t calls_of(const X&... x) {
  calls = 0;
  std::apply([](const auto&... result) { topos::block_until_ready(result...); }, eval(x...));
  return calls;
}

// That results at once are those of each alone.
template <class Result, class X>
void expect_same(const Result& result, const X& x) {
  EXPECT_TRUE(same_bits(values_of(result), values_of(eval(x))));
}
template <class... X>
void expect_as_alone(const X&... x) {
  std::apply([&](const auto&... result) { (expect_same(result, x), ...); }, eval(x...));
}

TEST(shared_blocks, have_what_is_common_computed_once) {
  for (const index_t n : {128, 1000, 4096, 5000, 20000}) {
    SCOPED_TRACE(n);
    const tensor<float, 1> x = some(n, topos::cpu()).block_until_ready();
    const tensor<float, 1> y = some(n, topos::cpu(), 2).block_until_ready();
    const auto h = map(counted_square{}, x);
    EXPECT_EQ(calls_of(mean(h), mean(h * h)), n);
    EXPECT_EQ(calls_of(sum(h * x), sum(h * y), max(h - x)), n);
    EXPECT_EQ(calls_of(sum(h * h + h), max(h * h + h)), n);
    EXPECT_EQ(calls_of(sum(h), h, h + 1, min(h)), n);
  }
}

TEST(shared_blocks, are_of_rows) {
  const tensor<float, 2> x = some(70 * 900, topos::cpu()).reshape({70, 900}).block_until_ready();
  const auto h = map(counted_square{}, x);
  EXPECT_EQ(calls_of(mean(h, 1), mean(h * h, 1)), x.size());
  EXPECT_EQ(calls_of(max(h, 1), argmax(h, 1)), x.size());
  EXPECT_EQ(calls_of(h, sum(h)), x.size());
}

TEST(shared_blocks, of_other_elements_are_others) {
  const tensor<float, 1> x = some(3000, topos::cpu()).block_until_ready();
  const tensor<float, 1> y = some(3000, topos::cpu(), 2).block_until_ready();
  const auto h = map(counted_square{}, x), g = map(counted_square{}, y);
  EXPECT_EQ(calls_of(sum(h * x), sum(g * x)), 2 * x.size());
  expect_as_alone(sum(h * x), sum(g * x));
  expect_as_alone(sum(h * x), sum(slice(g, {10, {}}) * slice(x, {10, {}})));
}

struct times {
  const float by;
  KOKKOS_FUNCTION float operator()(float x) const { return x * by; }
};

// As a lambda that captures cannot be, nor what gathers.
TEST(shared_blocks, may_be_of_what_cannot_be_assigned) {
  const tensor<float, 1> x = some(3000, topos::cpu());
  const auto h = map(times{x.item(7)}, x);
  expect_as_alone(sum(h), max(h * h), h);
  const auto taken = exp(take(x, topos::arange<std::int32_t>(2999, -1, -1)));
  expect_as_alone(sum(taken), taken, argmin(taken * x));
}

TEST(shared_blocks, give_the_bits_of_each_alone) {
  on_each_real_device([](topos::device d) {
    for (const index_t n : {1, 63, 64, 65, 127, 512, 513, 4095, 4096, 4097, 9000, 40001}) {
      SCOPED_TRACE(n);
      const auto x = some(n, d);
      const auto h = exp(x);
      expect_as_alone(h, sum(h), argmin(h - x));
      if constexpr (!support::few_types) {
        const auto wide = exp(topos::astype<double>(x));
        const auto half = exp(topos::astype<topos::f16>(x));
        const auto whole = topos::astype<std::int32_t>(h * 100);
        expect_as_alone(prod(wide), sum(wide * x), max(h));
        expect_as_alone(sum(half), max(half * half), half);
        expect_as_alone(sum(whole), argmax(whole), min(whole % 7), sum(h));
      }
    }
  });
}

TEST(shared_blocks, lie_in_any_way) {
  on_each_real_device([](topos::device d) {
    for (const auto& [rows, columns] : std::vector<std::pair<index_t, index_t>>{
             {3, 5}, {40, 3}, {70, 90}, {9, 700}, {300, 64}, {2, 5000}}) {
      SCOPED_TRACE(columns);
      const tensor<float, 2> x = some(rows * columns, d).reshape({rows, columns});
      const tensor<float, 2> column = some(rows, d, 2).reshape({rows, 1});
      const auto h = exp(x - column);
      expect_as_alone(sum(h), max(h * h), h);
      for (const index_t axis : {0, 1}) {
        expect_as_alone(sum(h, axis), sum(h * h, axis));
        expect_as_alone(max(h, axis), argmax(h, axis), h);
      }
      const auto turned = exp(transpose(x));
      expect_as_alone(sum(turned, 1), sum(turned * turned, 1));
      expect_as_alone(sum(turned), turned, argmin(turned));
    }
  });
}

TEST(shared_blocks, are_random_numbers) {
  namespace random = topos::random;
  on_each_real_device([](topos::device d) {
    for (const auto layout : {random::layout::original, random::layout::partitionable}) {
      const random::key k{5, layout}, other{6, layout};
      for (const index_t n : {1, 63, 200, 2001, 9000, 20001}) {
        if (support::few_types && n > 10000) continue;  // a slow build draws fewer
        SCOPED_TRACE(n);
        const auto z = random::normal(k, {n}, d);
        const auto x = some(n, d);
        expect_as_alone(sum(z), sum(z * z));
        expect_as_alone(z, sum(z));
        if constexpr (!support::few_types) {
          expect_as_alone(sum(z * x), argmax(z), sum(z * random::normal(other, {n}, d)));
          const auto i = random::randint(k, {n}, 3, 90, d);
          expect_as_alone(sum(i), max(i * i), argmin(i));
        }
      }
      const auto z = random::normal(k, {60, 100}, d);
      for (const index_t axis : {0, 1}) expect_as_alone(sum(z, axis), sum(z * z, axis));
    }
  });
}

TEST(shared_blocks, of_random_numbers_draw_them_once) {
  for (const index_t n : {200, 4096, 20001}) {
    const auto z =
        map(counted_square{}, topos::random::normal(topos::random::key{1}, {n}, topos::cpu()));
    EXPECT_EQ(calls_of(sum(z), sum(z * z)), n);
  }
}

struct wide_square {
  KOKKOS_FUNCTION double operator()(double x) const { return x * x; }
};

TEST(shared_blocks, may_go_past_the_caches) {
  const index_t n = topos::detail::bytes_past_caches / sizeof(double) + 12345;
  const tensor<double, 1> x = topos::linspace<double>(0, 1, n, topos::cpu());
  const auto h = map(wide_square{}, x);
  const auto [squares, total] = eval(h, sum(h));
  EXPECT_EQ(total.item(), sum(squares).item());
  EXPECT_TRUE(all(squares == x * x).item());
}

struct refusing {
  float operator()(float x) const {
    if (x > 0.5f) throw std::runtime_error("too large");
    return x;
  }
};

TEST(shared_blocks, that_throw_fail_what_needs_them) {
  const tensor<float, 1> x = topos::linspace<float>(0, 1, 1000, topos::cpu());
  const auto h = map(refusing{}, x);
  const auto [a, b, c] = eval(sum(h), sum(h * h), sum(exp(x)));
  EXPECT_THROW(a.block_until_ready(), std::exception);
  EXPECT_THROW(b.block_until_ready(), std::exception);
  EXPECT_EQ(c.item(), sum(exp(x)).item());
}

}  // namespace shared_blocks_test
