// SPDX-License-Identifier: Apache-2.0

/// More elements than 31 bits count.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/generators.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace large_test {

using topos::index_t;

constexpr index_t count = (index_t{1} << 31) + 1'000;

// All that a test here needs, and as much again.
bool has_room(const topos::device& d) { return topos::properties(d).memory > 8 * count; }

TEST(large, numbers_that_are_in_no_memory_are_computed_at_their_end) {
  support::on_each_device([](topos::device d) {
    const auto end = slice(topos::arange<std::int64_t>(count, d), topos::range{count - 2, count});
    EXPECT_EQ(support::values_of(topos::eval(end)),
              (std::vector<std::int64_t>{count - 2, count - 1}));
  });
}

TEST(large, tensors_are_written_and_read_at_their_end) {
  support::on_each_device([](topos::device d) {
    if (!has_room(d)) GTEST_SKIP() << d << " has not enough memory";
    topos::tensor<std::uint8_t, 1> x = topos::zeros<std::uint8_t>({count}, d);
    x.slice(topos::range{count - 3, count - 1}) = topos::full<std::uint8_t>({2}, 7, d);

    EXPECT_EQ(x.item({count - 2}), 7);
    EXPECT_EQ(argmax(x).item(), count - 3);
    EXPECT_EQ(sum(x).item(), 14U);
    const auto first = slice(flip(x), topos::range{0, 2});
    EXPECT_EQ(support::values_of(topos::eval(first)), (std::vector<std::uint8_t>{0, 7}));
    const auto rows =
        slice(transpose(reshape(x, {2, count / 2})), topos::range{count / 2 - 2, count});
    EXPECT_EQ(support::values_of(topos::eval(rows)), (std::vector<std::uint8_t>{0, 7, 0, 0}));
  });
}

}  // namespace large_test
