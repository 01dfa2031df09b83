// SPDX-License-Identifier: Apache-2.0

/// Comparisons and logic of unsigned integers and bools are NumPy's.

#include <gtest/gtest.h>

#include <cstdint>

#include "../support/types.hpp"
#include "comparison.hpp"

namespace unsigned_comparison_test {

template <class T>
class unsigned_comparison : public testing::Test {};
using types = support::types<bool, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(unsigned_comparison, types);

TYPED_TEST(unsigned_comparison, is_numpys) { support::expect_numpys_comparisons<TypeParam>(); }

}  // namespace unsigned_comparison_test
