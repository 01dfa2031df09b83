// SPDX-License-Identifier: Apache-2.0

/// Every device's backend launches each item once; the CPU's also survives a kernel that throws.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <topos/backend/backend.hpp>
#include <topos/device/device.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace host_test {

using support::on_each_device;
using topos::index_t;
using topos::backend::host;

struct count_items {
  int* seen;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (team.rank() == 0) Kokkos::atomic_add(seen + i, 1);
  }
};

struct throw_at {
  index_t where;
  std::atomic<index_t>* ran;
  template <class Team>
  void operator()(const Team& /*team*/, index_t i) const {
    ran->fetch_add(1);
    if (i == where) throw std::domain_error("item " + std::to_string(i));
  }
};

// Every item writes its own scratch memory and reads it again.
struct use_scratch {
  index_t floats;
  std::atomic<int>* wrong;
  template <class Team>
  void operator()(const Team& team, index_t i) const {
    auto* mine = static_cast<float*>(team.scratch());
    for (index_t j = 0; j < floats; ++j) mine[j] = static_cast<float>(i + j);
    team.barrier();
    for (index_t j = 0; j < floats; ++j) {
      if (mine[j] != static_cast<float>(i + j)) wrong->fetch_add(1);
    }
  }
};

struct note_thread {
  std::thread::id* ids;
  template <class Team>
  void operator()(const Team& /*team*/, index_t i) const {
    ids[i] = std::this_thread::get_id();
  }
};

TEST(backend, launches_every_item_once) {
  on_each_device([](topos::device d) {
    topos::backend::visit(d.kind(), [&](auto b) {
      using backend = decltype(b);
      const typename backend::stream stream(d.index());
      for (const index_t count : {0, 1, 7, 33, 1000, 20'000}) {
        for (const index_t cost : {1, 100, 100'000}) {
          const std::size_t bytes = static_cast<std::size_t>(count + 1) * sizeof(int);
          const std::vector<int> zeros(static_cast<std::size_t>(count) + 1, 0);
          std::vector<int> seen(zeros.size(), -1);
          auto* memory = static_cast<int*>(backend::allocate(d.index(), bytes));
          stream.copy(memory, zeros.data(), bytes);

          stream.for_each("count_items", count, cost, 0, count_items{memory});

          stream.copy(seen.data(), memory, bytes);
          stream.synchronize();
          backend::deallocate(d.index(), memory, bytes);
          EXPECT_TRUE(stream.is_done());
          std::vector<int> once(zeros.size(), 1);
          once.back() = 0;
          EXPECT_EQ(seen, once) << count << " of " << cost;
        }
      }
    });
  });
}

TEST(backend, memory_is_aligned) {
  on_each_device([](topos::device d) {
    topos::backend::visit(d.kind(), [&](auto b) {
      for (const std::size_t bytes : {1, 300, 5'000'000}) {
        void* memory = decltype(b)::allocate(d.index(), bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % topos::backend::alignment, 0U);
        decltype(b)::deallocate(d.index(), memory, bytes);
      }
    });
  });
}

TEST(backend, cuda_of_a_build_without_it_says_so) {
  using topos::backend::cuda;
  if constexpr (topos::backend::compiled_in<cuda>) {
    GTEST_SKIP() << "this build has CUDA";
  } else {
    EXPECT_EQ(cuda::count(), 0);
    EXPECT_THROW(static_cast<void>(cuda::allocate(0, 1)), topos::not_supported);
    EXPECT_THROW(static_cast<void>(cuda::describe(0)), topos::not_supported);
    EXPECT_THROW(cuda::stream(0), topos::not_supported);
  }
}

// What one launches where it runs, as a function of one's own in a reduction may.
struct launch_inside {
  const host::stream* stream;
  std::atomic<int>* wrong;
  template <class Team>
  void operator()(const Team& team, index_t i) const {
    auto* mine = static_cast<float*>(team.scratch());
    std::fill_n(mine, 100, static_cast<float>(i));
    stream->for_each("inside", 2, 1, 4000 * sizeof(float), use_scratch{4000, wrong});
    stream->for_each("inside", 2, 1, 10 * sizeof(float), use_scratch{10, wrong});
    *wrong += static_cast<int>(
        std::count_if(mine, mine + 100, [&](float x) { return x != static_cast<float>(i); }));
  }
};

TEST(host, a_launch_inside_of_another_has_scratch_memory_of_its_own) {
  const host::stream stream(0, true);
  std::atomic<int> wrong{0};
  stream.for_each("outside", 3, 1, 100 * sizeof(float), launch_inside{&stream, &wrong});
  EXPECT_EQ(wrong, 0);
}

TEST(host, small_work_is_little_of_all_elements) {
  EXPECT_TRUE(host::stream::is_small(0, 1'000'000));
  EXPECT_TRUE(host::stream::is_small(1, host::stream::small_work));
  EXPECT_FALSE(host::stream::is_small(1, host::stream::small_work + 1));
  EXPECT_TRUE(host::stream::is_small(host::stream::small_work, 1));
  EXPECT_FALSE(host::stream::is_small(host::stream::small_work, 2));
  EXPECT_FALSE(host::stream::is_small(index_t{1} << 40, index_t{1} << 40)) << "does not wrap";
}

TEST(host, in_place_stream_runs_on_the_calling_thread_alone) {
  const host::stream stream(0, true);
  std::vector<std::thread::id> ids(100);

  stream.for_each("note_thread", 100, 1'000'000, 0, note_thread{ids.data()});

  EXPECT_TRUE(stream.in_place());
  for (const std::thread::id id : ids) EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(host, first_exception_of_a_kernel_reaches_the_caller_from_small_work) {
  const host::stream stream;
  std::atomic<index_t> ran{0};

  EXPECT_THROW(stream.for_each("throw_at", 10, 1, 0, throw_at{3, &ran}), std::domain_error);

  EXPECT_EQ(ran, 4);
}

TEST(host, exception_of_a_kernel_reaches_the_caller_from_all_threads) {
  const host::stream stream;
  std::atomic<index_t> ran{0};

  EXPECT_THROW(stream.for_each("throw_at", 10'000, 1000, 0, throw_at{777, &ran}),
               std::domain_error);

  EXPECT_GE(ran, 1);
  std::atomic<index_t> after{0};
  stream.for_each("throw_at", 10'000, 1000, 0, throw_at{-1, &after});
  EXPECT_EQ(after, 10'000) << "the stream works on";
}

TEST(host, scratch_memory_belongs_to_one_item_at_a_time) {
  const host::stream stream;
  for (const index_t floats : {1, 1000, 100}) {  // grows, and is kept
    std::atomic<int> wrong{0};
    stream.for_each("use_scratch", 2000, 1000, static_cast<std::size_t>(floats) * sizeof(float),
                    use_scratch{floats, &wrong});
    EXPECT_EQ(wrong, 0) << floats;
  }
}

TEST(host, scratch_memory_that_no_machine_has_is_refused) {
  const host::stream stream;
  std::atomic<int> wrong{0};

  EXPECT_THROW(stream.for_each("use_scratch", 1, 1, std::size_t{1} << 60, use_scratch{1, &wrong}),
               topos::out_of_memory);

  stream.for_each("use_scratch", 1, 1, sizeof(float), use_scratch{1, &wrong});
  EXPECT_EQ(wrong, 0) << "and the next launch has some";
}

}  // namespace host_test
