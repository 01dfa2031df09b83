// SPDX-License-Identifier: Apache-2.0

/// Errors carry a message and the user's line, and are caught as what they are or as any error.

#include <gtest/gtest.h>

#include <locale>
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

// As many a locale writes numbers, with groups of a single digit.
struct grouped : std::numpunct<char> {
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] std::string do_grouping() const override { return "\1"; }
};

class program_with_a_locale : public testing::Test {
 protected:
  program_with_a_locale()
      : before_(std::locale::global(std::locale(std::locale::classic(), new grouped))) {}
  ~program_with_a_locale() override { std::locale::global(before_); }

 private:
  std::locale before_;
};

TEST_F(program_with_a_locale, gets_messages_without_it) {
  EXPECT_EQ(topos::detail::concat("cuda:", 12345, ' ', 2.5), "cuda:12345 2.5");
}

TEST_F(program_with_a_locale, gets_origins_without_it) {
  topos::error e("failed");
  const auto where = std::source_location::current();

  e.set_origin({"sum", where});

  EXPECT_TRUE(std::string_view(e.what()).ends_with(":" + std::to_string(where.line())));
}

}  // namespace error_test
