// SPDX-License-Identifier: Apache-2.0
// expect: topos: bit operations take integers or bools, not floating-point numbers

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

auto bits(const topos::tensor<int, 1>& x) { return (x & 1) | ~x; }

#ifdef TOPOS_MUST_FAIL
auto of_floats(const topos::tensor<float, 1>& x) { return x & 1; }
#endif
