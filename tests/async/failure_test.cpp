// SPDX-License-Identifier: Apache-2.0

/// What goes wrong beyond a tensor: no memory, no runtime, a forked process, a failing library.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <concepts>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <semaphore>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/async/queue_scope.hpp>
#include <topos/expr/where.hpp>
#include <topos/memory/pool.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/on_ready.hpp>
#include <topos/tensor/placement.hpp>
#include <utility>
#include <vector>

#include "../support/death_test.hpp"
#include "../support/devices.hpp"
#include "gate.hpp"

namespace failure_test {

using support::on_each_device;
using support::values_of;
using topos::tensor;

constexpr topos::index_t large = 100'000;  // so many elements are queued

template <class Error, class Action>
bool throws(Action action) {
  try {
    action();
  } catch (const Error&) {
    return true;
  }
  return false;
}

TEST(failure, of_an_allocation_is_told_at_the_call_and_harms_nothing) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({large}, d);
    const tensor<float, 1> before = x + 1.0f;
    topos::block_until_ready(d);
    topos::empty_cache(d);
    topos::set_memory_limit(d, topos::memory_stats(d).in_use + 1000);

    EXPECT_THROW((tensor<float, 1>(x + 2.0f)), topos::out_of_memory);
    EXPECT_THROW((void)(topos::zeros<float, 1>({large}, d)), topos::out_of_memory);

    topos::set_memory_limit(d, 0);
    EXPECT_EQ(values_of(before), std::vector<float>(large, 2.0f));
    EXPECT_EQ(values_of(tensor<float, 1>(x + 2.0f)), std::vector<float>(large, 3.0f));
  });
}

TEST(failure, of_an_allocation_is_none_where_queued_work_gives_memory_back) {
  on_each_device([](topos::device d) {
    auto x = topos::zeros<float, 1>({large}, d);
    topos::block_until_ready(d);
    topos::empty_cache(d);
    const std::size_t held = topos::memory_stats(d).in_use;
    topos::set_memory_limit(d, 4 * held);

    for (int i = 0; i != 100; ++i) x = x * 0.5f + 1.0f;  // each holds what it reads until it ran

    EXPECT_LE(topos::memory_stats(d).in_use, 4 * held);
    topos::set_memory_limit(d, 0);
    EXPECT_EQ(values_of(x), std::vector<float>(large, 2.0f));
  });
}

struct allocates {
  topos::device where;
  template <class... Anything>
  void operator()(const Anything&...) const {
    const topos::buffer too_much(where, std::size_t{1} << 50);
  }
};

TEST(failure, of_an_allocation_inside_of_work_poisons_its_results) {
  on_each_device([](topos::device d) {
    auto x = topos::zeros<float, 1>({10}, d);

    topos::enqueue(d, topos::reads(), topos::writes(x), allocates{d});

    const std::string text = support::refusal<topos::out_of_memory>([&] { x.block_until_ready(); });
    EXPECT_TRUE(support::contains(text, "while computing topos::enqueue")) << text;
    EXPECT_EQ(values_of(topos::ones<float, 1>({10}, d)), std::vector<float>(10, 1.0f));
  });
}

TEST(failure, of_an_allocation_inside_of_work_comes_at_once_whoever_waits_for_that) {
  auto x = topos::zeros<float, 1>({10});
  const topos::queue other;
  std::binary_semaphore waiting{0};
  const auto after = [&] {
    topos::enqueue(topos::cpu(), topos::reads(), topos::writes(x), [&](const auto&...) {
      waiting.acquire();
      const topos::buffer too_much(topos::cpu(), std::size_t{1} << 50);
    });
    const topos::queue_scope scope(other);
    return tensor<float, 1>(x + 1.0f);  // queued behind that, in a queue that the pool may wait for
  }();
  waiting.release();

  EXPECT_THROW(after.block_until_ready(), topos::out_of_memory);
}

// On emulated GPUs, which have no such call, its error alone.
struct fails_in_cuda {
  template <class Space, class Y>
  void operator()(const Space& space, const Y& y) const {
#if TOPOS_HAS_CUDA
    if constexpr (std::same_as<Space, Kokkos::Cuda>) {
      topos::backend::check_cuda(
          cudaMemcpyAsync(y.data(), nullptr, 64, cudaMemcpyKind(99), space.cuda_stream()),
          "cudaMemcpyAsync");
    }
#endif
    static_cast<void>(space);
    static_cast<void>(y);
    throw topos::backend_error("cudaMemcpyAsync: injected");
  }
};

TEST(failure, of_a_cuda_call_poisons_its_results_and_nothing_else) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  const topos::device d = topos::gpu();
  auto x = topos::zeros<float, 1>({64}, d);
  const auto unrelated = topos::ones<float, 1>({64}, d);

  topos::enqueue(d, topos::reads(), topos::writes(x), fails_in_cuda{});
  const tensor<float, 1> after = x + unrelated;

  for (const auto& failed : {x, after}) {
    const std::string text =
        support::refusal<topos::backend_error>([&] { failed.block_until_ready(); });
    EXPECT_TRUE(support::contains(text, "cudaMemcpyAsync: ")) << text;
  }
  EXPECT_EQ(values_of(tensor<float, 1>(unrelated + 1.0f)), std::vector<float>(64, 2.0f));
}

// What follows runs in processes of its own, since Kokkos ends once.

int use_tensors_after_the_runtime() {
  const tensor<float, 1> ready = topos::ones<float, 1>({3}).block_until_ready();
  const tensor<float, 1> queued = topos::ones<float, 1>({large}) + 1.0f;
  tensor<float, 1> failed = topos::ones<float, 1>({large});
  topos::detail::queue_of(topos::cpu(), std::source_location::current())
      .submit({}, {failed.memory()}, topos::detail::always_queued,
              [](const auto&) { throw std::domain_error("gone"); });
  int called = 0;
  Kokkos::finalize();
  if (ready.host()[2] != 1.0f || queued.host()[large - 1] != 2.0f || !queued.is_ready()) return 1;
  if (!throws<std::domain_error>([&] { failed.block_until_ready(); })) return 2;
  if (!throws<topos::runtime_not_started>([&] { tensor<float, 1>(ready + 1.0f); })) return 3;
  if (!throws<topos::runtime_not_started>([&] { failed += 1.0f; })) return 4;
  if (!throws<topos::runtime_not_started>([&] {
        topos::enqueue(topos::cpu(), topos::reads(), topos::writes(failed), allocates{});
      })) {
    return 5;
  }
  if (!throws<topos::runtime_not_started>([] { const topos::queue q(topos::cpu()); })) return 6;
  topos::on_ready(queued, [&](const std::exception_ptr&) { ++called; });
  topos::block_until_ready(topos::cpu());
  return called == 1 ? 0 : 7;
}

void keep_static_tensors(bool finalize) {
  static const tensor<float, 1> ready = topos::ones<float, 1>({large}).block_until_ready();
  static const tensor<float, 1> queued = ready + 1.0f;
  static const topos::queue q(topos::cpu());
  if (finalize) Kokkos::finalize();
  std::exit(0);  // which ends them
}

struct breaks_down {
  KOKKOS_FUNCTION float operator()(float x) const {
    KOKKOS_IF_ON_DEVICE((Kokkos::abort("injected");))
    return x;
  }
};

// An emulated GPU's kernels do not break it down.
template <class Backend>
void lose(const topos::device& d) {
  if constexpr (requires { Backend::lose(0); }) Backend::lose(d.index());
}

// A copy from a GPU that has broken down is over, and has no content.
int compute_with_a_copy_from_a_lost_gpu(topos::index_t size) {
  const auto x = topos::ones<float, 1>({size}, topos::gpu()).block_until_ready();
  const tensor<float, 1> broken = topos::map(breaks_down{}, x);
  const tensor<float, 1> here = broken.cpu();
  lose<topos::backend::cuda>(topos::gpu());
  while (!here.is_ready()) std::this_thread::yield();
  const tensor<float, 1> after = here + 1.0f;
  if (!throws<topos::device_lost>([&] { after.block_until_ready(); })) return 1;
  return throws<topos::device_lost>([&] { here.block_until_ready(); }) ? 0 : 2;
}

// What a forked child must find; its exit status.
int use_the_parents_queues(const tensor<float, 1>& ready, tensor<float, 1>& pending,
                           const topos::queue& q) {
  using refused = topos::runtime_not_started;
  if (ready.host()[large - 1] != 1.0f) return 1;
  if (pending.is_ready()) return 2;
  if (!throws<refused>([&] { pending.block_until_ready(); })) return 3;
  if (!throws<refused>([&] { tensor<float, 1>(ready + 1.0f); })) return 4;
  if (!throws<refused>([&] { (void)(topos::ones<float, 1>({3})); })) return 5;
  if (!throws<refused>([&] { topos::block_until_ready(topos::cpu()); })) return 6;
  if (!throws<refused>([&] { q.block_until_ready(); })) return 7;
  if (!throws<refused>([&] { const topos::queue another(topos::cpu()); })) return 8;
  if (!throws<refused>([&] { topos::on_ready(pending, [](const auto&) {}); })) return 9;
  pending = tensor<float, 1>();  // lets go of memory
  return 0;
}

int fork_with_work_pending() {
  const tensor<float, 1> ready = topos::ones<float, 1>({large}).block_until_ready();
  const topos::queue q(topos::cpu());
  support::gate held(topos::detail::queue_of(topos::cpu(), std::source_location::current()));
  tensor<float, 1> pending = ready + 1.0f;
  {
    const topos::queue_scope scope(q);
    const tensor<float, 1> also = pending + 1.0f;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = use_the_parents_queues(ready, pending, q);
    } catch (const topos::runtime_not_started&) {
      status = 98;
    }
    ::_exit(status);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 100;
  held.open();
  if (pending.host()[0] != 2.0f) return 101;
  return WEXITSTATUS(status);
}

// Children that let go of memory, while another thread takes some and gives it back.
int fork_while_memory_is_taken() {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) const topos::buffer taken(topos::cpu(), 4096);
  });
  int hung = 0;
  for (int i = 0; i != 100 && hung == 0; ++i) {
    tensor<float, 1> held({1000});
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);  // which ends it
      held = tensor<float, 1>();
      ::_exit(topos::memory_stats(topos::cpu()).in_use < 5000 ? 0 : 1);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
      ++hung;
  }
  over = true;
  other.join();
  return hung;
}

// Work that submits work as the runtime ends is let end, or refused.
int submit_work_at_the_end() {
  const auto chain = std::make_shared<std::function<void(int)>>();
  std::atomic<bool> refused{false};
  *chain = [&, self = std::weak_ptr(chain)](int left) {
    try {
      tensor<float, 1> x({large});
      const topos::queue another(topos::cpu());
      const topos::queue_scope scope(another);
      topos::enqueue(topos::cpu(), topos::reads(), topos::writes(x),
                     [self, left](const auto&, const auto&) {
                       if (const auto next = self.lock()) (*next)(left + 1);
                     });
    } catch (const topos::runtime_not_started&) {
      refused = true;
    }
  };
  (*chain)(0);
  Kokkos::finalize();
  return refused ? 0 : 1;
}

using failure_death = support::death_test;

TEST_F(failure_death, tensors_outlive_the_runtime) {
  EXPECT_EXIT(std::_Exit(use_tensors_after_the_runtime()), testing::ExitedWithCode(0), "");
}

TEST_F(failure_death, static_tensors_end_after_the_runtime) {
  EXPECT_EXIT(keep_static_tensors(true), testing::ExitedWithCode(0), "");
}

TEST_F(failure_death, static_tensors_end_without_the_runtimes_end) {
  EXPECT_EXIT(keep_static_tensors(false), testing::ExitedWithCode(0), "");
}

TEST_F(failure_death, work_that_submits_work_does_not_hang_the_runtimes_end) {
  EXPECT_EXIT(std::_Exit(submit_work_at_the_end()), testing::ExitedWithCode(0), "");
}

TEST_F(failure_death, a_lost_gpu_fails_what_is_computed_of_its_copies) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  for (const topos::index_t size : {topos::index_t{3}, large}) {
    EXPECT_EXIT(std::_Exit(compute_with_a_copy_from_a_lost_gpu(size)), testing::ExitedWithCode(0),
                "");
  }
}

TEST_F(failure_death, forked_child_is_refused_and_does_not_hang) {
  EXPECT_EXIT(std::_Exit(fork_with_work_pending()), testing::ExitedWithCode(0), "");
}

TEST_F(failure_death, forked_child_gives_back_what_it_holds_whatever_other_threads_were_at) {
  EXPECT_EXIT(std::_Exit(fork_while_memory_is_taken()), testing::ExitedWithCode(0), "");
}

}  // namespace failure_test
