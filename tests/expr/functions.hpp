// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions of one real number, against double precision rounded once.

#include <string>
#include <topos/expr/math.hpp>
#include <vector>

#include "reference.hpp"

namespace support {

/// Expects values within `units` in the last place, in the order of scripts/reference/expr.py.
template <class T>
void expect_functions(double units) {
  const std::vector<std::vector<T>> rows = rows_of<T>(named<T>("unary"));
  on_each_device([&](topos::device d) {
    const auto x = vector_on(d, rows[0]);
    std::size_t row = 1;
    const auto check = [&](const char* name, const auto& e, double absolute = 0) {
      std::vector<T> got = values_of(topos::eval(e));
      expect_close<T>(name, rows[0], got, rows.at(row++), units, absolute);
    };
    // A number that is off by half a unit of T(1) before it cancels.
    const double cancelled = units * std::ldexp(1.0, -fraction_bits<T>);
    check("sqrt", sqrt(x));
    check("rsqrt", rsqrt(x));
    check("cbrt", cbrt(x));
    check("exp", exp(x));
    check("exp2", exp2(x));
    check("expm1", expm1(x));
    check("log", log(x));
    check("log2", log2(x));
    check("log10", log10(x));
    check("log1p", log1p(x));
    check("sin", sin(x));
    check("cos", cos(x));
    check("tan", tan(x));
    check("asin", asin(x));
    check("acos", acos(x));
    check("atan", atan(x));
    check("sinh", sinh(x));
    check("cosh", cosh(x));
    check("tanh", tanh(x));
    check("asinh", asinh(x));
    check("acosh", acosh(x));
    check("atanh", atanh(x));
    check("erf", erf(x));
    check("erfc", erfc(x));
    check("tgamma", tgamma(x));
    check("lgamma", lgamma(x), cancelled);
    // Where exp(-x) overflows the result is 0, and would be denormal.
    check("sigmoid", sigmoid(x), std::ldexp(1.0, std::is_same_v<T, double> ? -1022 : -126));
    check("gelu", gelu(x), cancelled);
    check("radians", radians(x));
    check("degrees", degrees(x));
    EXPECT_EQ(row, rows.size());
  });
}

}  // namespace support
