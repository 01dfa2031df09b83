// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Every operation on whole numbers, at every pair of a type's edges, against NumPy's values.

#include <topos/expr/math.hpp>
#include <vector>

#include "reference.hpp"

namespace support {

/// Expects rows of results, in the order of scripts/reference/expr.py.
template <class T>
void expect_numpys_arithmetic() {
  const std::vector<std::vector<T>> rows = rows_of<T>(named<T>("binary"));
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, rows[0]);
    const auto b = vector_on(d, rows[1]);
    std::size_t row = 2;
    const auto check = [&](const char* name, const auto& e) {
      expect_same<T>(name, values_of(topos::eval(e)), rows.at(row++));
    };
    check("add", a + b);
    check("subtract", a - b);
    check("multiply", a * b);
    check("floor_divide", floor_divide(a, b));
    check("remainder", a % b);
    check("minimum", minimum(a, b));
    check("maximum", maximum(a, b));
    check("and", a & b);
    check("or", a | b);
    check("xor", a ^ b);
    check("left_shift", a << b);
    check("right_shift", a >> b);
    check("power", pow(a, b));
    check("negative", -a);
    check("abs", abs(a));
    check("square", square(a));
    check("sign", sign(a));
    check("invert", ~a);
    EXPECT_EQ(row, rows.size());
  });
}

/// Expects true quotients, as float.
template <class T>
void expect_float_quotients() {
  const std::vector<std::vector<T>> rows = rows_of<T>(named<T>("binary"));
  const std::vector<float> expected = rows_of<float>(named<T>("quotient")).at(0);
  on_each_device([&](topos::device d) {
    const auto a = vector_on(d, rows[0]);
    const auto b = vector_on(d, rows[1]);
    expect_same<float>("divide", values_of(topos::eval(a / b)), expected);
  });
}

}  // namespace support
