// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <topos/executor/options.hpp>
#include <vector>

namespace options_test {

using namespace std::chrono_literals;

std::string refusal(const auto& options) {
  try {
    topos::detail::check(options);
  } catch (const topos::invalid_argument& e) {
    return e.what();
  }
  return "none";
}

TEST(executor_options, defaults_run_on_the_default_device) {
  const topos::executor_options options;
  EXPECT_EQ(options.devices, std::vector{topos::default_device::current()});
  EXPECT_EQ(refusal(options), "none");
}

TEST(executor_options, take_any_duration) {
  const topos::executor_options options{.max_delay = 5ms};
  EXPECT_EQ(options.max_delay.count(), 5'000'000);
}

TEST(executor_options, refuse_what_nothing_could_run_with) {
  using options = topos::executor_options;
  EXPECT_EQ(refusal(options{.devices = {}}),
            "executor options: devices must name at least one device");
  EXPECT_EQ(refusal(options{.replicas = 0}), "executor options: replicas must be at least 1");
  EXPECT_EQ(refusal(options{.max_batch_size = 0}),
            "executor options: max_batch_size must be at least 1");
  EXPECT_EQ(refusal(options{.max_delay = -1ns}),
            "executor options: max_delay must not be negative");
  EXPECT_EQ(refusal(options{.queue_capacity = 0}),
            "executor options: queue_capacity must be at least 1");
  EXPECT_EQ(refusal(options{.queue_capacity = 3, .hold_until = 4}),
            "executor options: hold_until must be at most queue_capacity, 3, not 4: else nothing "
            "starts");
  EXPECT_EQ(refusal(options{.queue_capacity = 3, .hold_until = 3}), "none");
  const options sheds{.queue_capacity = 3, .full = topos::when_full::shed_oldest, .hold_until = 4};
  EXPECT_EQ(refusal(sheds), "none");
  EXPECT_EQ(refusal(options{.time = nullptr}), "executor options: time must not be null");
}

TEST(executor_options, refuse_more_replicas_or_levels_than_there_may_be) {
  using options = topos::executor_options;
  const std::vector<topos::device> two(2, topos::cpu());
  EXPECT_EQ(refusal(options{.devices = two, .replicas = 32'768}), "none");
  EXPECT_EQ(refusal(options{.devices = two, .replicas = 32'769}),
            "executor options: devices.size() * replicas must be at most 65536, not 2 * 32769");
  const std::size_t half = std::numeric_limits<std::size_t>::max() / 2 + 1;  // twice that is 0
  EXPECT_NE(refusal(options{.devices = two, .replicas = half}), "none");
  EXPECT_EQ(refusal(options{.priority_levels = 256}), "none");
  EXPECT_EQ(refusal(options{.priority_levels = 257}),
            "executor options: priority_levels must be at most 256, not 257");
}

TEST(executor_options, refuse_what_no_enumerator_is) {
  using options = topos::executor_options;
  EXPECT_EQ(refusal(options{.too_large = static_cast<topos::oversize>(2)}),
            "executor options: too_large must be reject or alone");
  EXPECT_EQ(refusal(options{.full = static_cast<topos::when_full>(3)}),
            "executor options: full must be block, fail or shed_oldest");
  EXPECT_EQ(refusal(topos::request_options{.order = static_cast<topos::result_order>(2)}),
            "request options: order must be ordered or as_completed");
}

TEST(request_options, refuse_what_no_request_could_be_made_with) {
  EXPECT_EQ(refusal(topos::request_options{}), "none");
  EXPECT_EQ(refusal(topos::request_options{.request_size = 0}),
            "request options: request_size must be at least 1");
  EXPECT_EQ(refusal(topos::request_options{.progress = {.time = nullptr}}),
            "request options: progress.time must not be null");
}

}  // namespace options_test
