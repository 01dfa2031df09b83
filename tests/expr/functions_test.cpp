// SPDX-License-Identifier: Apache-2.0

/// Functions of real numbers: within a few units in the last place, at their edges too.

#include <gtest/gtest.h>

#include "functions.hpp"

namespace functions_test {

TEST(functions, of_floats_are_within_four_units) { support::expect_functions<float>(4); }

TEST(functions, of_doubles_are_within_four_units) { support::expect_functions<double>(4); }

}  // namespace functions_test
