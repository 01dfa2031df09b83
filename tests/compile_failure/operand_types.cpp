// SPDX-License-Identifier: Apache-2.0
// expect: topos: both operands must have the same element type

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

auto sum(const topos::tensor<float, 1>& x, const topos::tensor<float, 1>& y) { return x + y; }

#ifdef TOPOS_MUST_FAIL
auto mixed(const topos::tensor<float, 1>& x, const topos::tensor<double, 1>& y) { return x + y; }
#endif
