// SPDX-License-Identifier: Apache-2.0

/// Errors carry a message and the user's line, and are caught as what they are or as any error.

#include <gtest/gtest.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <topos/core/error.hpp>
#include <type_traits>

namespace error_test {

static_assert(std::is_base_of_v<std::runtime_error, topos::error>);
static_assert(!std::is_convertible_v<std::string, topos::error>);

template <class Error>
class every_error : public testing::Test {};

using errors = testing::Types<topos::invalid_device, topos::device_mismatch, topos::shape_mismatch,
                              topos::dtype_mismatch, topos::invalid_argument, topos::out_of_range,
                              topos::out_of_memory, topos::not_supported, topos::io_error,
                              topos::backend_error, topos::runtime_not_started>;
TYPED_TEST_SUITE(every_error, errors);

TYPED_TEST(every_error, is_caught_by_its_own_type) {
  EXPECT_THROW(throw TypeParam("message"), TypeParam);
}

TYPED_TEST(every_error, is_caught_as_any_error_with_its_message) {
  try {
    throw TypeParam("what happened");
  } catch (const topos::error& error) {
    EXPECT_STREQ(error.what(), "what happened");
  }
}

TEST(error, knows_the_line_that_made_it) {
  const auto here = std::source_location::current();

  const topos::error error("message");

  EXPECT_EQ(error.where().line(), here.line() + 2);
  EXPECT_TRUE(std::string_view(error.where().file_name()).ends_with("error_test.cpp"));
}

TEST(error, keeps_the_line_it_is_given) {
  const auto line = std::source_location::current();

  const topos::io_error error("message", line);

  EXPECT_EQ(error.where().line(), line.line());
}

TEST(concat, joins_whatever_can_be_streamed) {
  EXPECT_EQ(topos::detail::concat("a ", 1, ' ', 2.5, std::string_view(" b")), "a 1 2.5 b");
}

}  // namespace error_test
