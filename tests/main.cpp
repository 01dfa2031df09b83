// SPDX-License-Identifier: Apache-2.0

/// Runs a layer's tests inside one topos runtime, as a user's program would.

#include <gtest/gtest.h>

#include <topos/device/runtime.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  topos::runtime runtime{argc, argv};
  return RUN_ALL_TESTS();
}
