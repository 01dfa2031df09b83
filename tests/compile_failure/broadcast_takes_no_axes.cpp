// SPDX-License-Identifier: Apache-2.0
// expect: topos: broadcasting takes no axes away

#include <topos/expr/views.hpp>
#include <topos/tensor/tensor.hpp>

auto spread(const topos::tensor<float, 1>& x) { return topos::broadcast_to<2>(x, {2, 3}); }

#ifdef TOPOS_MUST_FAIL
auto cut(const topos::tensor<float, 2>& x) { return topos::broadcast_to<1>(x, {3}); }
#endif
