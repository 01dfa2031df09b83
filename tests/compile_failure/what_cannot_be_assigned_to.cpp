// SPDX-License-Identifier: Apache-2.0
// expect: topos: only a part of a tensor that is a variable, and not const, can be assigned to
// expect: topos: what is assigned has other elements or axes than this tensor
// expect: topos: this is not computed yet: write eval\(x\).host\(\)
// expect: topos: this is not computed yet: write eval\(x\).block_until_ready\(\)
// expect: topos: an expression is not computed and cannot be assigned to
// expect: lazy::operator\+=

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>

using vector = topos::tensor<int, 1>;

void as_they_are(vector& x) {
  x.slice(0) = 1;
  x.slice(0) = x.slice(1);
  x = x + x;
  static_cast<void>(topos::eval(x + x).host());
}

#ifdef TOPOS_MUST_FAIL
void part_of_a_const_one(const vector& x) { x.slice(0) = x.slice(1); }
void another_type(vector& x) { x = x / 2; }
void an_expression(const vector& x) {
  auto y = x + x;
  y = y + 1;
}
void an_expression_in_place(const vector& x) {
  auto y = x + x;
  y += 1;
}
void not_computed(const vector& x) { (x + x).host(); }
void nothing_to_wait_for(const vector& x) { (x + x).block_until_ready(); }
#endif
