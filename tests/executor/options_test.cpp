// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <topos/executor/options.hpp>

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
  EXPECT_EQ(refusal(options{.time = nullptr}), "executor options: time must not be null");
}

TEST(request_options, refuse_what_no_request_could_be_made_with) {
  EXPECT_EQ(refusal(topos::request_options{}), "none");
  EXPECT_EQ(refusal(topos::request_options{.request_size = 0}),
            "request options: request_size must be at least 1");
  EXPECT_EQ(refusal(topos::request_options{.progress = {.time = nullptr}}),
            "request options: progress.time must not be null");
}

}  // namespace options_test
