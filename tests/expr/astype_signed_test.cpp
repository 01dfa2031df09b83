// SPDX-License-Identifier: Apache-2.0

/// Numbers as signed integers: cut off towards 0, held within the type.

#include <gtest/gtest.h>

#include "../support/types.hpp"
#include "astype.hpp"

namespace astype_signed_test {

template <class T>
class astype_signed : public testing::Test {};
using types = support::types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(astype_signed, types);

TYPED_TEST(astype_signed, gives_jaxs_values) { support::expect_all_converted<TypeParam>(); }
TYPED_TEST(astype_signed, gives_the_same_among_others) {
  support::expect_converted_among_others<TypeParam>();
}

}  // namespace astype_signed_test
