// SPDX-License-Identifier: Apache-2.0

/// What an operator refuses is told with the user's line.

#include <gtest/gtest.h>

#include <source_location>
#include <string_view>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/reduction.hpp>

namespace operators_test {

using topos::range;
using topos::tensor;

// The line in this file that an error names; 0: none.
template <class Call>
unsigned line_refused(Call call) {
  try {
    call();
  } catch (const topos::error& refused) {
    const std::source_location& where = refused.where();
    if (where.line() != 0) {
      EXPECT_TRUE(std::string_view(where.file_name()).ends_with("operators_test.cpp"))
          << where.file_name();
    }
    return where.line();
  }
  ADD_FAILURE() << "nothing was refused";
  return 0;
}

#define EXPECT_REFUSED_HERE(...) EXPECT_EQ(line_refused([&] { __VA_ARGS__; }), unsigned{__LINE__})

class operators : public testing::Test {
 protected:
  tensor<float, 2> x = topos::zeros<float, 2>({2, 3});
  tensor<float, 1> y = topos::zeros<float, 1>({4});
  tensor<int, 1> n = topos::zeros<int, 1>({4});
  tensor<int, 1> m = topos::zeros<int, 1>({3});
};

TEST_F(operators, of_tensors_name_the_line) {
  EXPECT_REFUSED_HERE((void)(x + y));
  EXPECT_REFUSED_HERE((void)(x - y));
  EXPECT_REFUSED_HERE((void)(x * y));
  EXPECT_REFUSED_HERE((void)(x / y));
  EXPECT_REFUSED_HERE((void)(n % m));
  EXPECT_REFUSED_HERE((void)(x < y));
  EXPECT_REFUSED_HERE((void)(x <= y));
  EXPECT_REFUSED_HERE((void)(x > y));
  EXPECT_REFUSED_HERE((void)(x >= y));
  EXPECT_REFUSED_HERE((void)(x && y));
  EXPECT_REFUSED_HERE((void)(x || y));
  EXPECT_REFUSED_HERE((void)(n & m));
  EXPECT_REFUSED_HERE((void)(n | m));
  EXPECT_REFUSED_HERE((void)(n ^ m));
  EXPECT_REFUSED_HERE((void)(n << m));
  EXPECT_REFUSED_HERE((void)(n >> m));
}

TEST_F(operators, of_one_tensor_name_the_line) {
  EXPECT_REFUSED_HERE((void)(sqrt(x) + y));
  EXPECT_REFUSED_HERE((void)(x + sqrt(y)));
  EXPECT_REFUSED_HERE((void)(2 * x - y));
  EXPECT_REFUSED_HERE((void)(sum(x, 0) + y));
  EXPECT_REFUSED_HERE((void)(x.slice(range{0, 2}) + y));
}

TEST_F(operators, of_expressions_name_the_line) {
  EXPECT_REFUSED_HERE((void)(sqrt(x) + sqrt(y)));
  EXPECT_REFUSED_HERE((void)((x + 1) * (y + 1)));
  EXPECT_REFUSED_HERE((void)(transpose(x) - take(y, n)));
  EXPECT_REFUSED_HERE((void)((n + 1) << (m + 1)));
}

TEST_F(operators, of_equality_name_the_line_for_one_type) {
  EXPECT_REFUSED_HERE((void)(n == m));
  EXPECT_REFUSED_HERE((void)(n != m));
  EXPECT_REFUSED_HERE((void)(sqrt(n) == sqrt(m)));
  EXPECT_REFUSED_HERE((void)(sum(x, 0) != sum(transpose(x), 0)));
  EXPECT_EQ(line_refused([&] { (void)(x == y); }), 0U);
  EXPECT_REFUSED_HERE((void)add(sqrt(x), sqrt(y)));
  EXPECT_REFUSED_HERE((void)equal(x, y));
}

// An operand of a user's own has no place to tell, but all operators.
struct weights : topos::lazy {
  tensor<float, 1> values;
  [[nodiscard]] auto node() const { return values.node(); }
};

TEST_F(operators, take_operands_of_a_users_own) {
  const weights w{{}, y + 2};
  const tensor<float, 1> made = (w * w + 2 * w) / w - sqrt(w * 2) + (y + w) - (w - y);
  EXPECT_EQ(made.item({3}), 2.0F);
  EXPECT_TRUE(all(w == w).item());
  EXPECT_REFUSED_HERE((void)(x + w));
  EXPECT_REFUSED_HERE((void)(w + x));
}

TEST_F(operators, in_place_name_the_line) {
  EXPECT_REFUSED_HERE(x += y);
  EXPECT_REFUSED_HERE(x -= y);
  EXPECT_REFUSED_HERE(x *= y);
  EXPECT_REFUSED_HERE(x /= sqrt(y));
}

TEST_F(operators, slices_name_the_line) {
  EXPECT_REFUSED_HERE((void)x.slice(2));
  EXPECT_REFUSED_HERE((void)x.slice(range{}, 3));
  EXPECT_REFUSED_HERE((void)slice(x, 2));
  EXPECT_REFUSED_HERE((void)slice(sqrt(x), range{}, 3));
  const tensor<float, 2>& constant = x;
  EXPECT_REFUSED_HERE((void)constant.slice(2));
  EXPECT_REFUSED_HERE((void)topos::zeros<float, 2>({2, 3}).slice(range{}, 3));
  EXPECT_REFUSED_HERE(x.slice(range{}) = y);
  EXPECT_REFUSED_HERE(x.slice(0, range{}) += y);
  tensor<float, 4> deep = topos::zeros<float, 4>({2, 3, 4, 5});
  EXPECT_REFUSED_HERE((void)deep.slice(0, 0, 4));
  EXPECT_REFUSED_HERE((void)slice(sqrt(deep), 0, 0, 0, 5));
  EXPECT_REFUSED_HERE(deep.slice(0, 0, 0, range{0, 3}) = y);
}

TEST_F(operators, members_name_the_line) {
  EXPECT_REFUSED_HERE((void)x.item());
  EXPECT_REFUSED_HERE((void)x.item(2, 0));
  EXPECT_REFUSED_HERE((void)x.item({0, -4}));
  EXPECT_REFUSED_HERE((void)y.item(4));
  EXPECT_REFUSED_HERE((void)sqrt(x).item(0, 3));
  EXPECT_REFUSED_HERE((void)sum(x, 0).item(3));
  EXPECT_REFUSED_HERE((void)x.shape(2));
  EXPECT_REFUSED_HERE((void)x.reshape(7));
  EXPECT_REFUSED_HERE((void)x.reshape(4, -1));
  EXPECT_REFUSED_HERE((void)x.reshape({5}));
  EXPECT_REFUSED_HERE((void)sqrt(x).reshape(2, 4));
}

TEST_F(operators, maps_name_the_line) {
  const auto least = [](float a, float b) { return a < b ? a : b; };
  EXPECT_REFUSED_HERE((void)map(least, x, y));
}

struct refuse {
  float operator()(float /*x*/) const { throw topos::invalid_argument("refused"); }
};

TEST_F(operators, results_that_are_evaluated_together_name_the_call) {
  const auto [fine, failed] = topos::eval(y + 1, map(refuse{}, y));
  const unsigned call = __LINE__ - 1;

  try {
    failed.block_until_ready();
    ADD_FAILURE() << "nothing was rethrown";
  } catch (const topos::invalid_argument& refused) {
    ASSERT_TRUE(refused.origin());
    EXPECT_EQ(refused.origin()->where.line(), call);
  }
}

}  // namespace operators_test
