// SPDX-License-Identifier: Apache-2.0

/// Work of further queues overlaps, and waits for what it reads and for nothing else.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <semaphore>
#include <source_location>
#include <stdexcept>
#include <thread>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue_scope.hpp>
#include <topos/expr/math.hpp>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/on_ready.hpp>
#include <topos/tensor/tensor.hpp>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../support/death_test.hpp"
#include "../support/devices.hpp"
#include "gate.hpp"

namespace queue_test {

using support::on_each_device;
using support::values_of;
using topos::buffer;
using topos::queue;
using topos::queue_scope;
using topos::tensor;
using topos::detail::always_queued;

constexpr topos::index_t large = 100'000;  // so many elements are queued

topos::detail::work_queue& current(topos::device d = topos::cpu()) {
  return topos::detail::queue_of(d, std::source_location::current());
}
buffer some(topos::device d = topos::cpu()) { return buffer(d, 64); }

static_assert(std::copyable<queue>);
static_assert(!std::is_convertible_v<topos::device, queue>);
static_assert(!std::is_copy_constructible_v<queue_scope>);

TEST(queue, has_a_device_and_identity) {
  on_each_device([](topos::device d) {
    const queue q(d);
    const queue copy = q;
    EXPECT_EQ(q.device(), d);
    EXPECT_EQ(copy, q);
    EXPECT_NE(queue(d), q);
  });
}

TEST(queue, is_made_on_the_default_device) {
  on_each_device([](topos::device d) {
    const topos::default_device scope(d);
    EXPECT_EQ(queue().device(), d);
  });
}

TEST(queue, work_gives_what_the_first_queue_gives) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on(d, support::varied(large));
    const auto compute = [&] { return values_of(tensor<float, 1>(sqrt(abs(x)) - x * 3.0f)); };
    const auto expected = compute();

    const queue q(d);
    const queue_scope scope(q);

    EXPECT_TRUE(support::same_bits(compute(), expected));
  });
}

TEST(queue, keeps_what_work_itself_has_until_that_is_done) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on(d, support::varied(large));
    const queue q(d);
    const queue_scope scope(q);
    const tensor<float, 1> before(sqrt(abs(x)));
    auto own = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = own;

    current(d).submit({before.memory()}, {some(d)}, always_queued,
                      [own = std::move(own)](const auto&) {});

    const bool let_go = alive.expired();
    EXPECT_TRUE(!let_go || q.is_ready());
    q.block_until_ready();
    EXPECT_TRUE(alive.expired());
  });
}

TEST(queue, overlaps_with_the_first_queue) {
  const support::gate held(current());
  const queue q(topos::cpu());
  const queue_scope scope(q);

  const tensor<float, 1> y = topos::full<float, 1>({large}, 2.0f) * 3.0f;

  EXPECT_EQ(y.host()[large - 1], 6.0f) << "though nothing of the first queue is done";
}

TEST(queue, overlaps_with_other_queues) {
  std::binary_semaphore met{0};
  const queue first(topos::cpu());
  const queue second(topos::cpu());
  const buffer out = some();

  {
    const queue_scope scope(first);
    current().submit({}, {out}, always_queued, [&](const auto&) { met.acquire(); });
  }
  EXPECT_FALSE(first.is_ready());
  {
    const queue_scope scope(second);
    current().submit({}, {}, always_queued, [&](const auto&) { met.release(); });
  }
  first.block_until_ready();

  EXPECT_TRUE(first.is_ready());
  EXPECT_TRUE(topos::detail::is_ready(out));
}

TEST(queue, writes_into_new_memory_where_another_queue_reads_the_old) {
  tensor<float, 1> x = topos::zeros<float, 1>({large});
  x.block_until_ready();
  const float* const memory = x.data();
  tensor<float, 1> before;
  const queue q(topos::cpu());
  {
    const support::gate held(current());
    before = x + 10.0f;
    const queue_scope scope(q);

    x += 1.0f;

    EXPECT_NE(x.data(), memory);
    EXPECT_EQ(x.host()[0], 1.0f) << "and does not wait for the other";
  }
  EXPECT_EQ(before.host()[0], 10.0f);
}

TEST(queue, writes_in_place_what_another_queue_computed) {
  const queue q(topos::cpu());
  tensor<float, 1> x;
  const float* memory = nullptr;
  {
    const support::gate held(current());
    x = topos::full<float, 1>({large}, 1.0f);
    const tensor<float, 1> between = x * 2.0f;  // read before it is written again
    x *= 4.0f;
    memory = x.data();
    const queue_scope scope(q);

    x += 1.0f;

    EXPECT_EQ(x.data(), memory);
    EXPECT_FALSE(x.is_ready());
  }
  EXPECT_EQ(x.host()[0], 5.0f);
}

TEST(queue, writes_in_place_what_it_reads_itself) {
  on_each_device([](topos::device d) {
    tensor<float, 1> x = topos::full<float, 1>({large}, 3.0f, d);
    const float* const memory = x.data();
    const queue q(d);
    const queue_scope scope(q);

    const tensor<float, 1> before = x * 2.0f;
    x += 1.0f;

    EXPECT_EQ(x.data(), memory);
    EXPECT_EQ(values_of(before)[0], 6.0f);
    EXPECT_EQ(values_of(x)[0], 4.0f);
  });
}

// More elements than run in place.
constexpr topos::index_t many = 100'000;

TEST(queue, lends_what_nobody_owns_to_what_is_queued_behind) {
  const auto x = support::vector_on(topos::cpu(), std::vector<float>(many, 1));
  const std::size_t before = topos::memory_stats(topos::cpu()).in_use;
  support::gate held(topos::detail::queues::all().first(topos::cpu(), {}));
  tensor<float, 1> u = x;
  for (int i = 0; i != 20; ++i) {
    tensor<float, 1> v = u * 0.5F + 1.0F;
    u = v;
  }
  EXPECT_LE(topos::memory_stats(topos::cpu()).in_use, before + 3 * many * sizeof(float));

  held.open();

  float expected = 1;
  for (int i = 0; i != 20; ++i) expected = expected * 0.5F + 1.0F;
  EXPECT_EQ(values_of(u), std::vector<float>(many, expected));
  u = x;
  topos::block_until_ready(topos::cpu());
  EXPECT_EQ(topos::memory_stats(topos::cpu()).in_use, before);
}

TEST(queue, lends_nothing_that_has_an_owner_or_another_reader) {
  const auto x = support::vector_on(topos::cpu(), std::vector<float>(many, 1));
  const queue beside(topos::cpu());
  support::gate held(topos::detail::queues::all().first(topos::cpu(), {}));
  std::vector<tensor<float, 1>> kept;
  std::vector<tensor<float, 1>> of_beside;
  for (int i = 0; i != 5; ++i) {
    tensor<float, 1> y = x * static_cast<float>(i);
    kept.emplace_back(y + 1.0F);
    const queue_scope in(beside);
    of_beside.emplace_back(y + 2.0F);
  }
  held.open();
  for (std::size_t i = 0; i != 5; ++i) {
    const auto number = static_cast<float>(i);
    EXPECT_EQ(values_of(kept[i]), std::vector<float>(many, number + 1));
    EXPECT_EQ(values_of(of_beside[i]), std::vector<float>(many, number + 2));
  }
}

TEST(queue, lends_nothing_to_work_that_overtakes_it) {
  const auto x = support::vector_on(topos::cpu(), std::vector<float>(many, 1));
  support::gate held(topos::detail::queues::all().first(topos::cpu(), {}));
  tensor<float, 1> u = x + 1.0F;
  u = tensor<float, 1>(u * 3.0F);  // what u was is read yet
  const queue beside(topos::cpu());
  const auto own = [&] {
    const queue_scope in(beside);
    return tensor<float, 1>(x * 5.0F);
  }();
  const auto here = [&] {
    const topos::in_place_scope in_place;
    return tensor<float, 1>(x * 7.0F);
  }();
  EXPECT_EQ(values_of(own), std::vector<float>(many, 5));
  EXPECT_EQ(values_of(here), std::vector<float>(many, 7));
  held.open();
  EXPECT_EQ(values_of(u), std::vector<float>(many, 6));
  EXPECT_EQ(values_of(own), std::vector<float>(many, 5));
  EXPECT_EQ(values_of(here), std::vector<float>(many, 7));
}

TEST(queue, waits_for_what_another_queue_computes) {
  const buffer made = some();
  const buffer used = some();
  std::vector<int> order;
  support::gate held(current());
  current().submit({}, {made}, always_queued, [&](const auto&) { order.push_back(1); });
  const queue q(topos::cpu());
  {
    const queue_scope scope(q);
    current().submit({made}, {used}, 1, [&](const auto&) { order.push_back(2); });
  }

  EXPECT_FALSE(topos::detail::is_ready(used));
  held.open();
  topos::detail::block_until_ready(used);

  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(queue, first_queue_waits_for_what_a_further_one_computes) {
  const queue q(topos::cpu());
  std::binary_semaphore go{0};
  const buffer made = some();
  const buffer used = some();
  std::vector<int> order;
  {
    const queue_scope scope(q);
    current().submit({}, {made}, always_queued, [&](const auto&) {
      go.acquire();
      order.push_back(1);
    });
  }
  current().submit({made}, {used}, 1, [&](const auto&) { order.push_back(2); });

  EXPECT_FALSE(topos::detail::is_ready(used));
  go.release();
  topos::detail::block_until_ready(used);

  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(queue, in_place_work_waits_for_what_a_queue_computes) {
  const queue q(topos::cpu());
  tensor<float, 1> x = topos::zeros<float, 1>({large});
  {
    const queue_scope scope(q);
    x = tensor<float, 1>(x + 1.0f);
    const topos::in_place_scope here;
    const tensor<float, 1> y = x + 1.0f;
    EXPECT_EQ(y.memory().ticket(), 0U);
    EXPECT_EQ(y.host()[0], 2.0f);
  }
}

TEST(queue, failure_crosses_queues) {
  on_each_device([](topos::device d) {
    const buffer failed = some(d);
    const buffer used = some(d);
    const queue q(d);
    {
      const queue_scope scope(q);
      current(d).submit({}, {failed}, always_queued,
                        [](const auto&) { throw std::range_error("far"); });
    }
    current(d).submit({failed}, {used}, 1, [](const auto&) {});

    EXPECT_THROW(topos::detail::block_until_ready(used), std::range_error);
    EXPECT_NO_THROW(q.block_until_ready()) << "nobody's failure";
  });
}

TEST(queue, tensors_wander_between_queues) {
  on_each_device([](topos::device d) {
    const std::vector<queue> queues{queue(d), queue(d), queue(d)};
    tensor<float, 1> x = topos::zeros<float, 1>({large}, d);
    tensor<float, 1> y = topos::zeros<float, 1>({large}, d);
    for (int i = 0; i < 60; ++i) {
      const queue_scope scope(queues[static_cast<std::size_t>(i) % 3]);
      const tensor<float, 1> z = y + 1.0f;
      y = tensor<float, 1>(x + 1.0f);
      x = z;
    }

    EXPECT_EQ(values_of(x), std::vector<float>(large, 60.0f));
    EXPECT_EQ(values_of(y), std::vector<float>(large, 60.0f));
  });
}

struct increment {
  template <class Space, class Y>
  void operator()(const Space&, const Y& y) const {
    for (std::size_t i = 0; i < y.extent(0); ++i) y(i) += 1;
  }
};

TEST(queue, writes_wait_for_what_another_queue_still_reads) {
  const queue q(topos::cpu());
  tensor<float, 1> x = topos::zeros<float, 1>({large});
  x.block_until_ready();
  tensor<float, 1> before({0});
  {
    const support::gate held(current());
    before = tensor<float, 1>(x + 10.0f);
    const queue_scope scope(q);
    topos::enqueue(topos::cpu(), topos::reads(), topos::writes(x), increment{});
    x.block_until_ready();
  }

  EXPECT_EQ(before.host()[large - 1], 10.0f);
  EXPECT_EQ(x.host()[large - 1], 1.0f);
}

TEST(queue, each_thread_may_have_one) {
  const auto x = topos::full<float, 1>({large}, 3.0f);
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (float& result : results) {
    threads.emplace_back([&x, &result] {
      const queue q(topos::cpu());
      const queue_scope scope(q);
      tensor<float, 1> y = x;
      for (int i = 0; i < 30; ++i) y = tensor<float, 1>(y + 1.0f);
      result = y.host()[large / 2];
    });
  }
  for (std::thread& t : threads) t.join();

  EXPECT_EQ(results, std::vector<float>(4, 33.0f));
}

TEST(queue, is_used_again_when_its_handles_are_gone) {
  const void* before = nullptr;
  for (int i = 0; i < 100; ++i) {
    const queue q(topos::cpu());
    const void* const now = q.lease()->queue.lock().get();
    if (before != nullptr) {
      EXPECT_EQ(now, before);
    }
    before = now;
  }
}

TEST(queue_scope, ends_and_nests) {
  on_each_device([](topos::device d) {
    const queue outer(d);
    const queue inner(d);
    topos::detail::work_queue* const first = &current(d);
    {
      const queue_scope scope(outer);
      topos::detail::work_queue* const chosen = &current(d);
      EXPECT_NE(chosen, first);
      {
        const queue_scope again(inner);
        EXPECT_NE(&current(d), chosen);
        EXPECT_NE(&current(d), first);
      }
      EXPECT_EQ(&current(d), chosen);
      std::thread([&] { EXPECT_EQ(&current(d), first) << "of another thread"; }).join();
    }
    EXPECT_EQ(&current(d), first);
  });
}

TEST(queue_scope, is_for_one_device) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "needs two devices";
  topos::detail::work_queue* const first = &current(topos::gpu());
  const queue_scope scope{queue(topos::cpu())};
  EXPECT_EQ(&current(topos::gpu()), first);
}

TEST(queue, of_the_users_instance_launches_on_it) {
  const topos::backend::host::execution_space instance;
  std::thread::id ran;
  bool same = false;
  tensor<float, 1> y = topos::zeros<float, 1>({large});
  struct look {
    topos::backend::host::execution_space expected;
    std::thread::id* ran;
    bool* same;
    void operator()(const topos::backend::host::execution_space& space,
                    const Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace,
                                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>& y) const {
      *ran = std::this_thread::get_id();
      *same = space == expected;
      y(0) = 1;
    }
  };
  {
    const queue_scope scope(queue::adopt(instance));
    topos::enqueue(topos::cpu(), topos::reads(), topos::writes(y), look{instance, &ran, &same});
    y = tensor<float, 1>(y + 1.0f);
    EXPECT_TRUE(y.is_ready()) << "it has run when the call returns";
  }

  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_TRUE(same);
  EXPECT_EQ(y.host()[0], 2.0f);
}

TEST(queue, of_the_users_instance_poisons_and_waits_as_any) {
  const queue q = queue::adopt(topos::backend::host::execution_space());
  const buffer made = some();
  const buffer used = some();
  const buffer failed = some();
  std::atomic<bool> done{false};
  {
    support::gate held(current());
    current().submit({}, {made}, always_queued, [&](const auto&) { done = true; });
    std::thread opener([&] { held.open(); });
    const queue_scope scope(q);
    current().submit({made}, {used}, 1, [&](const auto&) { EXPECT_TRUE(done); });
    EXPECT_NO_THROW(current().submit({}, {failed}, 1, [](const auto&) { throw 7; }));
    opener.join();
  }

  EXPECT_NO_THROW(topos::detail::block_until_ready(used));
  EXPECT_THROW(topos::detail::block_until_ready(failed), int);
}

// A queue on a GPU's default instance, if one is here.
template <class Cuda = topos::backend::cuda>
std::optional<queue> adopted_on_gpu() {
  if constexpr (topos::backend::compiled_in<Cuda>) {
    if (topos::num_gpus() != 0) return queue::adopt(typename Cuda::execution_space());
  }
  return std::nullopt;
}

TEST(queue, of_the_users_instance_may_end_with_what_follows_its_work) {
  std::optional<queue> q = adopted_on_gpu();
  if (!q) GTEST_SKIP() << "no GPU";
  std::binary_semaphore dropped{0};
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = kept;
  {
    const queue_scope scope(*q);
    auto y = topos::full<float, 1>({topos::index_t{1} << 22}, 2.0f, q->device());
    for (int i = 0; i < 10; ++i) y = sqrt(y);
    topos::on_ready(y, [kept, q, &dropped, here = std::this_thread::get_id()](const auto&...) {
      if (std::this_thread::get_id() != here) dropped.acquire();
    });
  }
  q.reset();
  kept.reset();

  dropped.release();
  while (!alive.expired()) std::this_thread::yield();
}

// Asks for its queue, as what computes with tensors does.
struct ask {
  topos::device where;
  std::atomic<bool>* asks;

  template <class Space, class View>
  void operator()(const Space& /*space*/, const View& /*y*/) const {
    *asks = true;
    for (int i = 0; i < 1000; ++i) std::ignore = current(where);
  }
};

TEST(queue, is_made_while_work_that_is_being_launched_asks_for_another) {
  on_each_device([](topos::device d) {
    std::atomic<bool> asks{false};
    std::atomic<bool> done{false};
    std::thread launches([&] {
      tensor<float, 1> y({8}, d);
      while (!done) {
        topos::enqueue(d, topos::reads(), topos::writes(y), ask{d, &asks});
        y.block_until_ready();
        std::this_thread::yield();
      }
    });
    while (!asks) std::this_thread::yield();

    for (int i = 0; i < 100; ++i) std::ignore = queue(d);

    done = true;
    launches.join();
  });
}

// Runs in a process of its own: Kokkos ends once.
int end_with_work_in_queues() {
  static std::atomic<int> ran{0};
  const std::vector<queue> queues{queue(topos::cpu()), queue(topos::cpu())};
  buffer last = some();
  for (int i = 0; i < 300; ++i) {
    const queue_scope scope(queues[static_cast<std::size_t>(i) % 2]);
    const buffer next = some();
    current().submit({last}, {next}, always_queued, [](const auto&) { ++ran; });
    last = next;
  }
  Kokkos::finalize();
  if (ran != 300 || !topos::detail::is_ready(last) || !queues[0].is_ready()) return 1;
  queues[0].block_until_ready();
  try {
    const queue_scope scope(queues[0]);
    std::ignore = current();
  } catch (const topos::runtime_not_started&) {
    return 0;
  }
  return 2;
}

using queue_death = support::death_test;

TEST_F(queue_death, end_of_the_runtime_finishes_work_of_all_queues) {
  EXPECT_EXIT(std::_Exit(end_with_work_in_queues()), testing::ExitedWithCode(0), "");
}

}  // namespace queue_test
