// SPDX-License-Identifier: Apache-2.0

/// Several results at once: the same as one by one, and failures stay where they belong.

#include <gtest/gtest.h>

#include <stdexcept>
#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/origin.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/reduction.hpp>
#include <tuple>
#include <vector>

#include "../support/devices.hpp"

namespace eval_test {

using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::tensor;

TEST(eval, gives_each_result_as_if_it_were_alone) {
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const auto x = support::vector_on(d, support::varied(n));
      const auto y = support::vector_on(d, support::varied(n, 2));

      const auto [sum, root, less] = topos::eval(x + y, sqrt(abs(x)), x < y);

      EXPECT_EQ(values_of(sum), values_of(topos::eval(x + y))) << n;
      EXPECT_EQ(values_of(root), values_of(topos::eval(sqrt(abs(x))))) << n;
      EXPECT_EQ(values_of(less), values_of(topos::eval(x < y))) << n;
    }
  });
}

TEST(eval, takes_a_pair) {
  on_each_device([](topos::device d) {
    const auto [fraction, whole] = topos::eval(modf(support::vector_on<float>(d, {1.5f, -2.25f})));
    EXPECT_EQ(values_of(fraction), (std::vector<float>{0.5f, -0.25f}));
    EXPECT_EQ(values_of(whole), (std::vector<float>{1, -2}));
    topos::block_until_ready(fraction, whole);
    EXPECT_TRUE(fraction.is_ready());
  });
}

TEST(eval, of_different_shapes_gives_each_its_own) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on(d, support::varied(12));
    const auto row = support::vector_on<float>(d, {1, 2, 3});

    const auto [table, doubled, none] = topos::eval(reshape(x, topos::shape<2>{4, 3}) + row,
                                                    row * 2, topos::zeros<float, 1>({0}, d) + 1);

    EXPECT_EQ(table.shape(), (topos::shape<2>{4, 3}));
    EXPECT_EQ(values_of(doubled), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(none.size(), 0);
  });
}

TEST(eval, of_tensors_copies_them) {
  const auto x = support::vector_on<float>(topos::cpu(), {1, 2, 3});

  const auto [first, second] = topos::eval(x, x);

  EXPECT_EQ(values_of(first), values_of(x));
  EXPECT_NE(first.data(), second.data());
}

struct refuse {
  float operator()(float) const { throw std::domain_error("refused"); }
};

TEST(eval, a_failed_input_fails_only_what_reads_it) {
  const auto x = support::vector_on<float>(topos::cpu(), {1, 2, 3});
  const tensor<float, 1> bad = map(refuse{}, x);

  const auto [whole, failed] = topos::eval(x + 1, x + bad);

  EXPECT_EQ(values_of(whole), (std::vector<float>{2, 3, 4}));
  EXPECT_THROW(failed.block_until_ready(), std::domain_error);
}

TEST(eval, a_function_that_throws_fails_only_its_own_result) {
  for (const index_t size : {index_t{3}, index_t{1'000'000}}) {
    const tensor<float, 1> x = topos::ones<float, 1>({size}).block_until_ready();

    const auto [failed, more] = topos::eval(map(refuse{}, x), x + 1);
    const auto [total, failed_total] = topos::eval(sum(x), sum(map(refuse{}, x)));

    EXPECT_THROW(failed.block_until_ready(), std::domain_error);
    EXPECT_EQ(topos::origin_of(failed)->where.line(), __LINE__ - 4);
    EXPECT_EQ(more.item({size - 1}), 2.0F);
    EXPECT_EQ(total.item(), static_cast<float>(size));
    EXPECT_THROW(failed_total.block_until_ready(), std::domain_error);
  }
}

}  // namespace eval_test
