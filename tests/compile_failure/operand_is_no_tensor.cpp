// SPDX-License-Identifier: Apache-2.0
// expect: no match for .*operator[+]

#include <string>
#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

auto sum(const topos::tensor<float, 1>& x) { return x + 1; }

#ifdef TOPOS_MUST_FAIL
auto with_text(const topos::tensor<float, 1>& x) { return x + std::string("1"); }
#endif
