// SPDX-License-Identifier: Apache-2.0

/// Runs a layer's tests inside one topos runtime, as a user's program would.

#include <gtest/gtest.h>

#include <topos/device/runtime.hpp>

// What sanitizers ask, where one is linked: tests ask for memory that no machine has, and expect an
// exception.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  topos::runtime runtime{argc, argv};
  return RUN_ALL_TESTS();
}
