// SPDX-License-Identifier: Apache-2.0
// expect: topos: the result has more axes than this tensor

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

void add(topos::tensor<float, 2>& x, const topos::tensor<float, 2>& y) { x += y; }

#ifdef TOPOS_MUST_FAIL
void add(topos::tensor<float, 2>& x, const topos::tensor<float, 3>& y) { x += y; }
#endif
