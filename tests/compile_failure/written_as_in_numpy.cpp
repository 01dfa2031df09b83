// SPDX-License-Identifier: Apache-2.0
// expect: topos: concatenate takes its operands in braces
// expect: topos: stack takes its operands in braces
// expect: topos: of several axes write sum\(x, \{0, 1\}\)
// expect: topos: to keep axes write sum\(x, axis, keep_dims\)
// expect: topos: to exchange two axes, write swapaxes
// expect: topos: a tensor has no
// expect: topos: of two operands by element write maximum\(x, y\)
// expect: topos: take has its indices in a tensor
// expect: topos: squeeze takes away one axis
// expect: topos: no range: write for \(float v : x.host\(\)\)
// expect: topos: how many axes comes first: tensordot<1>

#include <topos/expr/gather.hpp>
#include <topos/expr/views.hpp>
#include <topos/linalg/tensordot.hpp>
#include <topos/tensor/concatenate.hpp>
#include <topos/tensor/reduction.hpp>

using matrix = topos::tensor<float, 2>;

void as_they_are(const matrix& x) {
  static_cast<void>(topos::concatenate({x, x}, 1));
  static_cast<void>(sum(x, {0, 1}));
  static_cast<void>(swapaxes(x, 0, 1));
  static_cast<void>(transpose(x, {1, 0}));
  static_cast<void>(tensordot<1>(x, x));
}

#ifdef TOPOS_MUST_FAIL
void as_in_numpy(const matrix& x) {
  concatenate(x, x);
  stack(x, x, 1);
  sum(x, 0, 1);
  sum(x, 0, true);
  transpose(x, 0, 1);
  x[1];
  x(1, 2);
  take(x, {0, 2}, 1);
  squeeze(x);
  max(x, 0.0f);
  for (auto row : x) row.item();
  tensordot(x, x, 1);
}
#endif
