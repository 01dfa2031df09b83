// SPDX-License-Identifier: Apache-2.0

/// Copies between devices are counted, told and forbidden, where there are two; and by the rule.

#include <gtest/gtest.h>

#include <algorithm>
#include <source_location>
#include <sstream>
#include <string>
#include <thread>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/transfer_guard.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"

namespace transfer_guard_test {

using topos::transfer;
using topos::transfer_guard;

static_assert(!std::is_copy_constructible_v<transfer_guard>);
static_assert(!std::is_convertible_v<transfer, transfer_guard>);
static_assert(std::is_base_of_v<topos::error, topos::transfer_forbidden>);

// As a copy of ten bytes asks.
void ask() {
  transfer_guard::pass(topos::cpu(), topos::cpu(), 10, std::source_location::current());
}

TEST(transfer_guard, without_one_nothing_is_counted) {
  EXPECT_NO_THROW(ask());
  EXPECT_EQ(transfer_guard::count(), 0U);
}

TEST(transfer_guard, counts_what_it_allows) {
  const transfer_guard guard(transfer::allow);
  ask();
  ask();
  EXPECT_EQ(transfer_guard::count(), 2U);
}

TEST(transfer_guard, forbids_with_sizes_devices_and_place) {
  const transfer_guard guard(transfer::disallow);
  const std::string text = support::refusal<topos::transfer_forbidden>(ask);
  EXPECT_TRUE(support::contains(text, "transfer of 10 bytes from cpu to cpu at ")) << text;
  EXPECT_TRUE(support::contains(text, "transfer_guard_test.cpp:")) << text;
  EXPECT_EQ(transfer_guard::count(), 0U);
}

TEST(transfer_guard, logs_a_line_for_each) {
  std::ostringstream log;
  const transfer_guard guard(transfer::log, log);
  ask();
  ask();
  const std::string text = log.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_TRUE(text.starts_with("topos: transfer of 10 bytes from cpu to cpu at ")) << text;
  EXPECT_EQ(transfer_guard::count(), 2U);
}

TEST(transfer_guard, innermost_decides_and_its_count_is_added) {
  const transfer_guard outer(transfer::disallow);
  EXPECT_THROW(ask(), topos::transfer_forbidden);
  {
    const transfer_guard inner(transfer::allow);
    ask();
    EXPECT_EQ(transfer_guard::count(), 1U);
  }
  EXPECT_THROW(ask(), topos::transfer_forbidden);
  EXPECT_EQ(transfer_guard::count(), 1U);
}

TEST(transfer_guard, is_of_one_thread) {
  const transfer_guard guard(transfer::disallow);
  std::thread([] { EXPECT_NO_THROW(ask()); }).join();
}

TEST(transfer_guard, what_stays_on_its_device_passes) {
  support::on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({3}, d);
    const transfer_guard guard(transfer::disallow);
    EXPECT_NO_THROW((void)topos::device_put(x, d));
    EXPECT_NO_THROW((topos::tensor<float, 1>(x + 1.0f)));
  });
  const transfer_guard guard(transfer::disallow);
  EXPECT_NO_THROW(support::values_of(support::vector_on(topos::cpu(), std::vector<float>{1, 2})));
}

TEST(transfer_guard, watches_over_copies_between_devices) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "needs two devices";
  const auto here = topos::ones<float, 1>({3});
  const auto there = topos::ones<float, 1>({3}, topos::gpu());
  {
    const transfer_guard guard(transfer::allow);
    (void)here.gpu();
    (void)there.cpu();
    (void)topos::device_put(std::vector<float>{1, 2}, topos::gpu());
    EXPECT_EQ(transfer_guard::count(), 3U);
  }
  const transfer_guard guard(transfer::disallow);
  EXPECT_THROW((void)here.gpu(), topos::transfer_forbidden);
  EXPECT_THROW((void)there.cpu(), topos::transfer_forbidden);
  EXPECT_THROW((void)(topos::ones<float, 0>({}, topos::gpu()).item()), topos::transfer_forbidden);
}

}  // namespace transfer_guard_test
