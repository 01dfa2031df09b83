// SPDX-License-Identifier: Apache-2.0

/// A map fills exactly its part of the buffer, in chunks, once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <topos/expr/generators.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/expr/slice.hpp>
#include <topos/expr/views.hpp>
#include <topos/kernels/map.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace map_test {

using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::tensor;
using topos::detail::layout;

TEST(map, writes_from_its_offset_on_and_no_further) {
  on_each_device([](topos::device d) {
    for (const index_t n : support::sizes()) {
      const std::vector<float> in = support::varied(n);
      const tensor<float, 1> x = support::vector_on(d, in);
      const tensor<float, 1> out = topos::full<float, 1>({n + 8}, 99, d);

      topos::detail::map(x + x, out.memory(), layout<1>::dense({n}, 3),
                         std::source_location::current());

      std::vector<float> expected(static_cast<std::size_t>(n) + 8, 99);
      for (std::size_t i = 0; i < in.size(); ++i) expected[i + 3] = in[i] + in[i];
      EXPECT_EQ(values_of(out), expected) << n;
    }
  });
}

TEST(map, rows_longer_than_a_chunk_are_whole) {
  on_each_device([](topos::device d) {
    for (const index_t columns : {4095, 4096, 4097, 8193}) {
      const std::vector<double> in = support::varied<double>(3 * columns);
      const std::vector<double> row = support::varied<double>(columns, 2);
      const tensor<double, 2> y =
          support::tensor_on<2>(d, {3, columns}, in) - support::vector_on(d, row);
      std::vector<double> expected = in;
      for (std::size_t i = 0; i < in.size(); ++i) expected[i] -= row[i % row.size()];
      EXPECT_EQ(values_of(y), expected) << columns;
    }
  });
}

TEST(map, of_many_short_rows_is_whole) {
  on_each_device([](topos::device d) {
    const std::vector<float> in = support::varied(20'000 * 3);
    const std::vector<float> column = support::varied(20'000, 2);
    const tensor<float, 2> y =
        support::tensor_on<2>(d, {20'000, 3}, in) * support::tensor_on<2>(d, {20'000, 1}, column);
    std::vector<float> expected = in;
    for (std::size_t i = 0; i < in.size(); ++i) expected[i] *= column[i / 3];
    EXPECT_EQ(values_of(y), expected);
  });
}

// Images' channels become planes: what lies side by side is of several rows then.
template <class T>
void expect_planes(const topos::device& d, index_t channels, index_t pixels) {
  constexpr index_t images = 3;
  const std::vector<T> in = support::varied<T>(images * pixels * channels);
  const std::vector<T> least = support::varied<T>(channels, 2);
  const tensor<T, 3> x = support::tensor_on<3>(d, {images, pixels, channels}, in);
  const tensor<T, 3> y =
      topos::permute(topos::maximum(x, support::vector_on(d, least)) * T(2), {0, 2, 1});
  std::vector<T> expected;
  for (index_t row = 0; row < images * channels; ++row) {
    const auto c = static_cast<std::size_t>(row % channels);
    auto at = static_cast<std::size_t>(row / channels * pixels * channels) + c;
    for (index_t i = 0; i < pixels; ++i, at += static_cast<std::size_t>(channels))
      expected.push_back(static_cast<T>(std::max(in[at], least[c]) * T(2)));
  }
  EXPECT_EQ(values_of(y), expected) << channels << " channels of " << pixels;
}

TEST(map, of_channels_is_planes) {
  on_each_device([](topos::device d) {
    for (const index_t channels : {2, 3, 7, 16, 33, 70}) {
      for (const index_t pixels : {120, 700}) {
        expect_planes<std::uint8_t>(d, channels, pixels);
        expect_planes<float>(d, channels, pixels);
        if constexpr (!support::few_types) expect_planes<double>(d, channels, pixels);
      }
    }
  });
}

// Results that are so large go past the caches.
TEST(map, of_a_large_result_is_whole) {
  constexpr index_t n = static_cast<index_t>(topos::detail::bytes_past_caches / sizeof(double)) + 5;
  support::on_each_real_device([](topos::device d) {
    const tensor<double, 1> x = topos::arange<double>(0, n, 1, d);
    const tensor<double, 1> row = 2.0 * x;
    const tensor<double, 2> rows = topos::reshape(x, {1, n}) + topos::zeros<double, 2>({2, 1}, d);
    tensor<double, 1> doubled = x;
    doubled += x;  // into memory that it reads
    tensor<double, 1> shifted = topos::full<double, 1>({n + 3}, 7, d);
    shifted.slice(topos::range{1, n + 1}) = x + 1.0;
    // Whether an element is its number times `by`, plus `more`.
    const auto is = [](std::span<const double> elements, double by, double more) {
      double number = 0;
      return std::all_of(elements.begin(), elements.end(),
                         [&](double element) { return element == by * number++ + more; });
    };
    EXPECT_TRUE(is(row.cpu().host(), 2, 0));
    EXPECT_TRUE(is(rows.row(0).cpu().host(), 1, 0) && is(rows.row(1).cpu().host(), 1, 0));
    EXPECT_TRUE(is(doubled.cpu().host(), 2, 0));
    const tensor<double, 1> around = shifted.cpu();
    EXPECT_TRUE(is(around.host().subspan(1, n), 1, 1));
    EXPECT_EQ(around.item(0), 7);
    EXPECT_EQ(around.item(n + 1), 7);
    EXPECT_EQ(around.item(n + 2), 7);
  });
}

// Wherever it lies: what is before the first whole cache line and behind the last is not.
template <class T>
void expect_rows_past_caches() {
  const std::vector<T> x = support::varied<T>(300);
  const topos::detail::memory_row<T> row{{x.data()}};
  for (index_t offset = 0; offset < 20; ++offset) {
    for (index_t first = 0; first < 260; first += 37) {
      const index_t last = 300 - offset;
      std::vector<T> out(340, T(99));
      std::vector<T> expected = out;
      std::copy(x.begin() + first, x.begin() + last, expected.begin() + offset);

      topos::detail::host_rows::assign_dense_row(out.data() + offset, row, first, last, true);
      topos::detail::fence();

      ASSERT_EQ(out, expected) << offset << ' ' << first;
    }
  }
}

TEST(map, rows_past_the_caches_may_begin_anywhere) {
  expect_rows_past_caches<float>();
  expect_rows_past_caches<double>();
}

TEST(map, without_elements_writes_nothing) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> out = topos::full<float, 1>({8}, 99, d);
    const auto none = topos::zeros<float, 2>({0, 5}, d) + topos::ones<float, 1>({5}, d);

    topos::detail::map(none, out.memory(), layout<2>::dense({0, 5}),
                       std::source_location::current());

    EXPECT_EQ(values_of(out), std::vector<float>(8, 99));
  });
}

}  // namespace map_test
