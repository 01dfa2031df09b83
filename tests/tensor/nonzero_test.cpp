// SPDX-License-Identifier: Apache-2.0

/// Elements by a mask, and different ones; values as NumPy's.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/nonzero.hpp>
#include <topos/tensor/unique.hpp>
#include <vector>

#include "../support/counted.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace nonzero_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::tensor;
using numbers = std::vector<std::int64_t>;

TEST(flatnonzero, gives_the_numbers_of_what_is_not_zero) {
  on_each_device([](topos::device d) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(values_of(flatnonzero(vector_on<float>(d, {0, 2, -0.0f, nan, -1}))),
              (numbers{1, 3, 4}));
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{3, 0, 0, 0, 5, 6});
    EXPECT_EQ(values_of(flatnonzero(x)), (numbers{0, 4, 5}));
    EXPECT_EQ(values_of(flatnonzero(transpose(x) > 4)), (numbers{3, 5}));
    EXPECT_EQ(flatnonzero(x > 9).size(), 0);
    EXPECT_EQ(flatnonzero(topos::zeros<bool, 2>({0, 3}, d)).size(), 0);
  });
}

TEST(nonzero, gives_indices_along_each_axis) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<3>(d, {2, 1, 3}, std::vector<int>{3, 0, 0, 0, 5, 6});
    const auto [i, j, k] = nonzero(x);
    EXPECT_EQ(values_of(i), (numbers{0, 1, 1}));
    EXPECT_EQ(values_of(j), (numbers{0, 0, 0}));
    EXPECT_EQ(values_of(k), (numbers{0, 1, 2}));
    EXPECT_EQ(values_of(nonzero(reshape(x, {-1}))[0]), (numbers{0, 4, 5}));
    EXPECT_EQ(nonzero(topos::zeros<int, 2>({0, 3}, d))[1].size(), 0);
  });
}

// Some true, all, none, and only the last of so many, of any number of pieces and blocks.
TEST(flatnonzero, of_any_size_gives_each) {
  on_each_device([](topos::device d) {
    for (const index_t size : {1, 63, 64, 65, 1000, 32768, 32769, 70000, 131072}) {
      for (const index_t period : {1, 3, 64, 129, 40000, 1000000}) {
        std::vector<std::uint8_t> truths(static_cast<std::size_t>(size));
        numbers expected;
        for (std::size_t i = 0; i < truths.size(); ++i) {
          truths[i] = (i + 1) % static_cast<std::size_t>(period) == 0 || i + 1 == truths.size();
          if (truths[i] != 0) expected.push_back(static_cast<std::int64_t>(i));
        }
        EXPECT_EQ(values_of(flatnonzero(vector_on(d, truths))), expected) << size << ' ' << period;
      }
    }
  });
}

template <class T>
class extract_of : public testing::Test {};
using types = support::types<std::int8_t, topos::f16, float, double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(extract_of, types);

TYPED_TEST(extract_of, gives_elements_in_their_order) {
  using T = TypeParam;
  on_each_device([](topos::device d) {
    for (const index_t size : {3, 200, 70001}) {
      std::vector<T> all, expected;
      for (index_t i = 0; i < size; ++i) {
        all.push_back(T(static_cast<float>(i * i % 101)));
        if (i % 3 == 1) expected.push_back(all.back());
      }
      const tensor<bool, 1> mask = topos::arange<index_t>(0, size, 1, d) % 3 == 1;
      EXPECT_TRUE(same_bits(values_of(extract(mask, vector_on(d, all))), expected)) << size;
    }
  });
}

TEST(extract, takes_expressions_and_any_layout) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{3, 0, 1, 4, 5, 6});
    EXPECT_EQ(values_of(extract(x > 2, 2 * x)), (std::vector<int>{6, 8, 10, 12}));
    EXPECT_EQ(values_of(extract(transpose(x) > 2, transpose(x))), (std::vector<int>{3, 4, 5, 6}));
    EXPECT_EQ(values_of(extract(x % 2, x)), (std::vector<int>{3, 1, 5})) << "not 0 is true";
    EXPECT_EQ(values_of(extract(x > 2, x > 4)), (std::vector<bool>{false, false, true, true}));
  });
}

TEST(compress, takes_slices_along_an_axis) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{3, 0, 1, 4, 5, 6});
    const auto rows = compress(vector_on<int>(d, {0, 7}), x, 0);
    EXPECT_EQ(rows.shape(), (topos::shape<2>{1, 3}));
    EXPECT_EQ(values_of(rows), (std::vector<int>{4, 5, 6}));
    EXPECT_EQ(values_of(compress(sum(x, 0) > 5, x, -1)), (std::vector<int>{3, 1, 4, 6}));
    EXPECT_EQ(compress(sum(x, 0) > 50, x, 1).shape(), (topos::shape<2>{2, 0}));
  });
}

TEST(extract, refuses_what_does_not_fit) {
  const auto x = topos::zeros<float, 2>({2, 3});
  std::string message = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(extract(topos::zeros<bool, 2>({3, 2}), x));
  });
  EXPECT_TRUE(contains(message, "extract") && contains(message, "(3, 2)")) << message;
  message = refusal<topos::shape_mismatch>(
      [&] { static_cast<void>(compress(topos::zeros<bool, 1>({2}), x, 1)); });
  EXPECT_TRUE(contains(message, "compress") && contains(message, "(3,)")) << message;
  EXPECT_THROW(static_cast<void>(compress(topos::zeros<bool, 1>({2}), x, 2)), topos::out_of_range);
}

TEST(masks, compute_reductions_once) {
  const auto x = topos::ones<float, 2>({20, 30}, topos::cpu());
  const auto largest = max(map(support::counted_square{}, x), 1);
  const auto expect_once = [](const auto& use) {
    support::calls = 0;
    use().block_until_ready();
    EXPECT_EQ(support::calls, 600);
  };
  const auto column = topos::ones<float, 1>({20}, topos::cpu());
  expect_once([&] { return extract(largest, column); });
  expect_once([&] { return extract(column, largest); });
  expect_once([&] { return compress(largest, x, 0); });
  expect_once([&] { return compress(column, largest, 0); });
  expect_once([&] { return nonzero(largest)[0]; });
}

struct refusing {
  bool operator()(float /*x*/) const { throw std::runtime_error("no answer"); }
};

TEST(flatnonzero, rethrows_what_its_mask_failed_with) {
  const auto x = topos::zeros<float, 1>({100}, topos::cpu());
  EXPECT_THROW(static_cast<void>(flatnonzero(map(refusing{}, x))), std::exception);
}

TEST(unique, gives_each_once) {
  on_each_device([](topos::device d) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto x = tensor_on<2>(d, {2, 4}, std::vector<float>{3, nan, -1, 3, nan, 3, 2, -1});
    const auto [values, counts] = unique_counts(x);
    EXPECT_EQ(values_of(eval(where(isnan(values), 99, values))),
              (std::vector<float>{-1, 2, 3, 99}));
    EXPECT_TRUE(same_bits(values_of(unique(x)), values_of(values)));
    EXPECT_EQ(values_of(counts), (numbers{2, 1, 3, 2}));
    EXPECT_EQ(values_of(unique(topos::arange<int>(0, 9, 1, d) % 4)),
              (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(unique(topos::zeros<int, 1>({0}, d)).size(), 0);
    EXPECT_EQ(unique_counts(topos::zeros<int, 1>({0}, d)).second.size(), 0);
    EXPECT_EQ(values_of(unique_counts(topos::zeros<int, 1>({1}, d)).second), numbers{1});
  });
}

}  // namespace nonzero_test
