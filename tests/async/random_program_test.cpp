// SPDX-License-Identifier: Apache-2.0

/// Whatever queues, devices and threads a program uses, its tensors hold what they would hold if
/// each operation was done before the next began. TOPOS_TEST_PROGRAM_STEPS sets the length.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <source_location>
#include <stdexcept>
#include <thread>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue_scope.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace random_program_test {

using topos::index_t;
using topos::queue;
using topos::range;
using number = std::uint32_t;
using vector = topos::tensor<number, 1>;

int steps() {
  const char* const told = std::getenv("TOPOS_TEST_PROGRAM_STEPS");
  return told == nullptr ? 250 : std::atoi(told);
}
unsigned first_seed() {
  const char* const told = std::getenv("TOPOS_TEST_PROGRAM_SEED");
  return told == nullptr ? 1 : static_cast<unsigned>(std::atoi(told));
}

// On an instance of the user's, a GPU's if asked for and there.
template <class Cuda = topos::backend::cuda>
queue adopted(bool on_gpu) {
  if constexpr (topos::backend::compiled_in<Cuda>) {
    if (on_gpu) return queue::adopt(typename Cuda::execution_space());
  }
  return queue::adopt(topos::backend::host::execution_space());
}

// Copies late, so that what is enqueued after it comes before it unless it waits.
struct late_copy {
  number* to;
  const number* from;
  index_t size;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& /*team*/, index_t i) const {
    KOKKOS_IF_ON_HOST((for (int n = 0; n < 50; ++n) std::this_thread::yield();))
    if (i == 0) {
      for (index_t k = 0; k < size; ++k) to[k] = from[k];
    }
  }
};

// For the CPU alone.
struct add {
  template <class Read, class Written>
  void operator()(const topos::backend::host::execution_space& /*space*/, const Read& from,
                  const Written& to) const {
    for (std::size_t i = 0; i < to.extent(0); ++i) to(i) += from(i);
  }
};

// A tensor, and what it is to hold.
struct variable {
  vector x;
  std::vector<number> expected;
  bool failed = false;
};

// Where threads find each other's variables.
class exchange {
 public:
  variable swap(const variable& mine) {
    const std::lock_guard lock(mutex_);
    return std::exchange(kept_, std::optional(mine)).value_or(mine);
  }

 private:
  std::mutex mutex_;
  std::optional<variable> kept_;
};

class program {
 public:
  program(unsigned seed, index_t size, exchange& others)
      : random_(seed), size_(size), others_(others), devices_{topos::cpu()} {
    for (int g = 0; g < topos::num_gpus() && g < 2; ++g) devices_.push_back(topos::gpu(g));
    for (int i = 0; i < 6; ++i) variables_.push_back(fresh());
    queues_.resize(4);
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      last_ = static_cast<int>(below(operations));
      step_in_some_queue();
    }
    for (const variable& v : variables_) check(v);
  }

 private:
  static constexpr unsigned operations = 18;

  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  topos::device some_device() { return devices_[below(static_cast<unsigned>(devices_.size()))]; }
  variable& some() { return variables_[below(static_cast<unsigned>(variables_.size()))]; }

  variable fresh() {
    std::vector<number> values(static_cast<std::size_t>(size_));
    for (number& v : values) v = static_cast<number>(random_());
    return {support::vector_on(some_device(), values), values};
  }

  // A copy of some variable on a device.
  variable some_on(topos::device d) {
    const variable& v = some();
    return {topos::device_put(v.x, d), v.expected, v.failed};
  }

  void step_in_some_queue() {
    auto& q = queues_[below(4)];
    if (below(8) == 0) q.reset();
    if (!q) {
      const topos::device d = some_device();
      q = below(3) == 0 ? adopted(below(2) == 0) : queue(d);
    }
    std::optional<topos::queue_scope> scope;
    std::optional<topos::in_place_scope> here;
    if (below(2) == 0) scope.emplace(*q);
    if (below(5) == 0) here.emplace();
    step();
  }

  void step() {
    variable& v = some();
    const number k = static_cast<number>(random_());
    const index_t half = size_ / 2;
    switch (last_) {
      case 0:
      case 1:
      case 2:
        v.x += k;
        for (number& e : v.expected) e += k;
        return;
      case 3: {
        const variable by = some_on(v.x.device());
        v.x *= by.x;
        for (std::size_t i = 0; i < v.expected.size(); ++i) v.expected[i] *= by.expected[i];
        v.failed |= by.failed;
        return;
      }
      case 4: {
        const variable by = some_on(v.x.device());
        const variable from = some_on(v.x.device());
        v.x = by.x - from.x * k;
        for (std::size_t i = 0; i < v.expected.size(); ++i)
          v.expected[i] = by.expected[i] - from.expected[i] * k;
        v.failed = by.failed || from.failed;
        return;
      }
      case 5:
        v.x.slice(range{1, half}) = k;
        std::fill(v.expected.begin() + 1, v.expected.begin() + half, k);
        return;
      case 6:
        v.x.slice(range{half, 2 * half}) = v.x.slice(range{0, half});
        std::copy_n(v.expected.begin(), half, v.expected.begin() + half);
        return;
      case 7: {
        const variable from = some_on(v.x.device());
        v.x.slice(range{0, half}) += from.x.slice(range{half, 2 * half});
        for (index_t i = 0; i < half; ++i)
          v.expected[static_cast<std::size_t>(i)] +=
              from.expected[static_cast<std::size_t>(i + half)];
        v.failed |= from.failed;
        return;
      }
      case 8:
      case 9:
        v.x = topos::device_put(v.x, some_device());
        return;
      case 10: {
        const variable by = some_on(v.x.device());
        variable& other = some();
        auto [sum, product] = topos::eval(v.x + by.x, by.x * k);
        for (std::size_t i = 0; i < v.expected.size(); ++i) {
          v.expected[i] += by.expected[i];
          const number p = by.expected[i] * k;
          if (&other != &v) other.expected[i] = p;
        }
        v.x = sum;
        v.failed |= by.failed;
        if (&other != &v) {
          other.x = product;
          other.failed = by.failed;
        }
        return;
      }
      case 11: {
        const variable by = some_on(v.x.device());
        if (v.x.device() == topos::cpu()) {
          topos::enqueue(topos::cpu(), topos::reads(by.x), topos::writes(v.x), add{});
          for (std::size_t i = 0; i < v.expected.size(); ++i) v.expected[i] += by.expected[i];
          v.failed |= by.failed;
        }
        return;
      }
      case 12:
      case 13:
        v = variable(some());
        return;
      case 14:
      case 15: {
        variable& other = some();
        vector y(v.x.shape(), v.x.device());
        queue_of(v.x.device())
            .submit({v.x.memory()}, {y.memory()}, topos::detail::always_queued,
                    [copy = late_copy{y.data(), v.x.data(), size_}](const auto& stream) {
                      stream.for_each("late copy", 1, 1, 0, copy);
                    });
        if (below(2) == 0) {
          other.x = y;
          other.expected = v.expected;
          other.failed = v.failed;
        } else {
          const variable copied{y, v.expected, v.failed};
          late_.push_back(copied);
          if (late_.size() > 8) {
            check(late_.front());
            late_.erase(late_.begin());
          }
        }
        return;
      }
      case 16:
        if (below(4) == 0) {
          v.x.make_unique();
          queue_of(v.x.device())
              .submit({}, {v.x.memory()}, topos::detail::always_queued,
                      [](const auto&) { throw std::domain_error("as wanted"); });
          v.failed = true;
        } else if (below(2) == 0) {
          v = fresh();
        } else {
          v = others_.swap(v);
        }
        return;
      default:
        check(v);
        return;
    }
  }

  static topos::detail::work_queue& queue_of(topos::device d) {
    return topos::detail::queue_of(d, std::source_location::current());
  }

  void check(const variable& v) {
    if (v.failed) {
      EXPECT_THROW(v.x.block_until_ready(), std::domain_error);
    } else {
      const std::vector<number> found = support::values_of(v.x);
      EXPECT_TRUE(found == v.expected) << "a tensor on " << topos::to_string(v.x.device());
    }
  }

  std::mt19937_64 random_;
  index_t size_;
  exchange& others_;
  std::vector<topos::device> devices_;
  std::vector<variable> variables_;
  std::vector<variable> late_;
  std::vector<std::optional<queue>> queues_;
  int last_ = 0;
};

TEST(random_program, computes_what_it_would_in_its_own_order) {
  for (unsigned seed = first_seed(); seed < first_seed() + 4; ++seed) {
    for (const index_t size : {50, 1000, 40'000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", size " << size);
      exchange none;
      program(seed, size, none).run(steps() / (size > 1000 ? 4 : 1));
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(random_program, of_several_threads_computes_what_it_would_in_its_own_order) {
  for (const index_t size : {50, 40'000}) {
    exchange between;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
      threads.emplace_back([&between, size, t] {
        program(first_seed() * 100 + t, size, between).run(steps() / (size > 1000 ? 4 : 1));
      });
    }
    for (std::thread& t : threads) t.join();
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace random_program_test
