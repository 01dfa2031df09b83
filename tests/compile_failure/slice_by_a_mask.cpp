// SPDX-License-Identifier: Apache-2.0
// expect: topos: slice takes numbers and ranges: to assign by a mask, write
// expect: topos: slice takes numbers and ranges: of a mask, write extract

#include <topos/expr/where.hpp>
#include <topos/tensor/tensor.hpp>

void assign(topos::tensor<float, 1>& x, const topos::tensor<bool, 1>& mask) {
  x = where(mask, 0, x);
}

#ifdef TOPOS_MUST_FAIL
void assign_by_slice(topos::tensor<float, 1>& x, const topos::tensor<bool, 1>& mask) {
  x.slice(mask) = 0;
}
auto part(const topos::tensor<float, 1>& x) { return topos::slice(x, x > 0); }
#endif
