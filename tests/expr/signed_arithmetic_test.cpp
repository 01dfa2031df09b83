// SPDX-License-Identifier: Apache-2.0

/// Signed integers wrap around and divide as NumPy's.

#include <gtest/gtest.h>

#include <cstdint>

#include "../support/types.hpp"
#include "integer_arithmetic.hpp"

namespace signed_arithmetic_test {

template <class T>
class signed_arithmetic : public testing::Test {};
using types = support::types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(signed_arithmetic, types);

TYPED_TEST(signed_arithmetic, gives_numpys_values) {
  support::expect_numpys_arithmetic<TypeParam>();
}

TYPED_TEST(signed_arithmetic, divides_truly_in_float) {
  support::expect_float_quotients<TypeParam>();
}

}  // namespace signed_arithmetic_test
