// SPDX-License-Identifier: Apache-2.0
// expect: topos: the result is floating-point and would be cut off: use astype

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

void halve(topos::tensor<float, 1>& x) { x /= 2; }

#ifdef TOPOS_MUST_FAIL
void halve(topos::tensor<int, 1>& x) { x /= 2; }
#endif
