// SPDX-License-Identifier: Apache-2.0
// expect: topos: concatenate takes operands of one type in braces
// expect: topos: stack takes operands of one type in braces

#include <topos/tensor/concatenate.hpp>
#include <topos/tensor/reduction.hpp>

auto joined(const topos::tensor<float, 1>& x) { return topos::concatenate(std::tuple{x, x + 1}); }
auto joined_of_one_type(const topos::tensor<float, 1>& x) { return topos::stack({x, x}); }

#ifdef TOPOS_MUST_FAIL
void braced(const topos::tensor<float, 1>& x) {
  topos::concatenate({x, x + 1});
  topos::stack({x, sum(x, 0, topos::keep_dims)});
}
#endif
