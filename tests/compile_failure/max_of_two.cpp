// SPDX-License-Identifier: Apache-2.0
// expect: topos: of two operands by element write maximum\(x, y\)

#include <topos/tensor/reduction.hpp>

auto largest(const topos::tensor<float, 1>& x) { return max(x); }

#ifdef TOPOS_MUST_FAIL
void larger(const topos::tensor<float, 1>& x, const topos::tensor<float, 1>& y) { max(x, y); }
#endif
