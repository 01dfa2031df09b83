// SPDX-License-Identifier: Apache-2.0

/// Unsigned integers wrap around and divide as NumPy's.

#include <gtest/gtest.h>

#include <cstdint>

#include "../support/types.hpp"
#include "integer_arithmetic.hpp"

namespace unsigned_arithmetic_test {

template <class T>
class unsigned_arithmetic : public testing::Test {};
using types = support::types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(unsigned_arithmetic, types);

TYPED_TEST(unsigned_arithmetic, gives_numpys_values) {
  support::expect_numpys_arithmetic<TypeParam>();
}

TYPED_TEST(unsigned_arithmetic, divides_truly_in_float) {
  support::expect_float_quotients<TypeParam>();
}

}  // namespace unsigned_arithmetic_test
