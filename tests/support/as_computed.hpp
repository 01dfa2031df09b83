// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is made of an expression, beside what is made of its elements in memory.

#include <gtest/gtest.h>

#include <topos/tensor/eval.hpp>

#include "devices.hpp"

namespace support {

/// Expects the bits of what `of` makes of an expression to be those of what it makes of a tensor
/// that was computed of it before.
template <class E, class Of>
void expect_as_computed(const E& lazy, const Of& of) {
  using topos::eval;
  const auto computed = eval(lazy);
  EXPECT_TRUE(same_bits(values_of(eval(of(lazy))), values_of(eval(of(computed)))));
}

}  // namespace support
