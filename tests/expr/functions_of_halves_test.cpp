// SPDX-License-Identifier: Apache-2.0

/// Functions of sixteen-bit numbers are those of float, rounded once.

#include <gtest/gtest.h>

#include "functions.hpp"

namespace functions_of_halves_test {

TEST(functions_of_halves, are_within_one_unit) {
  support::expect_functions<topos::f16>(1);
  support::expect_functions<topos::bf16>(1);
}

}  // namespace functions_of_halves_test
