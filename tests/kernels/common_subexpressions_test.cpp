// SPDX-License-Identifier: Apache-2.0

/// What occurs more than once is computed once, and has the bits of what was computed before.

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
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/scan.hpp>
#include <topos/tensor/softmax.hpp>
#include <vector>

#include "../support/as_computed.hpp"
#include "../support/counted.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace common_subexpressions_test {

using support::calls;
using support::counted_square;
using support::expect_as_computed;
using support::on_each_real_device;
using support::same_bits;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;

tensor<float, 1> some(index_t n, const topos::device& d, int seed = 1) {
  return 0.25f + abs(support::vector_on(d, support::varied<float>(n, seed)));
}

TEST(common_subexpressions, are_computed_once) {
  for (const index_t n : {64, 65, 5000}) {
    const tensor<float, 1> x = some(n, topos::cpu()).block_until_ready();
    const auto h = map(counted_square{}, x);

    calls = 0;
    const tensor<float, 1> y = h * h + h / (h + 1);
    y.block_until_ready();
    EXPECT_EQ(calls, n);

    calls = 0;
    EXPECT_GT(sum(h * h + h).item(), 0);
    EXPECT_EQ(calls, n);

    calls = 0;
    const auto [a, b, c] = eval(h, 3 - h, x + 1);
    a.block_until_ready(), b.block_until_ready(), c.block_until_ready();
    EXPECT_EQ(calls, n);
    EXPECT_EQ(values_of(b), values_of(eval(3 - a)));
    EXPECT_EQ(values_of(c), values_of(eval(x + 1)));
  }
}

TEST(common_subexpressions, are_found_in_operations_of_one_type) {
  constexpr index_t n = 1000;
  const tensor<float, 1> x = some(n, topos::cpu()).block_until_ready();
  const tensor<float, 1> y = some(n, topos::cpu(), 2).block_until_ready();
  const auto h = map(counted_square{}, x);
  const auto calls_of = [](const auto& e) {
    calls = 0;
    const auto result = eval(e);
    result.block_until_ready();
    return calls.load();
  };
  EXPECT_EQ(calls_of(2 * h + 3 * h), n);
  EXPECT_EQ(calls_of(h * x + h * y), n);
  EXPECT_EQ(calls_of(1 / (1 + h) - 1 / (2 + h)), n);
  EXPECT_EQ(calls_of(exp(2 * h) - exp(3 * h)), n);
}

struct scaled {
  float by;
  float operator()(float x) const { return x * by; }
  friend bool operator==(const scaled&, const scaled&) = default;
};
struct scaled_and_true : scaled {
  operator bool() const { return true; }
};
struct true_when_scaled {
  float by;
  float operator()(float x) const { return x * by; }
  operator bool() const { return true; }
};

TEST(common_subexpressions, of_functions_with_members_are_told_by_these) {
  const tensor<float, 1> x = some(300, topos::cpu());
  const std::vector<float> expected = values_of(eval((x * 2.0f) * (x * 3.0f) + x * 2.0f));
  const auto of = [&](const auto& two, const auto& three) {
    return values_of(eval(map(two, x) * map(three, x) + map(two, x)));
  };
  EXPECT_EQ(of(scaled{2}, scaled{3}), expected);
  EXPECT_EQ(of(scaled_and_true{{2}}, scaled_and_true{{3}}), expected);
  EXPECT_EQ(of(true_when_scaled{2}, true_when_scaled{3}), expected);
}

TEST(common_subexpressions, of_other_elements_are_others) {
  const tensor<float, 1> x = some(300, topos::cpu()).block_until_ready();
  const tensor<float, 1> y = some(300, topos::cpu(), 2).block_until_ready();
  calls = 0;
  const tensor<float, 1> z = map(counted_square{}, x) * map(counted_square{}, y) +
                             map(counted_square{}, x) * map(counted_square{}, x + 1);
  z.block_until_ready();
  EXPECT_EQ(calls, 3 * 300);
  EXPECT_EQ(values_of(z), values_of(eval((x * x) * (y * y) + (x * x) * ((x + 1) * (x + 1)))));
}

TEST(common_subexpressions, have_the_bits_of_what_was_computed_before) {
  on_each_real_device([](topos::device d) {
    for (const index_t n : {0, 1, 63, 64, 65, 511, 512, 513, 4097, 20000}) {
      const auto x = some(n, d), y = some(n, d, 2);
      const auto twice = [](const auto& h) { return h / (1 + h * h); };
      expect_as_computed(exp(x), twice);
      if (n > 0) expect_as_computed(tanh(x), [](const auto& h) { return sum(h * h + h); });
      if constexpr (!support::few_types) {
        expect_as_computed(exp(slice(x, topos::range{{}, {}, -1})) * sin(y), twice);
        if (n > 0) expect_as_computed(tanh(x), [](const auto& h) { return argmax(h * h - h); });
        expect_as_computed(tanh(x), [](const auto& h) { return cumsum(h * h - h); });
        expect_as_computed(exp(x) < 2.0f, [&](const auto& h) { return where(h, x, y) + h; });
      }
    }
  });
}

TEST(common_subexpressions, are_of_any_type) {
  on_each_real_device([](topos::device d) {
    const auto x = some(1000, d);
    const auto twice = [](const auto& h) { return h * h + h; };
    expect_as_computed(exp(topos::astype<double>(x)), twice);
    if constexpr (!support::few_types) {
      expect_as_computed(exp(topos::astype<topos::f16>(x)), twice);
      expect_as_computed(topos::astype<std::int32_t>(exp(x) * 100), twice);
      expect_as_computed(exp(topos::astype<Kokkos::complex<float>>(x)), twice);
      const auto whole = topos::astype<std::int64_t>(x * 1000);
      expect_as_computed(whole % 7 * whole / 3 % 11 + whole * whole % 13 * whole, twice);
    }
  });
}

TEST(common_subexpressions, lie_in_any_way) {
  on_each_real_device([](topos::device d) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<index_t, index_t>>{{3, 5}, {40, 3}, {70, 90}, {9, 700}, {2, 5000}}) {
      const tensor<float, 2> x = some(rows * columns, d).reshape({rows, columns});
      const tensor<float, 2> column = some(rows, d, 2).reshape({rows, 1});
      const auto twice = [](const auto& h) { return h * h + h; };
      expect_as_computed(exp(x - column), twice);
      expect_as_computed(exp(transpose(x)), twice);
      for (const index_t axis : {0, 1}) {
        expect_as_computed(exp(x - column), [&](const auto& h) { return sum(h * h + h, axis); });
      }
      if constexpr (!support::few_types) {
        expect_as_computed(exp(slice(x, {}, {{}, {}, 2})), twice);
        expect_as_computed(exp(column + topos::zeros_like(x)), twice);
        for (const index_t axis : {0, 1}) {
          expect_as_computed(exp(x), [&](const auto& h) { return max(h * h - 3 * h, axis); });
          expect_as_computed(exp(x), [&](const auto& h) { return softmax(h * h - h, axis); });
        }
      }

      tensor<float, 2> y = topos::zeros<float, 2>({rows, 2 * columns}, d);
      const auto h = exp(x - column);
      y.slice({}, {1, {}, 2}) = h * h + h;
      const tensor<float, 2> computed = h;
      EXPECT_TRUE(same_bits(values_of(eval(slice(y, {}, {1, {}, 2}))),
                            values_of(eval(computed * computed + computed))));
      const auto [a, b] = eval(h, h + x);
      EXPECT_TRUE(same_bits(values_of(a), values_of(computed)));
      EXPECT_TRUE(same_bits(values_of(b), values_of(eval(computed + x))));
    }
  });
}

TEST(common_subexpressions, may_be_many) {
  const tensor<float, 1> x = some(2000, topos::cpu());
  const auto h = [&](float by) { return exp(x * by); };
  const auto expect_product = [&](const auto& of) {
    const auto lazy = [&](float by) { return h(by); };
    const auto computed = [&](float by) { return eval(h(by)); };
    EXPECT_TRUE(same_bits(values_of(eval(of(lazy))), values_of(eval(of(computed)))));
  };
  expect_product([](const auto& f) { return f(1) * f(2) + f(3) * f(4) + f(1) * f(4); });
  expect_product([](const auto& f) { return f(1) * f(2) + f(3) * f(4) + f(1) * f(5); });
  const auto four = [](const auto& f) { return f(1) + f(2) + f(1) + f(3); };
  expect_product([&](const auto& f) { return four(f) * four(f) + four(f) * four(f) + four(f); });
}

TEST(common_subexpressions, may_be_written_where_they_are_read_from) {
  on_each_real_device([](topos::device d) {
    tensor<float, 1> x = some(5000, d);
    const tensor<float, 1> computed = exp(x);
    const std::vector<float> expected = values_of(eval(computed * computed + computed * x));
    x = exp(x) * exp(x) + exp(x) * x;
    EXPECT_TRUE(same_bits(values_of(x), expected));
  });
}

TEST(common_subexpressions, differ_by_their_numbers) {
  on_each_real_device([](topos::device d) {
    const tensor<float, 1> x = some(1000, d);
    const tensor<float, 1> a = exp(x * 2.0f), b = exp(x * 3.0f);
    EXPECT_TRUE(same_bits(values_of(eval(exp(x * 2.0f) * exp(x * 3.0f) + exp(x * 2.0f))),
                          values_of(eval(a * b + a))));
    const tensor<float, 1> p = pow(x, 2.2f), q = pow(x, 3.3f);
    EXPECT_TRUE(same_bits(values_of(eval(pow(x, 2.2f) * pow(x, 3.3f) + pow(x, 2.2f))),
                          values_of(eval(p * q + p))));
    const tensor<float, 1> over = 1.0f / (exp(x) * 0.0f), under = 1.0f / (exp(x) * -0.0f);
    EXPECT_TRUE(
        same_bits(values_of(eval(sqrt(1.0f / (exp(x) * 0.0f)) + sqrt(1.0f / (exp(x) * -0.0f)) +
                                 sqrt(1.0f / (exp(x) * 0.0f)))),
                  values_of(eval(sqrt(over) + sqrt(under) + sqrt(over)))));
    const tensor<std::int32_t, 1> i = topos::arange<std::int32_t>(0, 1000, 1, d);
    const tensor<std::int32_t, 1> j = 999 - i;
    const tensor<float, 1> at_i = exp(take(x, i)), at_j = exp(take(x, j));
    EXPECT_TRUE(same_bits(
        values_of(eval(exp(take(x, i)) * exp(take(x, j)) + exp(take(x, i)) - exp(take(x, j)))),
        values_of(eval(at_i * at_j + at_i - at_j))));
  });
}

TEST(common_subexpressions, are_random_numbers) {
  namespace random = topos::random;
  on_each_real_device([](topos::device d) {
    for (const auto layout : {random::layout::original, random::layout::partitionable}) {
      const random::key k{5, layout}, other{6, layout};
      for (const index_t n : {1, 63, 128, 129, 200, 2001, 9000, 20001}) {
        if (support::few_types && n > 10000) continue;  // a slow build draws fewer
        const auto z = random::normal(k, {n}, d);
        const auto u = random::uniform(other, {n}, d);
        const auto w = random::uniform(k, {n}, d);
        const tensor<float, 1> x = some(n, d);
        const auto cubed = [](const auto& h) { return h * h * h + h; };
        expect_as_computed(z, cubed);
        expect_as_computed(z, [&](const auto& h) { return min(h * h * h + h); });
        expect_as_computed(tanh(x), [&](const auto& h) { return z * h + h; });
        if constexpr (!support::few_types) {
          expect_as_computed(exp(z * tanh(x)), [&](const auto& h) { return h * h + tanh(x) * h; });
          expect_as_computed(u, [&](const auto& h) { return h * h * w + h * w * w; });
          expect_as_computed(random::randint(k, {n}, 3, 90, d), cubed);
        }
        const auto [a, b] = eval(z, z * u);
        EXPECT_TRUE(same_bits(values_of(b), values_of(eval(a * u))));
      }
    }
  });
}

struct refusing {
  float operator()(float x) const {
    if (x > 0.5f) throw std::runtime_error("too large");
    return x;
  }
};

TEST(common_subexpressions, that_throw_fail_their_results) {
  const tensor<float, 1> x = topos::linspace<float>(0, 1, 1000, topos::cpu());
  const auto h = map(refusing{}, x);
  const tensor<float, 1> y = h * h + h;
  EXPECT_THROW(y.block_until_ready(), std::exception);
  const auto [a, b, c] = eval(h, h + 1, h * 0 + x);
  EXPECT_THROW(a.block_until_ready(), std::exception);
  EXPECT_THROW(b.block_until_ready(), std::exception);
  EXPECT_THROW(c.block_until_ready(), std::exception);
}

}  // namespace common_subexpressions_test
