// SPDX-License-Identifier: Apache-2.0
// expect: topos: more indices than axes

#include <topos/expr/slice.hpp>
#include <topos/tensor/tensor.hpp>

auto element(const topos::tensor<float, 2>& x) { return topos::slice(x, 1, topos::range{}); }

#ifdef TOPOS_MUST_FAIL
auto too_deep(const topos::tensor<float, 2>& x) { return topos::slice(x, 1, 2, 3); }
#endif
