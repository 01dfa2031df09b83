// SPDX-License-Identifier: Apache-2.0

/// Bools, in memory and as the masks that comparisons are inside an expression.

#include <gtest/gtest.h>

#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <vector>

#include "reference.hpp"

namespace bools_test {

using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::eval;

TEST(bools, masks_combine_as_truths) {
  on_each_device([](topos::device d) {
    for (const topos::index_t n : {1, 15, 16, 17, 33}) {
      const std::vector<double> in = support::varied<double>(n);
      const auto x = vector_on(d, in);
      std::vector<bool> expected;
      for (const double v : in) expected.push_back((v > -1 && v < 1) != !(v > 0.5));
      EXPECT_EQ(values_of(eval(((x > -1) & (x < 1)) ^ !(x > 0.5))), expected) << n;
      EXPECT_EQ(values_of(eval((x > -1 && x < 1) != !(x > 0.5))), expected) << n;
    }
  });
}

TEST(bools, masks_compute_as_bools) {
  on_each_device([](topos::device d) {
    for (const topos::index_t n : {1, 15, 16, 17, 33}) {
      const std::vector<float> in = support::varied<float>(n);
      const auto x = vector_on(d, in);
      const auto a = x > 0;
      const auto b = x < 1;
      const auto expected = [&](const auto& of) {
        std::vector<bool> all;
        for (const float v : in) all.push_back(of(v > 0, v < 1));
        return all;
      };
      const std::vector<bool> both = expected([](bool p, bool q) { return p && q; });
      const std::vector<bool> either = expected([](bool p, bool q) { return p || q; });
      EXPECT_EQ(values_of(eval(a + b)), either) << n;
      EXPECT_EQ(values_of(eval(a * b)), both) << n;
      EXPECT_EQ(values_of(eval(maximum(a, b))), either) << n;
      EXPECT_EQ(values_of(eval(minimum(a, b))), both) << n;
      EXPECT_EQ(values_of(eval(square(a))), expected([](bool p, bool) { return p; })) << n;
      EXPECT_EQ(values_of(eval(a < b)), expected([](bool p, bool q) { return !p && q; })) << n;
      EXPECT_EQ(values_of(eval(a == b)), expected([](bool p, bool q) { return p == q; })) << n;
      EXPECT_EQ(values_of(eval(where(a, b, a))), both) << n;
    }
  });
}

TEST(bools, compute_as_numpys) {
  const auto rows = rows_of<bool>("bool_binary");
  on_each_device([&](topos::device d) {
    const auto a = support::tensor_of(d, rows[0]);
    const auto b = support::tensor_of(d, rows[1]);
    EXPECT_EQ(values_of(eval(a + b)), rows[2]);
    EXPECT_EQ(values_of(eval(a * b)), rows[3]);
    EXPECT_EQ(values_of(eval(minimum(a, b))), rows[4]);
    EXPECT_EQ(values_of(eval(maximum(a, b))), rows[5]);
    EXPECT_EQ(values_of(eval(a & b)), rows[6]);
    EXPECT_EQ(values_of(eval(a | b)), rows[7]);
    EXPECT_EQ(values_of(eval(a ^ b)), rows[8]);
    EXPECT_EQ(values_of(eval(~a)), rows[9]);
    EXPECT_EQ(values_of(eval(!a)), rows[9]);
    EXPECT_EQ(values_of(eval(a / b))[0], (rows[0][0] ? 1.0f : 0.0f) / (rows[1][0] ? 1.0f : 0.0f));
    EXPECT_EQ(rows.size(), 10U);
  });
}

}  // namespace bools_test
