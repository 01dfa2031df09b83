// SPDX-License-Identifier: Apache-2.0

/// What a team does with a row, through a launch on every device.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <source_location>
#include <topos/kernels/rows.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace rows_test {

using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::tensor;

// Item i: the sum and the largest of n elements from element i on.
template <class T>
struct reduce_rows {
  const T* x;
  T* out;
  index_t n;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    const topos::detail::memory_row<T> row{{x + i}};
    out[2 * i] = topos::detail::row_sum(team, row, n);
    out[2 * i + 1] = topos::detail::row_largest(team, row, n);
  }
};

// Item 0 writes columns [first, last).
template <class T>
struct assign_part {
  const T* x;
  T* out;
  index_t first;
  index_t last;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t /*i*/) const {
    topos::detail::assign(team, out + first, topos::detail::memory_row<T>{{x}}, first, last);
  }
};

template <class Kernel, class T, std::size_t Rank>
void launch(const Kernel& kernel, index_t count, const tensor<T, 1>& x,
            const tensor<T, Rank>& out) {
  topos::detail::queue_of(x.device(), std::source_location::current())
      .submit({x.memory()}, {out.memory()}, topos::detail::always_queued,
              [=](const auto& stream) { stream.for_each("test", count, 1, 0, kernel); });
}

template <class T>
class rows : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(rows, types);

TYPED_TEST(rows, are_summed_and_searched_at_every_length) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 2, 7, 15, 16, 17, 31, 33, 48, 65, 1000}) {
      const std::vector<T> in = support::varied<T>(n + 1);
      const tensor<T, 1> x = support::vector_on(d, in);
      const tensor<T, 2> out({2, 2}, d);

      launch(reduce_rows<T>{x.data(), out.data(), n}, 2, x, out);

      const std::vector<T> got = values_of(out);
      for (int i = 0; i < 2; ++i) {
        double expected = 0;
        for (index_t j = 0; j < n; ++j) expected += static_cast<double>(in[i + j]);
        EXPECT_NEAR(got[2 * i], expected, 1e-6 * static_cast<double>(n)) << n;
        EXPECT_EQ(got[2 * i + 1], *std::max_element(in.begin() + i, in.begin() + i + n)) << n;
      }
    }
  });
}

TYPED_TEST(rows, largest_of_negative_numbers_is_negative) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 17, 40}) {
      std::vector<T> in(static_cast<std::size_t>(n), T(-5));
      in.back() = T(-3);
      const tensor<T, 1> x = support::vector_on(d, in);
      const tensor<T, 2> out({1, 2}, d);
      launch(reduce_rows<T>{x.data(), out.data(), n}, 1, x, out);
      EXPECT_EQ(values_of(out)[1], -3) << n;
    }
  });
}

TYPED_TEST(rows, sum_depends_on_values_and_length_alone) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t n : {17, 33, 1000}) {
      std::vector<T> in = support::varied<T>(n);
      in.insert(in.begin(), 3, T(9));  // the same row, elsewhere in memory
      const tensor<T, 1> shifted = support::vector_on(d, in);
      const tensor<T, 1> x = support::vector_on(d, support::varied<T>(n));
      const tensor<T, 2> a({1, 2}, d);
      const tensor<T, 2> b({4, 2}, d);

      launch(reduce_rows<T>{x.data(), a.data(), n}, 1, x, a);
      launch(reduce_rows<T>{shifted.data(), b.data(), n}, 4, shifted, b);

      EXPECT_EQ(values_of(a)[0], values_of(b)[6]) << n;
    }
  });
}

TYPED_TEST(rows, only_the_columns_asked_for_are_written) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const auto& [first, last] : std::vector<std::pair<index_t, index_t>>{
             {0, 0}, {0, 1}, {3, 3}, {3, 20}, {5, 38}, {16, 33}, {0, 40}}) {
      const tensor<T, 1> x = topos::ones<T, 1>({40}, d);
      const tensor<T, 1> out = topos::zeros<T, 1>({40}, d);

      launch(assign_part<T>{x.data(), out.data(), first, last}, 1, x, out);

      const std::vector<T> got = values_of(out);
      for (index_t j = 0; j < 40; ++j) {
        EXPECT_EQ(got[static_cast<std::size_t>(j)], j >= first && j < last ? T(1) : T(0)) << j;
      }
    }
  });
}

}  // namespace rows_test
