// SPDX-License-Identifier: Apache-2.0
// expect: topos: bools have no difference
// expect: topos: bools have no negative

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

auto difference(const topos::tensor<bool, 1>& x) { return x - 1; }

#ifdef TOPOS_MUST_FAIL
auto difference(const topos::tensor<bool, 1>& x, bool y) { return x - y; }
auto negative(const topos::tensor<bool, 1>& x) { return -x; }
#endif
