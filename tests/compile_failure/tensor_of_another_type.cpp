// SPDX-License-Identifier: Apache-2.0
// expect: conversion from .*operation_node.* to non-scalar type .*tensor<double

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

topos::tensor<float, 1> twice(const topos::tensor<float, 1>& x) {
  topos::tensor<float, 1> y = x + x;
  return y;
}

#ifdef TOPOS_MUST_FAIL
void widened(const topos::tensor<float, 1>& x) { topos::tensor<double, 1> y = x + x; }
#endif
