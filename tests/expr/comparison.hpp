// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Comparisons and logic at every pair of a type's edges, against NumPy's values.

#include <topos/expr/math.hpp>
#include <vector>

#include "reference.hpp"

namespace support {

/// Expects rows of truths, in the order of scripts/reference/expr.py.
template <class T>
void expect_numpys_comparisons() {
  const auto operands = rows_of<T>(named<T>("binary"));
  const auto expected = rows_of<bool>(named<T>("comparison"));
  on_each_device([&](topos::device d) {
    const auto a = tensor_of(d, operands[0]);
    const auto b = tensor_of(d, operands[1]);
    std::size_t row = 0;
    const auto check = [&](const char* name, const auto& e) {
      EXPECT_EQ(values_of(topos::eval(e)), expected.at(row++)) << name;
    };
    check("equal", a == b);
    check("not_equal", a != b);
    check("less", a < b);
    check("less_equal", a <= b);
    check("greater", a > b);
    check("greater_equal", a >= b);
    check("logical_and", a && b);
    check("logical_or", a || b);
    check("logical_not", !a);
  });
}

}  // namespace support
