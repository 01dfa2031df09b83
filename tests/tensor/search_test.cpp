// SPDX-License-Identifier: Apache-2.0

/// Places among sorted elements, against the standard library's and NumPy's.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <topos/expr/operators.hpp>
#include <topos/tensor/search.hpp>
#include <topos/tensor/sort.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace search_test {

using support::on_each_device;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::side;
using topos::tensor;
using places = std::vector<std::int64_t>;

template <class T>
class searchsorted_of : public testing::Test {};
using types = support::types<std::int8_t, std::int64_t, std::uint8_t, std::uint64_t, topos::f16,
                             topos::bf16, float, double>;
TYPED_TEST_SUITE(searchsorted_of, types);

TYPED_TEST(searchsorted_of, is_the_standard_librarys_bound) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    const auto some = [](index_t n) {
      std::vector<T> all;
      for (const float v : support::varied(n))
        all.push_back(static_cast<T>(std::round((v + 2) * 20)));
      return all;
    };
    const std::vector<T> wanted = some(1030);  // which is not a whole number of those side by side
    for (const index_t n : {0, 1, 2, 3, 7, 64, 1000}) {
      std::vector<T> elements = some(n);
      std::sort(elements.begin(), elements.end());
      places first;
      places past;
      for (const T value : wanted) {
        first.push_back(std::lower_bound(elements.begin(), elements.end(), value) -
                        elements.begin());
        past.push_back(std::upper_bound(elements.begin(), elements.end(), value) -
                       elements.begin());
      }
      const tensor<T, 1> sorted = vector_on<T>(d, elements);
      const tensor<T, 1> values = vector_on<T>(d, wanted);
      EXPECT_EQ(values_of(searchsorted(sorted, values)), first) << n;
      EXPECT_EQ(values_of(searchsorted(sorted, values, side::right)), past) << n;
    }
  });
}

TEST(searchsorted, has_nan_after_all_numbers_as_numpy_does) {
  on_each_device([](topos::device d) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    const auto sorted = vector_on<float>(d, {-inf, -1, -0.0F, 0, 2, inf, nan, nan});
    const auto values = vector_on<float>(d, {nan, inf, 0, -0.0F, -inf, 3});
    EXPECT_EQ(values_of(searchsorted(sorted, values)), (places{6, 5, 2, 2, 0, 5}));
    EXPECT_EQ(values_of(searchsorted(sorted, values, side::right)), (places{8, 6, 4, 4, 1, 5}));
  });
}

TEST(searchsorted, takes_numbers_expressions_and_other_types) {
  on_each_device([](topos::device d) {
    const auto bounds = vector_on<std::int32_t>(d, {0, 10, 20, 30});
    EXPECT_EQ(searchsorted(bounds, 10).item(), 1);
    EXPECT_EQ(searchsorted(bounds, 10, side::right).item(), 2);
    EXPECT_EQ(searchsorted(bounds, 10.5).item(), 2);
    const tensor<std::int32_t, 2> x = tensor_on<2, std::int32_t>(d, {2, 3}, {1, 2, 3, 4, 5, 6});
    const tensor<std::int64_t, 2> at = searchsorted(bounds + 1, x * 5.5F);
    EXPECT_EQ(at.shape(), x.shape());
    EXPECT_EQ(values_of(at), (places{1, 1, 2, 3, 3, 4}));
  });
}

TEST(searchsorted, refuses_values_on_another_device) {
  on_each_device([](topos::device d) {
    if (d == topos::cpu()) return;
    const auto sorted = vector_on<float>(d, {1, 2});
    const auto values = vector_on<float>(topos::cpu(), {1, 2});
    const std::string message =
        support::refusal<topos::device_mismatch>([&] { (void)searchsorted(sorted, values); });
    EXPECT_PRED2(support::contains, message, "searchsorted: the elements (2,)");
  });
}

}  // namespace search_test
