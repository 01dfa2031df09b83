// SPDX-License-Identifier: Apache-2.0

/// device_put copies between devices, and nothing where the tensor is already there.

#include <gtest/gtest.h>

#include <stdexcept>
#include <topos/tensor/placement.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace {

using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::tensor;

TEST(device_put, to_the_same_device_copies_nothing) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({7}, d);
    EXPECT_EQ(topos::device_put(x, d).data(), x.data());
  });
}

TEST(device_put, there_and_back_keeps_every_element) {
  on_each_device([](topos::device from) {
    on_each_device([&](topos::device to) {
      for (const index_t n : support::sizes()) {
        const std::vector<float> values = support::varied(n);
        const auto moved = topos::device_put(support::vector_on(from, values), to);
        EXPECT_EQ(moved.device(), to);
        EXPECT_EQ(values_of(topos::device_put(moved, from)), values) << n;
      }
    });
  });
}

TEST(device_put, of_a_part_copies_that_part) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(topos::cpu(), {3, 2}, std::vector<int>{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(values_of(topos::device_put(x.row(1), d)), (std::vector<int>{3, 4}));
  });
}

TEST(device_put, of_what_failed_fails_with_its_type) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x({10}, d);
    topos::detail::queue_of(d, std::source_location::current())
        .submit({}, {x.memory()}, topos::detail::always_queued,
                [](const auto&) { throw std::domain_error("gone"); });
    EXPECT_THROW(values_of(x), std::domain_error);
  });
}

}  // namespace
