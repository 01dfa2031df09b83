// SPDX-License-Identifier: Apache-2.0
// expect: cannot be used as a function|is not a function
//
// Operators do what they do where a program has names of its own for what they stand for, and uses
// all of std: only calls by such a name are the program's.

#include <functional>

using namespace std;
enum operation { add, subtract, divide };

#include <topos/tensor/tensor.hpp>

auto combined(const topos::tensor<float, 1>& x, const topos::tensor<float, 1>& y) {
  return (x + y) / (x - y) < 2 && topos::add(x, y) >= 1;
}

#ifdef TOPOS_MUST_FAIL
auto sum(const topos::tensor<float, 1>& x, const topos::tensor<float, 1>& y) { return add(x, y); }
#endif
