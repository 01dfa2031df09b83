// SPDX-License-Identifier: Apache-2.0

/// A failure that is told later tells which operation failed, and which call enqueued it.

#include <gtest/gtest.h>

#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/origin.hpp>

#include "../support/devices.hpp"

namespace origin_test {

using support::on_each_device;
using topos::tensor;

struct no_memory {
  template <class... Anything>
  void operator()(const Anything&...) const {
    throw topos::out_of_memory("none left");
  }
};
struct no_number {
  template <class... Anything>
  void operator()(const Anything&...) const {
    throw std::domain_error("no number");
  }
};

template <class Functor>
tensor<float, 1> failed_on(topos::device d, std::source_location where) {
  auto x = topos::zeros<float, 1>({10}, d);
  topos::enqueue(d, topos::reads(), topos::writes(x), Functor{}, where);
  return x;
}

TEST(origin, is_told_by_errors_of_topos) {
  on_each_device([](topos::device d) {
    const auto here = std::source_location::current();
    const tensor<float, 1> x = failed_on<no_memory>(d, here);
    const tensor<float, 1> y = x + 1.0f;  // fails with what x failed with
    try {
      y.block_until_ready();
      ADD_FAILURE() << "nothing was rethrown";
    } catch (const topos::out_of_memory& failure) {
      ASSERT_TRUE(failure.origin());
      EXPECT_STREQ(failure.origin()->operation, "topos::enqueue");
      EXPECT_EQ(failure.origin()->where.line(), here.line());
      const std::string expected =
          topos::detail::concat("none left, while computing topos::enqueue enqueued at ",
                                here.file_name(), ':', here.line());
      EXPECT_EQ(failure.what(), expected);
    }
    EXPECT_EQ(topos::origin_of(y)->where.line(), here.line());
  });
}

TEST(origin, of_other_exceptions_can_be_asked) {
  on_each_device([](topos::device d) {
    const auto here = std::source_location::current();
    const tensor<float, 1> x = failed_on<no_number>(d, here);
    const tensor<float, 1> y = x + 1.0f;
    EXPECT_EQ(support::refusal<std::domain_error>([&] { y.block_until_ready(); }), "no number");
    for (int again = 0; again < 2; ++again) {
      const auto origin = topos::origin_of(y);
      ASSERT_TRUE(origin);
      EXPECT_STREQ(origin->operation, "topos::enqueue");
      EXPECT_EQ(origin->where.line(), here.line());
      EXPECT_STREQ(origin->where.file_name(), here.file_name());
    }
  });
}

TEST(origin, is_nothing_where_nothing_failed) {
  on_each_device(
      [](topos::device d) { EXPECT_FALSE(topos::origin_of(topos::ones<float, 1>({10}, d))); });
}

TEST(origin, first_one_stays) {
  topos::error failure("spilt");
  EXPECT_FALSE(failure.origin());
  failure.set_origin({"first", std::source_location::current()});
  const std::string text = failure.what();
  failure.set_origin({"second", std::source_location::current()});

  EXPECT_EQ(failure.what(), text);
  const topos::error copy = failure;
  EXPECT_EQ(copy.what(), text);
  EXPECT_STREQ(copy.origin()->operation, "first");
}

}  // namespace origin_test
