// SPDX-License-Identifier: Apache-2.0
// expect: constraint

#include <string>
#include <topos/tensor/tensor.hpp>

using numbers = topos::tensor<float, 1>;

#ifdef TOPOS_MUST_FAIL
using texts = topos::tensor<std::string, 1>;
#endif
