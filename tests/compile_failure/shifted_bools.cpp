// SPDX-License-Identifier: Apache-2.0
// expect: topos: bools have no bits to shift

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

auto shifted(const topos::tensor<int, 1>& x) { return x << 1; }

#ifdef TOPOS_MUST_FAIL
auto shifted(const topos::tensor<bool, 1>& x) { return x << x; }
#endif
