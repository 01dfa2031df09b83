// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What tests share that end a process.

#include <gtest/gtest.h>

namespace support {

/// A test in a process of its own, begun anew: a forked one would lack this one's threads.
class death_test : public testing::Test {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

}  // namespace support
