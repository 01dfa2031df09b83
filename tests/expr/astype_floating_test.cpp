// SPDX-License-Identifier: Apache-2.0

/// Numbers as floating-point ones: rounded once.

#include <gtest/gtest.h>

#include "../support/types.hpp"
#include "astype.hpp"

namespace astype_floating_test {

template <class T>
class astype_floating : public testing::Test {};
using types = support::types<topos::f16, topos::bf16, float, double, Kokkos::complex<float>,
                             Kokkos::complex<double>>;
TYPED_TEST_SUITE(astype_floating, types);

TYPED_TEST(astype_floating, gives_jaxs_values) { support::expect_all_converted<TypeParam>(); }

}  // namespace astype_floating_test
