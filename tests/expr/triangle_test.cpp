// SPDX-License-Identifier: Apache-2.0

/// The triangles of matrices, against their definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/triangle.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/placement.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"

namespace triangle_test {

using topos::index_t;

// The numbers 1, 2, ... in a stack of two matrices, but 0 where `keeps` is false of how far right
// of the diagonal they are.
template <class Keeps>
std::vector<float> kept(index_t rows, index_t columns, Keeps keeps) {
  std::vector<float> result;
  for (index_t i = 0; i != 2 * rows; ++i) {
    for (index_t j = 0; j != columns; ++j) {
      const auto number = static_cast<float>(result.size() % 100 + 1);
      result.push_back(keeps(j - i % rows) ? number : 0);
    }
  }
  return result;
}

template <class T>
std::vector<float> as_floats(const topos::tensor<T, 3>& x) {
  if constexpr (topos::detail::is_complex<T>)
    return support::values_of(topos::eval(real(x)));
  else
    return support::values_of(topos::eval(topos::astype<float>(x)));
}

template <class T>
void expect_triangles(topos::device d, index_t rows, index_t columns) {
  const auto all = kept(rows, columns, [](index_t) { return true; });
  const topos::tensor<T, 3> x = topos::astype<T>(support::tensor_on<3>(d, {2, rows, columns}, all));
  constexpr index_t most = std::numeric_limits<index_t>::max();
  constexpr index_t least = std::numeric_limits<index_t>::min();
  for (const index_t k : {index_t{0}, index_t{1}, index_t{-1}, index_t{17}, index_t{-30}, -rows,
                          columns, columns - 1, most, least}) {
    SCOPED_TRACE(k);
    const auto one = [](float v) { return std::is_same_v<T, bool> ? float(v != 0) : v; };
    std::vector<float> lower = kept(rows, columns, [&](index_t right) { return right <= k; });
    std::vector<float> upper = kept(rows, columns, [&](index_t right) { return right >= k; });
    std::ranges::transform(lower, lower.begin(), one);
    std::ranges::transform(upper, upper.begin(), one);
    EXPECT_EQ(as_floats<T>(tril(x, k)), lower);
    EXPECT_EQ(as_floats<T>(triu(x, k)), upper);
  }
}

TEST(triangle, of_floats_is_what_its_diagonal_says) {
  support::on_each_device([](topos::device d) {
    expect_triangles<float>(d, 40, 71);
    expect_triangles<double>(d, 71, 40);
  });
}

TEST(triangle, of_small_matrices_is_what_its_diagonal_says) {
  support::on_each_device([](topos::device d) {
    expect_triangles<float>(d, 3, 5);
    expect_triangles<float>(d, 1, 1);
    expect_triangles<int>(d, 8, 8);
  });
}

TEST(triangle, of_narrow_types_is_what_its_diagonal_says) {
  support::on_each_device([](topos::device d) {
    expect_triangles<std::uint8_t>(d, 70, 130);
    expect_triangles<bool>(d, 9, 40);
    expect_triangles<topos::f16>(d, 33, 33);
    expect_triangles<Kokkos::complex<float>>(d, 20, 19);
  });
}

TEST(triangle, of_a_transposed_expression_is_fused) {
  support::on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(support::values_of(topos::eval(triu(transpose(x) * 2))),
              (std::vector<float>{2, 8, 0, 10, 0, 0}));
    EXPECT_EQ(support::values_of(topos::eval(transpose(tril(x)))),
              (std::vector<float>{1, 4, 0, 5, 0, 0}));
  });
}

}  // namespace triangle_test
