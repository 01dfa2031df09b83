// SPDX-License-Identifier: Apache-2.0

/// Waiting for a buffer, and for all of a device.

#include <gtest/gtest.h>

#include <atomic>
#include <source_location>
#include <stdexcept>
#include <topos/async/event.hpp>

#include "../support/devices.hpp"
#include "gate.hpp"

namespace event_test {

using support::on_each_device;
using topos::buffer;
using topos::detail::always_queued;

topos::detail::work_queue& queue_on(topos::device d) {
  return topos::detail::queue_of(d, std::source_location::current());
}

TEST(event, buffer_that_nothing_writes_is_ready) {
  on_each_device([](topos::device d) {
    const buffer b(d, 8);
    EXPECT_TRUE(topos::detail::is_ready(b));
    EXPECT_NO_THROW(topos::detail::block_until_ready(b));
  });
  EXPECT_TRUE(topos::detail::is_ready(buffer()));
  EXPECT_NO_THROW(topos::detail::block_until_ready(buffer()));
}

TEST(event, waits_for_the_work_that_writes_a_buffer) {
  const buffer b(topos::cpu(), 8);
  std::atomic<bool> written{false};
  {
    const support::gate held(queue_on(topos::cpu()));
    queue_on(topos::cpu()).submit({}, {b}, always_queued, [&](const auto&) { written = true; });
    EXPECT_FALSE(topos::detail::is_ready(b));
  }
  topos::detail::block_until_ready(b);

  EXPECT_TRUE(written);
  EXPECT_TRUE(topos::detail::is_ready(b));
}

TEST(event, rethrows_a_failure_as_often_as_it_is_asked) {
  on_each_device([](topos::device d) {
    const buffer b(d, 8);
    queue_on(d).submit({}, {b}, always_queued, [](const auto&) { throw std::range_error("far"); });

    EXPECT_THROW(topos::detail::block_until_ready(b), std::range_error);
    EXPECT_TRUE(topos::detail::is_ready(b)) << "done, though failed";
    EXPECT_THROW(topos::detail::block_until_ready(b), std::range_error);
  });
}

TEST(event, failure_of_work_in_place_is_rethrown_too) {
  const buffer b(topos::cpu(), 8);
  topos::block_until_ready(topos::cpu());
  queue_on(topos::cpu()).submit({}, {b}, 1, [](const auto&) { throw std::range_error("near"); });

  EXPECT_THROW(topos::detail::block_until_ready(b), std::range_error);
}

TEST(event, of_a_device_waits_for_all_and_is_nobodys_failure) {
  on_each_device([](topos::device d) {
    std::atomic<int> ran{0};
    const buffer b(d, 8);
    for (int i = 0; i < 10; ++i) {
      queue_on(d).submit({}, {}, always_queued, [&](const auto&) { ++ran; });
    }
    queue_on(d).submit({}, {b}, always_queued, [](const auto&) { throw std::range_error("far"); });

    EXPECT_NO_THROW(topos::block_until_ready(d));

    EXPECT_EQ(ran, 10);
    EXPECT_THROW(topos::detail::block_until_ready(b), std::range_error);
  });
}

}  // namespace event_test
