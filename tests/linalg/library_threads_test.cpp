// SPDX-License-Identifier: Apache-2.0

/// Products where OpenMP may run fewer threads than it names, which libraries do not expect.

#include <gtest/gtest.h>

#include <algorithm>
#include <topos/backend/host.hpp>
#include <topos/linalg/matmul.hpp>
#include <topos/linalg/prepared_matrix.hpp>
#include <topos/tensor/enqueue.hpp>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../support/devices.hpp"

namespace library_threads_test {

#ifdef _OPENMP

using topos::index_t;
using topos::backend::host;

// For the thread that works off the CPU's queue.
void let_openmp_choose(bool so) {
  topos::tensor<float, 1> none = topos::zeros<float>({1}, topos::cpu());
  topos::enqueue(topos::cpu(), topos::reads(), topos::writes(none),
                 [so](const host::execution_space& /*space*/, const auto& /*view*/) {
                   omp_set_dynamic(so ? 1 : 0);
                 });
}

struct choosing {
  choosing() { let_openmp_choose(true); }
  ~choosing() { let_openmp_choose(false); }
};

std::vector<float> numbers(index_t count, int step) {
  std::vector<float> made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<float>(static_cast<int>(i) * step % 17 - 8);
  return made;
}

TEST(library_threads, products_are_whole_where_openmp_chooses_its_threads) {
  const choosing scope;
  constexpr index_t m = 300;
  constexpr index_t n = 128;
  constexpr index_t k = 64;
  const std::vector<float> a = numbers(m * k, 5);
  const std::vector<float> b = numbers(n * k, 7);  // (n, k)
  std::vector<float> expected(static_cast<std::size_t>(m * n));
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      for (index_t l = 0; l < k; ++l) {
        expected[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(j * k + l)];
      }
    }
  }
  const auto x = support::tensor_on<2>(topos::cpu(), {m, k}, a);
  const auto w = support::tensor_on<2>(topos::cpu(), {n, k}, b);

  const topos::tensor<float, 2> plain = topos::matmul(x, topos::transpose(w));
  const topos::tensor<float, 2> prepared = topos::prepared_matrix(w).multiply(x);

  EXPECT_EQ(support::values_of(plain), expected);
  EXPECT_EQ(support::values_of(prepared), expected);
}

TEST(library_threads, settings_are_the_callers_again_afterwards) {
  const int dynamic = omp_get_dynamic();
  const int threads = omp_get_max_threads();
  omp_set_dynamic(1);
  omp_set_num_threads(3);
  {
    const host::stream all(0);
    const host::thread_limit limit(all);
    EXPECT_TRUE(omp_get_dynamic() == 0 || omp_get_max_threads() == 1);
    EXPECT_EQ(omp_get_max_threads(), std::min(3, omp_get_thread_limit()));
  }
  EXPECT_NE(omp_get_dynamic(), 0);
  EXPECT_EQ(omp_get_max_threads(), 3);
  {
    const host::stream own(0, true);
    const host::thread_limit limit(own);
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(threads);
  omp_set_dynamic(dynamic);
}

#else

TEST(library_threads, openmp_is_absent) { GTEST_SKIP() << "this build has no OpenMP"; }

#endif

}  // namespace library_threads_test
