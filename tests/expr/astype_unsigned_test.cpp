// SPDX-License-Identifier: Apache-2.0

/// Numbers as unsigned integers and bools: held within the type, NaN as 0.

#include <gtest/gtest.h>

#include "../support/types.hpp"
#include "astype.hpp"

namespace astype_unsigned_test {

template <class T>
class astype_unsigned : public testing::Test {};
using types = support::types<bool, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(astype_unsigned, types);

TYPED_TEST(astype_unsigned, gives_jaxs_values) { support::expect_all_converted<TypeParam>(); }
TYPED_TEST(astype_unsigned, gives_the_same_among_others) {
  support::expect_converted_among_others<TypeParam>();
}

}  // namespace astype_unsigned_test
