// SPDX-License-Identifier: Apache-2.0

/// Stacks of matrices of a few elements, of whole numbers, whose products are exact.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/views.hpp>
#include <topos/linalg/matmul.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace small_products_test {

using support::on_each_device;
using support::tensor_on;
using support::values_of;
using topos::index_t;
using topos::matmul;
using topos::tensor;

template <class T>
class small_products : public testing::Test {};
using types = support::types<float, double, std::int32_t, Kokkos::complex<float>>;
TYPED_TEST_SUITE(small_products, types);

template <class T>
[[nodiscard]] std::vector<T> numbers(index_t count, int seed) {
  std::vector<T> result;
  for (index_t i = 0; i < count; ++i)
    result.push_back(static_cast<T>(static_cast<float>((i * i * 7 + i * seed) % 19 - 9)));
  return result;
}

// Of matrices (m, k) and (k, n), each pair at its place.
template <class T>
[[nodiscard]] std::vector<T> products(const std::vector<T>& a, const std::vector<T>& b, index_t m,
                                      index_t k, index_t n) {
  std::vector<T> result;
  const auto count = static_cast<index_t>(a.size()) / (m * k);
  for (index_t p = 0; p < count; ++p) {
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) {
        T total{};
        for (index_t q = 0; q < k; ++q) {
          total += a[static_cast<std::size_t>((p * m + i) * k + q)] *
                   b[static_cast<std::size_t>((p * k + q) * n + j)];
        }
        result.push_back(total);
      }
    }
  }
  return result;
}

TYPED_TEST(small_products, are_those_of_each_pair) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t count : {1, 2, 300}) {
      for (const index_t m : {1, 2, 4, 9}) {
        for (const index_t k : {1, 3, 5}) {
          for (const index_t n : {1, 2, 3, 4, 5}) {
            const auto left = numbers<T>(count * m * k, 3);
            const auto right = numbers<T>(count * k * n, 5);
            const tensor<T, 3> a = tensor_on<3>(d, {count, m, k}, left);
            const tensor<T, 3> b = tensor_on<3>(d, {count, k, n}, right);
            EXPECT_EQ(values_of(matmul(a, b)), products(left, right, m, k, n))
                << count << " times (" << m << ", " << k << ") by (" << k << ", " << n << ")";
          }
        }
      }
    }
  });
}

TYPED_TEST(small_products, of_stacks_that_broadcast_and_of_matrices_that_are_turned) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    constexpr index_t m = 3, k = 2, n = 4, down = 5, across = 70;
    const tensor<T, 4> a = tensor_on<4>(d, {down, 1, m, k}, numbers<T>(down * m * k, 3));
    const tensor<T, 4> b = tensor_on<4>(d, {1, across, n, k}, numbers<T>(across * n * k, 5));
    const auto turned = topos::swapaxes(b, 2, 3);
    const tensor<T, 4> all_a = topos::broadcast_to(a, {down, across, m, k});
    const tensor<T, 4> all_b = topos::broadcast_to(turned, {down, across, k, n});
    EXPECT_EQ(values_of(matmul(a, turned)), products(values_of(all_a), values_of(all_b), m, k, n));
  });
}

}  // namespace small_products_test
