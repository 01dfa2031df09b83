// SPDX-License-Identifier: Apache-2.0

/// Comparisons and logic of signed integers are NumPy's.

#include <gtest/gtest.h>

#include <cstdint>

#include "../support/types.hpp"
#include "comparison.hpp"

namespace signed_comparison_test {

template <class T>
class signed_comparison : public testing::Test {};
using types = support::types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(signed_comparison, types);

TYPED_TEST(signed_comparison, is_numpys) { support::expect_numpys_comparisons<TypeParam>(); }

}  // namespace signed_comparison_test
