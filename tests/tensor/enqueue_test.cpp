// SPDX-License-Identifier: Apache-2.0

/// One's own kernels run in queue order, on Views of tensors, and fail as topos' own do.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue_scope.hpp>
#include <topos/tensor/enqueue.hpp>
#include <type_traits>
#include <vector>

#include "../async/gate.hpp"
#include "../support/devices.hpp"

// Kernels and functors: at namespace scope, where nvcc can name them.
namespace enqueue_test {

using topos::index_t;

template <class Space>
using range = Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>>;

template <class X, class Y>
struct saxpy_kernel {
  X x;
  Y y;
  float a;
  KOKKOS_FUNCTION void operator()(index_t i) const { y(i) += a * x(i); }
};

/// y += a x
struct saxpy {
  float a;
  template <class Space, class X, class Y>
  void operator()(const Space& space, const X& x, const Y& y) const {
    static_assert(std::is_const_v<typename X::value_type>);
    static_assert(!std::is_const_v<typename Y::value_type>);
    static_assert(Kokkos::SpaceAccessibility<Space, typename X::memory_space>::accessible);
    static_assert(X::memory_traits::is_unmanaged);
    Kokkos::parallel_for("saxpy", range<Space>(space, 0, static_cast<index_t>(y.extent(0))),
                         saxpy_kernel<X, Y>{x, y, a});
  }
};

template <class X, class Y>
struct row_sums_kernel {
  X x;
  Y y;
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double sum = 0;
    for (std::size_t j = 0; j < x.extent(1); ++j) sum += x(team.league_rank(), j);
    Kokkos::single(Kokkos::PerTeam(team), [&] { y(team.league_rank()) = sum; });
  }
};

/// Sums of rows, by a team for each.
struct row_sums {
  template <class Space, class X, class Y>
  void operator()(const Space& space, const X& x, const Y& y) const {
    Kokkos::parallel_for("row_sums",
                         Kokkos::TeamPolicy<Space>(space, static_cast<int>(x.extent(0)), 1),
                         row_sums_kernel<X, Y>{x, y});
  }
};

template <class X>
struct total_kernel {
  X x;
  KOKKOS_FUNCTION void operator()(index_t i, double& sum) const { sum += x(i); }
};
template <class X>
struct running_kernel {
  X x;
  KOKKOS_FUNCTION void operator()(index_t i, double& sum, bool last) const {
    sum += x(i);
    if (last) x(i) = sum;
  }
};

/// The sum into a tensor of no axes, and running sums in place.
struct sums {
  template <class Space, class X, class Y>
  void operator()(const Space& space, const X& total, const Y& x) const {
    const range<Space> all(space, 0, static_cast<index_t>(x.extent(0)));
    Kokkos::parallel_reduce("total", all, total_kernel<Y>{x}, total);
    Kokkos::parallel_scan("running", all, running_kernel<Y>{x});
  }
};

/// What only a CPU can do.
struct on_the_cpu {
  std::thread::id* ran;
  template <class Y>
  void operator()(const topos::backend::host::execution_space&, const Y& y) const {
    *ran = std::this_thread::get_id();
    if (y.extent(0) > 0) y(0) = 42;
  }
};

struct mishap : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct fails {
  template <class... Anything>
  void operator()(const Anything&...) const {
    throw mishap("spilt");
  }
};
struct counts {
  int* calls;
  template <class... Anything>
  void operator()(const Anything&...) const {
    ++*calls;
  }
};

using support::on_each_device;
using support::values_of;
using topos::enqueue;
using topos::reads;
using topos::tensor;
using topos::writes;

TEST(enqueue, runs_a_kernel_on_views) {
  on_each_device([](topos::device d) {
    for (const index_t n : {0, 1, 7, 40001}) {
      const std::vector<float> a = support::varied(n, 1);
      std::vector<float> expected = support::varied(n, 2);
      const auto x = support::vector_on(d, a);
      auto y = support::vector_on(d, expected);

      enqueue(d, reads(x), writes(y), saxpy{2.0f});

      for (std::size_t i = 0; i < a.size(); ++i) expected[i] += 2.0f * a[i];
      EXPECT_EQ(values_of(y), expected) << n;
    }
  });
}

TEST(enqueue, takes_team_policies_and_tensors_of_other_types) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {3, 2}, std::vector<int>{1, 2, 3, 4, 5, 6});
    auto y = topos::zeros<double, 1>({3}, d);

    enqueue(d, reads(x), writes(y), row_sums{});

    EXPECT_EQ(values_of(y), (std::vector<double>{3, 7, 11}));
  });
}

TEST(enqueue, takes_reductions_and_scans) {
  on_each_device([](topos::device d) {
    auto total = topos::zeros<double, 0>({}, d);
    auto x = support::vector_on(d, std::vector<double>{1, 2, 3, 4});

    enqueue(d, reads(), writes(total, x), sums{});

    EXPECT_EQ(values_of(total), std::vector<double>{10});
    EXPECT_EQ(values_of(x), (std::vector<double>{1, 3, 6, 10}));
  });
}

// Team policies, reductions and scans, of a thread's own.
void expect_patterns_work(topos::device d) {
  const auto x = support::tensor_on<2>(d, {3, 2}, std::vector<int>{1, 2, 3, 4, 5, 6});
  auto rows = topos::zeros<double, 1>({3}, d);
  auto total = topos::zeros<double, 0>({}, d);

  enqueue(d, reads(x), writes(rows), row_sums{});
  enqueue(d, reads(), writes(total, rows), sums{});

  EXPECT_EQ(values_of(total), std::vector<double>{21});
  EXPECT_EQ(values_of(rows), (std::vector<double>{3, 10, 21}));
}

TEST(enqueue, takes_every_pattern_in_further_queues) {
  on_each_device([](topos::device d) {
    const topos::queue_scope scope(topos::queue{d});
    for (int i = 0; i < 10; ++i) expect_patterns_work(d);
  });
}

TEST(enqueue, takes_every_pattern_in_place_from_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      const topos::in_place_scope scope;
      for (int i = 0; i < 50; ++i) expect_patterns_work(topos::cpu());
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(enqueue, takes_every_pattern_on_the_users_instance) {
  const topos::queue_scope scope(topos::queue::adopt(topos::backend::host::execution_space()));
  expect_patterns_work(topos::cpu());
}

TEST(enqueue, is_in_order_with_all_else) {
  on_each_device([](topos::device d) {
    tensor<float, 1> y = topos::full<float, 1>({100'000}, 1.0f, d);
    for (int i = 0; i < 10; ++i) {
      const tensor<float, 1> x = y * 2.0f;
      enqueue(d, reads(x), writes(y), saxpy{1.0f});  // y is tripled
    }
    const tensor<float, 1> z = y - 1.0f;

    EXPECT_EQ(values_of(z), std::vector<float>(100'000, 59048.0f));
  });
}

TEST(enqueue, returns_before_the_functor_is_called) {
  auto& q = topos::detail::queue_of(topos::cpu(), std::source_location::current());
  auto y = topos::zeros<float, 1>({3});
  std::thread::id ran;
  {
    const support::gate held(q);
    enqueue(topos::cpu(), reads(), writes(y), on_the_cpu{&ran});
    EXPECT_FALSE(y.is_ready());
    EXPECT_EQ(ran, std::thread::id());
  }
  EXPECT_EQ(y.host()[0], 42.0f);
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(enqueue, is_called_in_place_where_the_thread_does_its_own_work) {
  auto y = topos::zeros<float, 1>({3});
  std::thread::id ran;
  const auto x = support::vector_on(topos::cpu(), std::vector<float>{1, 2, 3});

  const topos::in_place_scope scope;
  enqueue(topos::cpu(), reads(), writes(y), on_the_cpu{&ran});
  EXPECT_EQ(ran, std::this_thread::get_id());
  enqueue(topos::cpu(), reads(x), writes(y), saxpy{1.0f});

  EXPECT_EQ(values_of(y), (std::vector<float>{43, 2, 3}));
}

TEST(enqueue, writes_are_not_seen_through_other_tensors) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({5}, d);
    auto y = topos::full<float, 1>({5}, 3.0f, d);
    const auto before = y;

    enqueue(d, reads(x), writes(y), saxpy{1.0f});

    EXPECT_EQ(values_of(y), std::vector<float>(5, 4.0f));
    EXPECT_EQ(values_of(before), std::vector<float>(5, 3.0f));
  });
}

TEST(enqueue, writes_into_memory_that_nobody_else_holds) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({5}, d);
    auto y = topos::zeros<float, 1>({5}, d);
    const void* const memory = y.data();

    for (int i = 0; i < 3; ++i) enqueue(d, reads(x), writes(y), saxpy{1.0f});

    EXPECT_EQ(y.data(), memory);
    EXPECT_EQ(values_of(y), std::vector<float>(5, 3.0f));
  });
}

TEST(enqueue, reads_what_was_there_though_it_is_written) {
  on_each_device([](topos::device d) {
    auto y = support::vector_on(d, std::vector<float>{1, 2, 3});

    enqueue(d, reads(y), writes(y), saxpy{10.0f});

    EXPECT_EQ(values_of(y), (std::vector<float>{11, 22, 33}));
  });
}

TEST(enqueue, part_of_a_tensor_becomes_one_of_its_own) {
  on_each_device([](topos::device d) {
    const auto whole = support::tensor_on<2>(d, {2, 2}, std::vector<float>{1, 2, 3, 4});
    tensor<float, 1> row = whole.row(1);

    enqueue(d, reads(whole.row(0)), writes(row), saxpy{1.0f});

    EXPECT_EQ(values_of(row), (std::vector<float>{4, 6}));
    EXPECT_EQ(values_of(whole), (std::vector<float>{1, 2, 3, 4}));
  });
}

TEST(enqueue, failure_poisons_what_it_writes_and_nothing_else) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({5}, d);
    auto y = topos::zeros<float, 1>({5}, d);
    auto z = topos::zeros<float, 1>({5}, d);

    enqueue(d, reads(x), writes(y, z), fails{});

    EXPECT_EQ(support::refusal<mishap>([&] { y.block_until_ready(); }), "spilt");
    EXPECT_THROW(z.block_until_ready(), mishap);
    EXPECT_THROW(values_of(tensor<float, 1>(y + 1.0f)), mishap);
    EXPECT_EQ(values_of(x), std::vector<float>(5, 1.0f));
  });
}

TEST(enqueue, is_not_called_with_what_failed) {
  on_each_device([](topos::device d) {
    auto failed = topos::zeros<float, 1>({5}, d);
    auto y = topos::zeros<float, 1>({5}, d);
    int calls = 0;
    enqueue(d, reads(), writes(failed), fails{});

    enqueue(d, reads(failed), writes(y), counts{&calls});
    enqueue(d, reads(), writes(failed), counts{&calls});

    EXPECT_THROW(y.block_until_ready(), mishap);
    EXPECT_THROW(failed.block_until_ready(), mishap);
    EXPECT_EQ(calls, 0);
  });
}

TEST(enqueue, tensor_elsewhere_is_refused_by_position) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "needs two devices";
  const auto here = topos::ones<float, 1>({5});
  auto there = topos::ones<float, 1>({5}, topos::gpu());

  const std::string text = support::refusal<topos::device_mismatch>(
      [&] { enqueue(topos::cpu(), reads(here), writes(there), saxpy{1.0f}); });

  EXPECT_TRUE(support::contains(text, "tensor 1 (5,) of writes is on cuda:0, the work on cpu"))
      << text;
}

TEST(enqueue, functor_for_the_cpu_alone_is_refused_on_a_gpu) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  if constexpr (topos::backend::runs_on<topos::backend::host::execution_space,
                                        topos::backend::cuda>::value)
    GTEST_SKIP() << "these GPUs run what the CPU runs";
  auto y = topos::ones<float, 1>({5}, topos::gpu());
  std::thread::id ran;

  EXPECT_THROW(enqueue(topos::gpu(), reads(), writes(y), on_the_cpu{&ran}), topos::not_supported);
}

}  // namespace enqueue_test
