// SPDX-License-Identifier: Apache-2.0

/// What is assigned to a tensor is computed in place where nobody can tell, and only there.

#include <gtest/gtest.h>

#include <stdexcept>
#include <topos/expr/call.hpp>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/from_blob.hpp>
#include <topos/tensor/origin.hpp>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace assignment_test {

using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::varied;
using support::vector_on;
using topos::range;
using topos::tensor;

// Whether `assign` computes into the memory that y has; y is to become what `expected` says.
template <class T, std::size_t Rank, class Expected, class Assign>
bool is_in_place(tensor<T, Rank>& y, const Expected& expected, Assign assign) {
  // Of a copy with memory of its own, before y may change.
  const std::vector<T> before = values_of(y);
  const tensor<T, Rank> wanted = expected(tensor_on<Rank>(y.device(), y.shape(), before));
  const T* const memory = y.data();
  assign(y);
  EXPECT_EQ(values_of(y), values_of(wanted));
  return y.data() == memory;
}
template <class T, std::size_t Rank, class Make>
bool is_in_place(tensor<T, Rank>& y, const Make& make) {
  return is_in_place(y, make, [&](auto& of) { of = make(of); });
}

TEST(assignment, of_what_reads_the_tensor_where_it_is_written_is_in_place) {
  on_each_device([](const topos::device& d) {
    for (const topos::index_t n : support::sizes()) {
      if (n == 0) continue;
      tensor<float, 1> y = vector_on(d, varied(n));
      const tensor<float, 1> x = vector_on(d, varied(n, 2));
      EXPECT_TRUE(is_in_place(y, [&](const auto& of) { return of + x; })) << n;
      EXPECT_TRUE(is_in_place(y, [&](const auto& of) { return 0.5F * of - (of - 2) * of; })) << n;
      EXPECT_TRUE(is_in_place(y, [&](const auto& of) { return where(of > x, of, -x); })) << n;
      EXPECT_TRUE(is_in_place(y, [&](const auto& of) { return maximum(abs(of), 0.25F); })) << n;
      EXPECT_TRUE(is_in_place(y, [&](const auto& of) {
        return of + topos::random::uniform(topos::random::key{7}, of.shape(), d);
      })) << n;
    }
  });
}

// The memory of what was computed and nobody reads any more is that of what replaces it.
TEST(assignment, of_what_does_not_read_the_tensor_is_in_place) {
  on_each_device([](const topos::device& d) {
    tensor<float, 2> y = tensor_on<2>(d, {30, 40}, varied(1200));
    const tensor<float, 2> x = tensor_on<2>(d, {30, 40}, varied(1200, 2));
    const auto expression = x * 2 + 1;
    y.block_until_ready();
    EXPECT_TRUE(is_in_place(y, [&](const auto&) { return x + 1; }));
    EXPECT_TRUE(is_in_place(y, [&](const auto&) { return expression; }));
    EXPECT_FALSE(is_in_place(y, [&](const auto&) { return tensor(x); }));  // takes over another's
    const tensor<float, 2> other = y;
    EXPECT_FALSE(is_in_place(y, [&](const auto&) { return x + 2; }));
    EXPECT_EQ(values_of(other), values_of(x));
  });
}

TEST(assignment, of_another_shape_or_device_takes_new_memory) {
  on_each_device([](const topos::device& d) {
    tensor<float, 1> y = vector_on(d, varied(1000));
    const tensor<float, 1> longer = vector_on(d, varied(1001));
    const float* const memory = y.data();
    y = longer + 1;
    EXPECT_EQ(y.shape()[0], 1001);
    EXPECT_NE(y.data(), memory);
    for (const topos::device& other : topos::devices()) {
      const tensor<float, 1> there = vector_on(other, varied(1001, 3));
      y = there + 1;
      EXPECT_EQ(y.device(), other);
      EXPECT_EQ(values_of(y), values_of(topos::eval(there + 1)));
    }
  });
}

// Whose temporaries are there until the end of the line.
TEST(assignment, of_an_expression_of_expressions_is_in_place) {
  on_each_device([](const topos::device& d) {
    tensor<float, 1> y = vector_on(d, varied(1000));
    const tensor<float, 1> x = vector_on(d, varied(1000, 2));
    const float* const memory = y.data();
    const std::vector<float> expected =
        values_of(topos::eval(0.5F * y + 0.25F * x - (y + 1) * sin(y) / (2 - y * x)));
    y = 0.5F * y + 0.25F * x - (y + 1) * sin(y) / (2 - y * x);
    EXPECT_EQ(y.data(), memory);
    EXPECT_EQ(values_of(y), expected);
  });
}

TEST(assignment, of_functions_of_expressions_is_in_place) {
  on_each_device([](const topos::device& d) {
    tensor<float, 1> y = vector_on(d, varied(1000));
    const float* const memory = y.data();
    const auto changes = [&](const auto& change) {
      tensor<float, 1> expected = y + 0;  // with memory of its own
      change(expected);
      const std::vector<float> wanted = values_of(expected);  // nobody reads y then
      change(y);
      EXPECT_EQ(y.data(), memory);
      EXPECT_EQ(values_of(y), wanted);
    };
    changes([](auto& of) { of = sqrt(of * of + 1); });
    changes([](auto& of) { of = where(of < 0.5F || of > 2, of + 1, -of); });
    changes([](auto& of) { of = clip(of * 2, of - 1, pow(of + 1, 2)); });
    changes([](auto& of) { of = of + topos::astype<float>(of == 0.25F); });
    changes([](auto& of) { of = topos::astype<float>(topos::astype<int>(of * 4) / 2); });
    changes([](auto& of) { of = fma(of + 1, minimum(of, 2 - of), abs(-of)); });
  });
}

TEST(assignment, what_functions_are_given_is_empty_then) {
  tensor<float, 1> x = vector_on(topos::cpu(), varied(1000));
  const std::vector<float> expected = values_of(topos::eval(sqrt(abs(x))));
  const auto e = sqrt(abs(std::move(x)));
  EXPECT_EQ(x.size(), 0);
  EXPECT_EQ(values_of(topos::eval(e)), expected);
}

TEST(assignment, is_in_place_beside_rows_columns_and_numbers) {
  on_each_device([](const topos::device& d) {
    for (const auto& [rows, columns] : {std::pair{1, 5}, {300, 1}, {70, 3}, {33, 100}, {5, 2000}}) {
      tensor<float, 2> y = tensor_on<2>(d, {rows, columns}, varied(rows * columns));
      const tensor<float, 1> row = vector_on(d, varied(columns, 2));
      const tensor<float, 2> column = tensor_on<2>(d, {rows, 1}, varied(rows, 3));
      const tensor<float, 0> number = topos::full<float, 0>({}, 0.75F, d);
      EXPECT_TRUE(is_in_place(y, [&](const auto& of) { return of * number + row; }));
      EXPECT_TRUE(
          is_in_place(y, [&](const auto& of) { return (of - column) / (abs(column) + 1); }));
    }
    tensor<float, 0> sum = topos::full<float, 0>({}, 2.5F, d);
    EXPECT_TRUE(is_in_place(sum, [](const auto& of) { return of * of; }));
  });
}

TEST(assignment, is_in_place_at_an_offset) {
  on_each_device([](const topos::device& d) {
    tensor<float, 2> whole = tensor_on<2>(d, {3, 100}, varied(300));
    tensor<float, 1> y = whole.row(1);
    EXPECT_FALSE(is_in_place(y, [](const auto& of) { return of + 1; }));  // whole holds it, too
    y = whole.row(1);
    whole = {};
    EXPECT_TRUE(is_in_place(y, [](const auto& of) { return of + 1; }));
  });
}

TEST(assignment, of_what_reads_other_elements_than_it_writes_is_not_in_place) {
  on_each_device([](const topos::device& d) {
    tensor<int, 2> y = tensor_on<2>(d, {40, 40}, varied<int>(1600));
    const tensor<int, 1> picked = vector_on(d, varied<int>(40)) % 40;
    EXPECT_FALSE(is_in_place(y, [](const auto& of) { return flip(of); }));
    EXPECT_FALSE(is_in_place(y, [](const auto& of) { return of + transpose(of); }));
    EXPECT_FALSE(is_in_place(y, [](const auto& of) { return of + slice(of, 0); }));
    EXPECT_FALSE(is_in_place(y, [](const auto& of) { return of - slice(of, range{0, 1}); }));
    EXPECT_FALSE(is_in_place(y, [&](const auto& of) { return take(of, picked, 0) + of; }));
    EXPECT_FALSE(is_in_place(y, [](const auto& of) {
      return reshape(transpose(of) + 1, {40, 40});
    }));
  });
}

TEST(assignment, changes_nothing_that_others_hold) {
  on_each_device([](const topos::device& d) {
    const std::vector<float> before = varied(1000);
    tensor<float, 1> y = vector_on(d, before);
    const tensor<float, 1> other = y;
    EXPECT_FALSE(is_in_place(y, [](const auto& of) { return of * 2; }));
    EXPECT_EQ(values_of(other), before);
    EXPECT_TRUE(is_in_place(y, [](const auto& of) { return of * 2; }));
  });
}

TEST(assignment, of_a_named_expression_leaves_it_what_it_was) {
  on_each_device([](const topos::device& d) {
    const std::vector<float> before = varied(1000);
    tensor<float, 1> y = vector_on(d, before);
    const std::vector<float> expected = values_of(topos::eval(y * 2));
    auto twice = y * 2;
    y = twice;
    EXPECT_EQ(values_of(y), expected);
    y = twice;
    EXPECT_EQ(values_of(y), expected);

    const auto again = y * 2;
    y = again + y * 1;  // which again holds
    EXPECT_EQ(values_of(topos::eval(again)), values_of(topos::eval(vector_on(d, expected) * 2)));
  });
}

TEST(assignment, of_a_named_expression_that_is_given_away_is_in_place) {
  on_each_device([](const topos::device& d) {
    tensor<float, 1> y = vector_on(d, varied(1000));
    const auto twice = [](const auto& of) { return of * 2; };
    EXPECT_TRUE(is_in_place(y, twice, [&](auto& of) {
      auto named = twice(of);
      of = std::move(named);
    }));
  });
}

TEST(assignment, of_another_shape_takes_other_memory) {
  on_each_device([](const topos::device& d) {
    tensor<float, 2> y = tensor_on<2>(d, {1, 50}, varied(50));
    const tensor<float, 2> x = tensor_on<2>(d, {4, 50}, varied(200, 2));
    EXPECT_FALSE(is_in_place(y, [&](const auto& of) { return of + x; }));
    EXPECT_EQ(y.shape(), x.shape());
  });
}

TEST(assignment, does_not_write_to_memory_of_the_users) {
  std::vector<float> values = varied(1000);
  const std::vector<float> before = values;
  auto y = topos::from_blob<float, 1>(values.data(), {1000});
  y = y * 2;
  EXPECT_NE(y.data(), values.data());
  EXPECT_EQ(values, before);
}

struct throws {
  float operator()(float /*x*/) const { throw std::domain_error("bad"); }
};

// What has failed is not written again: what replaces it has not failed.
TEST(assignment, forgets_the_failure_of_what_was_there) {
  tensor<float, 1> y = vector_on(topos::cpu(), varied(1000));
  const tensor<float, 1> x = vector_on(topos::cpu(), varied(1000, 2));
  y = map(throws{}, x);
  EXPECT_THROW(y.block_until_ready(), std::domain_error);
  y = x + 1;
  EXPECT_NO_THROW(y.block_until_ready());
}

// Where the operation stands that y failed with.
unsigned line_of(const tensor<float, 1>& y) {
  EXPECT_THROW(y.block_until_ready(), std::domain_error);
  const auto origin = topos::origin_of(y);
  return origin ? origin->where.line() : 0;
}

TEST(assignment, that_fails_has_the_line_where_the_operator_stands) {
  for (const bool held : {false, true}) {
    auto y = topos::ones<float>({10}, topos::cpu());
    const auto other = held ? y : tensor<float, 1>();
    y = y + topos::map(throws{}, y);
    EXPECT_EQ(line_of(y), __LINE__ - 1U);
    y = topos::ones<float>({10}, topos::cpu());
    y = exp(topos::map(throws{}, y + 1));
    EXPECT_EQ(line_of(y), __LINE__ - 1U);
  }
}

TEST(assignment, of_what_failed_fails_in_place) {
  auto x = topos::ones<float>({10}, topos::cpu());
  x = x + topos::map(throws{}, x);
  auto y = topos::ones<float>({10}, topos::cpu());
  y = y + x;
  EXPECT_THROW(y.block_until_ready(), std::domain_error);
  y = topos::ones<float>({10}, topos::cpu()) * 2;
  EXPECT_EQ(values_of(y), std::vector<float>(10, 2));
}

}  // namespace assignment_test
