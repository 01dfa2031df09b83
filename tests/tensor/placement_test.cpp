// SPDX-License-Identifier: Apache-2.0

/// device_put copies between devices, and nothing where the tensor is already there.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <thread>
#include <topos/async/queue_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/memory/pool.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace placement_test {

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

TEST(device_put, of_host_memory_takes_vectors_spans_and_arrays) {
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const std::vector<float> values = support::varied(n);
      const tensor<float, 1> x = topos::device_put(values, d);
      EXPECT_EQ(x.device(), d);
      EXPECT_EQ(values_of(x), values);
    }
    const std::array<int, 4> four{1, 2, 3, 4};
    EXPECT_EQ(values_of(topos::device_put(std::span(four).subspan(1), d)),
              (std::vector<int>{2, 3, 4}));
    const tensor<int, 2> square = topos::device_put(four, topos::shape<2>{2, 2}, d);
    EXPECT_EQ(values_of(square.row(1)), (std::vector<int>{3, 4}));
    EXPECT_EQ(topos::device_put(four, {1, 4}, d).shape(), (topos::shape<2>{1, 4}));
  });
}

TEST(device_put, of_host_memory_copies_many_parts) {
  on_each_device([](topos::device d) {
    std::vector<float> values = support::varied(3'000'001);
    const tensor<float, 1> x = topos::device_put(values, d);
    const std::vector<float> before = values;
    std::fill(values.begin(), values.end(), 0.0f);  // it was read when the call returned
    EXPECT_EQ(values_of(x), before);
  });
}

TEST(device_put, of_host_memory_of_another_size_is_refused) {
  const std::vector<float> three{1, 2, 3};
  const std::string text = support::refusal<topos::shape_mismatch>([&] {
    (void)topos::device_put(three, topos::shape<2>{2, 2}, topos::cpu());
  });
  EXPECT_TRUE(support::contains(text, "device_put: 3 values for the shape (2, 2)")) << text;
}

TEST(device_put, waits_for_what_another_queue_computes) {
  on_each_device([](topos::device from) {
    on_each_device([&](topos::device to) {
      const topos::queue q(from);
      const topos::queue_scope scope(q);
      const tensor<float, 1> x = topos::full<float, 1>({100'000}, 4.0f, from);
      const tensor<float, 1> y = sqrt(x);
      const tensor<float, 1> z = topos::device_put(y, to) + 1.0f;
      EXPECT_EQ(values_of(z), std::vector<float>(100'000, 3.0f));
    });
  });
}

TEST(device_put, to_another_gpu_keeps_what_it_reads_no_longer_than_that) {
  if (topos::num_gpus() < 2) GTEST_SKIP() << "two GPUs are needed";
  constexpr index_t n = index_t{1} << 22;
  auto x = topos::full<float, 1>({n}, 2.0f, topos::gpu(0));
  x.block_until_ready();
  topos::empty_cache(topos::gpu(0));
  topos::set_memory_limit(topos::gpu(0), topos::memory_stats(topos::gpu(0)).in_use);

  const auto y = x.gpu(1);
  x = {};
  EXPECT_NO_THROW((x = topos::full<float, 1>({n}, 3.0f, topos::gpu(0))));

  topos::set_memory_limit(topos::gpu(0), 0);
  EXPECT_EQ(y.item({n - 1}), 2.0f);
}

TEST(device_put, to_another_gpu_lets_later_work_write_in_place) {
  if (topos::num_gpus() < 2) GTEST_SKIP() << "two GPUs are needed";
  auto x = topos::full<float, 1>({1000}, 2.0f, topos::gpu(0));
  const float* const memory = x.data();

  const auto y = x.gpu(1);
  while (!y.is_ready()) std::this_thread::yield();
  x += 1;

  EXPECT_EQ(x.data(), memory);
  EXPECT_EQ(y.item({999}), 2.0f);
}

TEST(placement, members_name_where_to) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on(d, std::vector<int>{1, 2, 3});
    EXPECT_EQ(x.cpu().device(), topos::cpu());
    EXPECT_EQ(x.to(d).data(), x.data());
    EXPECT_EQ(values_of(x.cpu().to(d)), (std::vector<int>{1, 2, 3}));
    if (d.kind() != topos::device_kind::cpu) {
      EXPECT_EQ(x.cpu().gpu(d.index()).device(), d);
      EXPECT_EQ(x.cpu().cuda(d.index()).device(), d);
    }
  });
  const auto x = topos::ones<int, 1>({3});
  EXPECT_THROW((void)x.gpu(topos::num_gpus()), topos::invalid_device);
}

TEST(placement, of_a_reduction_moves_its_result) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});
    const auto total = topos::device_put(topos::sum(x, 0), topos::cpu());
    EXPECT_EQ(total.device(), topos::cpu());
    EXPECT_EQ(values_of(total), (std::vector<std::int64_t>{4, 6}));
  });
}

TEST(placement, item_is_the_only_element) {
  on_each_device([](topos::device d) {
    EXPECT_EQ((topos::full<double, 0>({}, 2.5, d).item()), 2.5);
    EXPECT_EQ((topos::full<int, 3>({1, 1, 1}, 7, d).item()), 7);
    EXPECT_THROW((void)(topos::ones<int, 1>({2}, d).item()), topos::shape_mismatch);
    EXPECT_THROW((void)(topos::ones<int, 1>({0}, d).item()), topos::shape_mismatch);
  });
}

}  // namespace placement_test
