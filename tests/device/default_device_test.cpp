// SPDX-License-Identifier: Apache-2.0

/// Scopes of the default device nest, end, and are each thread's own.

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <topos/device/default_device.hpp>
#include <type_traits>

namespace default_device_test {

using topos::default_device;

static_assert(!std::is_copy_constructible_v<default_device>);
static_assert(!std::is_convertible_v<topos::device, default_device>);

TEST(default_device, is_the_cpu_outside_of_any_scope) {
  EXPECT_EQ(default_device::current(), topos::cpu());
}

TEST(default_device, scopes_nest) {
  // Where there is no GPU, all of these are the CPU, and the test shows only that scopes end.
  const topos::device other = topos::try_gpu();
  {
    const default_device outer(other);
    EXPECT_EQ(default_device::current(), other);
    {
      const default_device inner(topos::cpu());
      EXPECT_EQ(default_device::current(), topos::cpu());
    }
    EXPECT_EQ(default_device::current(), other);
  }
  EXPECT_EQ(default_device::current(), topos::cpu());
}

TEST(default_device, scope_ends_with_an_exception) {
  try {
    const default_device scope(topos::try_gpu());
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
  }

  EXPECT_EQ(default_device::current(), topos::cpu());
}

TEST(default_device, is_each_threads_own) {
  const default_device scope(topos::try_gpu());
  topos::device seen = topos::try_gpu();

  std::thread([&] { seen = default_device::current(); }).join();

  EXPECT_EQ(seen, topos::cpu());
}

}  // namespace default_device_test
